/// Lives as long as a request waits for its answer; its end says that it does no more, however it came about.
package final class RequestTicket: Sendable {
  private let ended: @Sendable () -> Void

  /// - Parameter ended: called once, on any thread.
  package init(ended: @escaping @Sendable () -> Void) { self.ended = ended }

  deinit { ended() }
}
