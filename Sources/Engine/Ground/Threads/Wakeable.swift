/// Something that waits until it has work, and that any thread wakes.
package protocol Wakeable: AnyObject, Sendable {
  /// Any thread. Signals before the next look at the work are one.
  func signal()
}

extension WakeSignal: Wakeable {}
