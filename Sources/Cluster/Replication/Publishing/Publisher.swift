package import Broker
import ChangeCapture
package import Following
import Ground
package import Logging
import Synchronization

/// Follows a file and puts what changes in it into the log: a thread of its own, with a connection of its own.
///
/// A tick is one read transaction: the changed rows become a batch, which is appended after the transaction. While the
/// broker cannot take batches there are no ticks: the file keeps the changes, and the next tick finds all of them.
package final class Publisher: Sendable {
  package struct State: Sendable {
    package internal(set) var position: LogPosition?
    /// Its present work, or the obstacle to it.
    package internal(set) var description = "starting"
    package internal(set) var isPublishing = false
    package internal(set) var batches = 0
    package internal(set) var bytes = 0
    package internal(set) var cuts = 0
    package internal(set) var snapshots = 0
  }

  private struct Wishes {
    /// A new epoch; nil: the epoch continues.
    var epoch: String?
    var snapshot = false
  }

  let file: FollowedFile
  package let settings: ReplicationSettings
  let broker: BrokerConnection
  /// Nil: nothing is kept for the next start.
  private let kept: PublisherState?
  let logger: Logger
  /// Starts a new epoch, which comes back as a call of `beginEpoch`.
  let renewEpoch: @Sendable () -> Void
  let worker = Worker()
  private let wishes: Mutex<Wishes>
  private let shared = Mutex(State())
  let isSendingSnapshot = Atomic<Bool>(false)
  /// Sends a snapshot.
  let sending = JoinedThread()

  /// - Parameters:
  ///   - broker: the connection, which publishers of other files may share.
  ///   - epoch: the epoch that `hello` sends.
  ///   - kept: the state from the previous process, and for the next one; nil: none is kept.
  ///   - renewEpoch: called when a state cannot get a number of its own, so that a new epoch must begin.
  package init(
    _ file: FollowedFile, _ settings: ReplicationSettings, _ broker: BrokerConnection, epoch: String,
    kept: PublisherState? = nil, logger: Logger, renewEpoch: @escaping @Sendable () -> Void
  ) {
    self.renewEpoch = renewEpoch
    self.file = file
    self.settings = settings
    self.kept = kept
    self.logger = logger
    self.broker = broker
    wishes = Mutex(Wishes(epoch: epoch))
  }

  package func start() { worker.start { [self] in run() } }

  package func stop() {
    worker.stop()
    kept?.release()
    // The sending thread checks after every piece whether to stop.
    sending.join()
  }

  /// The longest message to another server, in bytes.
  package var longestMessage: Int { broker.longestMessage }

  var mustStop: Bool { worker.mustStop }

  var path: String { file.path }
  var numbers: CommitNumbers { file.numbers }

  /// The file was replaced: versions and commits begin anew. Any thread.
  package func beginEpoch(_ epoch: String) {
    wishes.withLock { $0.epoch = epoch }
    worker.wake.signal()
  }

  /// Called when a replica needs a snapshot. Any thread.
  package func wantSnapshot() {
    wishes.withLock { $0.snapshot = true }
    worker.wake.signal()
  }

  /// Any thread.
  package var state: State { shared.withLock { $0 } }

  func note(_ body: (inout State) -> Void) { shared.withLock { body(&$0) } }

  // MARK: - The thread

  private func run() {
    var log: PublishedLog?
    var position: LogPosition?
    var began: Int64 = 0
    while !mustStop {
      do {
        if let epoch = wishes.withLock({ wishes in wishes.epoch.take() }) {
          position = nil
          if let kept = kept?.take(epoch) {
            guard let continued = continuedLog(kept) else { continue }
            (log, began, position) = (continued, kept.memory.began, kept.memory.position)
            try publish(
              PublishedFile(self, continued, epoch: epoch, began: began, after: position, restoring: kept.state),
              &position)
            continue
          }
          began = wallClockMilliseconds()
          log = PublishedLog(broker, settings, logger: logger)
          note { $0.position = nil }
          try publish(PublishedFile(self, log!, epoch: epoch, began: began, after: nil), &position)
        } else if let known = position, let log {
          try publish(PublishedFile(self, log, epoch: known.epoch, began: began, after: known), &position)
        } else {
          worker.rest(milliseconds: 1_000)
        }
      } catch is PublishedLog.Superseded {
        logger.error(
          "another publisher has taken over the log: this one ends", metadata: ["broker": "\(settings.address)"])
        note { state in (state.description, state.isPublishing) = ("superseded by another publisher", false) }
        return
      } catch {
        noteFailure(error)
      }
    }
  }

  /// The log, if it still ends at the position of the previous process; nil after it has asked for a new epoch. Waits
  /// for the broker.
  private func continuedLog(_ kept: PublisherState.Kept) -> PublishedLog? {
    let log = PublishedLog(broker, settings, logger: logger)
    while !mustStop, wishes.withLock({ $0.epoch == nil }) {
      do throws(BrokerError) {
        if try log.ends(at: kept.memory.position) { return log }
        logger.notice(
          "the log is not where this server left it: another epoch begins", metadata: ["broker": "\(settings.address)"])
        renewEpoch()
        return nil
      } catch {
        note { state in (state.description, state.isPublishing) = ("waiting for the broker: \(error.message)", false) }
        worker.rest(milliseconds: 100)
      }
    }
    // Nothing was published, so the former state is still right.
    if mustStop { self.kept?.keep(kept) }
    return nil
  }

  private func noteFailure(_ error: any Error) {
    let sentence = "\(error)"
    if state.description != sentence {
      logger.error("the file cannot be published: \(sentence)", metadata: ["path": "\(path)"])
    }
    note { state in (state.description, state.isPublishing) = (sentence, false) }
    if wishes.withLock({ $0.epoch == nil }) { worker.rest(milliseconds: 1_000) }
  }

  /// Publishes until the epoch ends, or the file cannot be followed any more.
  private func publish(_ file: PublishedFile, _ position: inout LogPosition?) throws {
    defer { position = file.position }
    try file.begin()
    note { state in
      (state.description, state.isPublishing, state.position) = ("publishing", true, file.position)
    }
    while !mustStop {
      let (mustEnd, wantsSnapshot) = wishes.withLock { wishes in
        defer { wishes.snapshot = false }
        return (wishes.epoch != nil, wishes.snapshot)
      }
      if mustEnd { return }
      try file.step(wantsSnapshot: wantsSnapshot)
      note { $0.position = file.position }
    }
    if let last = file.finish() { kept?.keep(last) }
  }
}
