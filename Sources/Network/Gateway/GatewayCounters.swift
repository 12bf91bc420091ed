internal import CGateway

/// Counts of a gateway's refusals since its start, and of what is on its way.
package struct GatewayCounters: Hashable, Sendable {
  /// Connections whose address had too many.
  package let address: Int
  /// Requests whose client had sent too many.
  package let rate: Int
  /// Requests that did not come in time.
  package let late: Int
  /// Answers that there was no room for.
  package let memory: Int
  /// Connections whose clients read nothing of the data sent to them.
  package let stalled: Int
  /// Bytes of frames, answers and streams on their way out now. A frame that several wait for counts once.
  package let outgoing: Int
  /// WebSocket connections, and streams, that are open now.
  package let sessions: Int
  package let streams: Int

  /// - Parameter counters: of each service thread.
  init(_ counters: [gateway_counters], outgoing: Int) {
    let sum = { (counter: KeyPath<gateway_counters, UInt64>) in Int(counters.reduce(0) { $0 + $1[keyPath: counter] }) }
    address = sum(\.address)
    rate = sum(\.rate)
    late = sum(\.late)
    memory = sum(\.memory)
    stalled = sum(\.stalled)
    sessions = sum(\.sessions)
    streams = sum(\.streams)
    self.outgoing = outgoing
  }
}
