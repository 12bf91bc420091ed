/// Lives as long as a request waits for its answer. Its end reports that the request no longer waits, for whatever
/// reason.
package final class RequestTicket: Sendable {
  private let ended: @Sendable () -> Void

  /// - Parameter ended: called once, on any thread.
  package init(ended: @escaping @Sendable () -> Void) { self.ended = ended }

  deinit { ended() }
}
