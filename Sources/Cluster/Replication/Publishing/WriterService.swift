package import Broker
import Ground
import Synchronization

/// Answers replicas of the files that a server publishes, and announces the positions of the files' logs: one thread
/// for all of them.
package final class WriterService: Sendable {
  /// Runs a client's transaction, as `ForwardedTransaction` has it; the reply is called on any thread, once.
  package typealias Transact = @Sendable (_ request: [UInt8], _ reply: @escaping @Sendable ([UInt8]) -> Void) -> Void

  private struct Written {
    let publisher: Publisher
    let transact: Transact
  }

  private let broker: BrokerConnection
  private let subjects: LogSubjects
  /// Published files by the prefix of their subjects.
  private let written = Mutex<[String: Written]>([:])
  private let worker = Worker()

  /// How often the position is announced, and how long a request may wait at most, in milliseconds.
  private static let interval: Int64 = 250

  /// - Parameter subjects: the subjects of the file, or of each file of a folder.
  package init(_ broker: BrokerConnection, _ subjects: LogSubjects) {
    self.broker = broker
    self.subjects = subjects
  }

  /// Adds a file that is published from now on.
  package func add(_ publisher: Publisher, transact: @escaping Transact) {
    written.withLock { $0[publisher.settings.subjects.prefix] = Written(publisher: publisher, transact: transact) }
  }

  package func remove(_ publisher: Publisher) {
    written.withLock { _ = $0.removeValue(forKey: publisher.settings.subjects.prefix) }
  }

  package var publishers: [Publisher] { written.withLock { $0.values.map(\.publisher) } }

  package func start() {
    worker.start { [self] in
      while !worker.mustStop {
        do throws(BrokerError) { try serve(try broker.subscribe(to: subjects.allOfWriter)) } catch {
          worker.rest(milliseconds: 250)
        }
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
        for publisher in publishers { tellPosition(of: publisher) }
      }
    }
  }

  private func tellPosition(of publisher: Publisher) {
    let state = publisher.state
    guard state.isPublishing, let position = state.position else { return }
    broker.send(PositionNotice(position).bytes, to: publisher.settings.subjects.replicas(.position))
  }

  private func answer(_ message: BrokerMessage) {
    guard let (prefix, request) = LogSubjects.parts(of: message.subject) else { return }
    if request == .status, prefix == LogSubjects.ofAll(broker.address).prefix {
      for publisher in publishers { broker.answer(message, with: ServerStatus(of: publisher).bytes) }
    }
    guard let (publisher, transact) = written.withLock({ all in all[prefix].map { ($0.publisher, $0.transact) } })
    else { return }
    switch request {
    case .snapshot:
      if !publisher.isSendingSnapshot.load(ordering: .acquiring) { publisher.wantSnapshot() }
      broker.answer(message, with: [])
    case .status: broker.answer(message, with: ServerStatus(of: publisher).bytes)
    case .transact: transact(message.bytes) { [broker] in broker.answer(message, with: $0) }
    case .position: break
    }
  }
}
