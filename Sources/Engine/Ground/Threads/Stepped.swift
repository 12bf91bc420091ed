/// Work that `Workers` do in steps. Only one thread at a time calls methods of such an object, and each call sees what
/// the previous one has written.
package protocol Stepped: AnyObject {
  /// Does the work that is due, without waiting.
  func step() -> Rest

  /// Called before `step` when the deadline has passed and no signal has come. It must return within about a
  /// microsecond, because other items' steps and events wait for it.
  ///
  /// - Returns: how much longer to rest; nil if a step is due.
  func postpone() -> Nanoseconds?
}

extension Stepped {
  package func postpone() -> Nanoseconds? { nil }
}

/// When to take the next step.
package enum Rest: Sendable, Equatable {
  /// The next step is taken after this time, or sooner if the item is woken. `zero`: after the other items that are
  /// ready. `max`: only when the item is woken.
  case pause(Nanoseconds)
  /// There are no further steps.
  case ended
}
