package import Broker
import Ground
import Synchronization

/// Receives the positions of publishers, and reports those of a server's replicas: one thread for all of them.
package final class ReplicaService: Sendable {
  private let broker: BrokerConnection
  private let subjects: LogSubjects
  /// Replicas by the prefix of their subjects.
  private let known = Mutex<[String: Replica]>([:])
  private let worker = Worker()

  /// - Parameter subjects: the subjects of the file, or of each file of a folder.
  package init(_ broker: BrokerConnection, _ subjects: LogSubjects) {
    self.broker = broker
    self.subjects = subjects
  }

  package func add(_ replica: Replica) { known.withLock { $0[replica.settings.subjects.prefix] = replica } }

  package func remove(_ replica: Replica) {
    known.withLock { _ = $0.removeValue(forKey: replica.settings.subjects.prefix) }
  }

  package var replicas: [Replica] { known.withLock { Array($0.values) } }

  package func replica(_ subjects: LogSubjects) -> Replica? { known.withLock { $0[subjects.prefix] } }

  package func start() {
    worker.start { [self] in
      while !worker.mustStop {
        do throws(BrokerError) {
          let requests = try broker.subscribe(to: subjects.allOfReplicas)
          while !worker.mustStop { if let message = try requests.next(timeout: 200) { take(message) } }
        } catch { worker.rest(milliseconds: 250) }
      }
    }
  }

  package func stop() { worker.stop() }

  private func take(_ message: BrokerMessage) {
    guard let (prefix, request) = LogSubjects.parts(of: message.subject) else { return }
    if request == .status, prefix == LogSubjects.ofAll(broker.address).prefix {
      for replica in replicas { broker.answer(message, with: ServerStatus(of: replica).bytes) }
    }
    guard let replica = known.withLock({ $0[prefix] }) else { return }
    switch request {
    case .position: if let notice = PositionNotice(message.bytes) { replica.take(notice) }
    case .status: broker.answer(message, with: ServerStatus(of: replica).bytes)
    case .snapshot, .transact: break
    }
  }
}
