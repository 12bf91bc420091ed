/// Work that `Workers` do in steps. No two threads are in calls of one of these at a time, and each call sees what the
/// one before has written.
package protocol Stepped: AnyObject {
  /// Does the work that is due, without waiting.
  func step() -> Rest

  /// Called first when the deadline of the last rest has passed and nothing has woken it. In a microsecond: threads and
  /// events of others wait.
  ///
  /// - Returns: for how long to rest on; nil: a step is due.
  func postpone() -> Nanoseconds?
}

extension Stepped {
  package func postpone() -> Nanoseconds? { nil }
}

/// When to take the next step.
package enum Rest: Sendable, Equatable {
  /// The next step comes after this time, or when it is woken; `zero`: after the others that are ready; `max`: not
  /// before it is woken.
  case pause(Nanoseconds)
  /// There are no further steps.
  case ended
}
