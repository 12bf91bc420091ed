/// Something that waits until it has work, and that any thread wakes.
package protocol Wakeable: AnyObject, Sendable {
  /// Any thread may call this. Several signals count as one until the waiting object next checks for work.
  func signal()
}

extension WakeSignal: Wakeable {}
