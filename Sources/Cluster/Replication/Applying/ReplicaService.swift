import Broker
import Ground

/// Hears how far the publisher is, and says how far the replica is: a thread of its own.
package final class ReplicaService: Sendable {
  private let replica: Replica
  private let subjects: LogSubjects
  private let worker = Worker()

  package init(_ replica: Replica) {
    self.replica = replica
    subjects = LogSubjects(replica.settings.address)
  }

  package func start() {
    worker.start { [self] in
      while !worker.mustStop {
        do throws(BrokerError) {
          let requests = try replica.broker.subscribe(to: subjects.allOfReplicas)
          while !worker.mustStop { if let message = try requests.next(timeout: 200) { take(message) } }
        } catch { worker.rest(milliseconds: 250) }
      }
    }
  }

  package func stop() { worker.stop() }

  private func take(_ message: BrokerMessage) {
    switch message.subject {
    case subjects.replicas(.position):
      if let notice = PositionNotice(message.bytes) { replica.take(notice) }
    case subjects.replicas(.status):
      let state = replica.state
      var status = ServerStatus(.replica, database: replica.path, state: state.description, state.position)
      status.lag = state.lag
      replica.broker.answer(message, with: status.bytes)
    default: break
    }
  }
}
