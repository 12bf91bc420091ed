import Broker
import Ground
import Synchronization

/// Answers replicas, and announces how far the log is, on a thread of its own.
package final class WriterService: Sendable {
  /// Runs a client's transaction, as `ForwardedTransaction` has it; the reply is called on any thread, once.
  package typealias Transact = @Sendable (_ request: [UInt8], _ reply: @escaping @Sendable ([UInt8]) -> Void) -> Void

  private let publisher: Publisher
  private let transact: Transact
  private let subjects: LogSubjects
  private let worker = Worker()

  /// How often the position is announced, and how long a request may wait at most, in milliseconds.
  private static let interval: Int64 = 250

  package init(_ publisher: Publisher, transact: @escaping Transact) {
    self.publisher = publisher
    self.transact = transact
    subjects = LogSubjects(publisher.settings.address)
  }

  package func start() {
    worker.start { [self] in
      while !worker.mustStop {
        do throws(BrokerError) {
          let requests = try publisher.broker.subscribe(to: subjects.allOfWriter)
          try serve(requests)
        } catch { worker.rest(milliseconds: 250) }
      }
    }
  }

  package func stop() { worker.stop() }

  private func serve(_ requests: BrokerSubscription) throws(BrokerError) {
    var told: Int64 = 0
    while !worker.mustStop {
      if let message = try requests.next(timeout: Self.interval) { answer(message) }
      let now = wallClockMilliseconds()
      if now - told >= Self.interval || now < told {
        told = now
        tellPosition()
      }
    }
  }

  private func tellPosition() {
    let state = publisher.state
    guard state.isPublishing, let position = state.position else { return }
    publisher.broker.send(PositionNotice(position).bytes, to: subjects.replicas(.position))
  }

  private func answer(_ message: BrokerMessage) {
    let broker = publisher.broker
    switch message.subject {
    case subjects.writer(.snapshot):
      if !publisher.isSendingSnapshot.load(ordering: .acquiring) { publisher.wantSnapshot() }
      broker.answer(message, with: [])
    case subjects.writer(.status):
      let state = publisher.state
      let status = ServerStatus(.publisher, database: publisher.path, state: state.description, state.position)
      broker.answer(message, with: status.bytes)
    case subjects.writer(.transact):
      transact(message.bytes) { broker.answer(message, with: $0) }
    default: break
    }
  }
}
