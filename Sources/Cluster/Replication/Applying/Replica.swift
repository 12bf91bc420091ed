package import Broker
import Following
import Ground
package import Logging
import Store
import Synchronization

/// Makes a file from a log, and keeps it up to date: a thread of its own, with the only connection that writes to the
/// file.
///
/// The file is an ordinary one: the server follows it as it would any other.
package final class Replica: Sendable {
  package struct State: Sendable {
    package internal(set) var position: LogPosition?
    /// Its present work, or the obstacle to it.
    package internal(set) var description = "starting"
    package internal(set) var batches = 0
    /// Numbers of loaded snapshots, by the reason for loading.
    package internal(set) var loads: [String: Int] = [:]
    /// How often rows were compared with the publisher's, and how often they differed.
    package internal(set) var comparisons = 0
    package internal(set) var divergences = 0
    /// The time before which no rows are compared.
    var comparesFrom = Instant.distantPast
    /// The publisher's last notice.
    var notice: PositionNotice?
    /// When the replica last had everything that the publisher had announced, in milliseconds since 1970.
    var confirmed: Int64?
  }

  let path: String
  package let settings: ReplicationSettings
  package let broker: BrokerConnection
  let logger: Logger
  private let subjects: LogSubjects
  let worker = Worker()
  private let shared = Mutex(State())
  /// How long nothing is compared after a snapshot that replaced wrong rows. The time doubles after each further one,
  /// so that a lasting error does not keep the replica loading snapshots.
  private static let patience = Nanoseconds.milliseconds(60_000)

  /// - Parameter broker: the connection, which replicas of other files may share.
  /// - Throws: `ForeignFile` if the file was not made by a replica.
  package init(
    _ path: String, _ settings: ReplicationSettings, _ broker: BrokerConnection, logger: Logger
  ) throws(ForeignFile) {
    try ForeignFile.check(path)
    self.path = path
    self.settings = settings
    self.logger = logger
    subjects = settings.subjects
    self.broker = broker
  }

  /// - Parameter refused: called once, on the replica's thread, when another program has replaced the replica's file.
  ///   The replica has ended by then.
  package func start(refused: @escaping @Sendable (ForeignFile) -> Void) {
    worker.start { [self] in
      do throws(ForeignFile) { try run() } catch {
        note { $0.description = error.description }
        refused(error)
      }
    }
  }

  /// Has the thread end, without waiting for it.
  package func requestStop() { worker.requestStop() }

  package func stop() { worker.stop() }

  /// Any thread.
  package var state: State { shared.withLock { $0 } }

  func note(_ body: (inout State) -> Void) { shared.withLock { body(&$0) } }

  // MARK: - The thread

  private func run() throws(ForeignFile) {
    var file: ReplicaFile?
    var loss: (reason: String, need: SnapshotLoader.Need?)? = nil
    while !worker.mustStop {
      do {
        if file == nil { file = try open() }
        if file == nil || loss != nil {
          let reason = loss?.reason ?? "new"
          if try !loader.load(loss?.need, into: file) { return }
          note { $0.loads[reason, default: 0] += 1 }
          loss = nil
          file = nil
          continue
        }
        guard let open = file else { continue }
        var follower = LogFollower(self, open, subjects)
        if let lost = try follower.run() {
          logger.warning(
            "the log does not lead on: \(lost.loss)", metadata: ["batch": "\(open.position?.number ?? -1)"])
          loss = ("\(lost.loss)", SnapshotLoader.Need(epoch: lost.epoch, number: lost.number))
        }
      } catch let error as ForeignFile {
        throw error
      } catch let error as ContentsDiffer {
        if let position = file?.position {
          noteDivergence(error, position)
          loss = ("diverged", SnapshotLoader.Need(epoch: position.epoch, number: position.number + 1))
        }
        file = nil
      } catch let error as BrokerError {
        wait(error.message)
      } catch let error as ReplicationFailure {
        wait(error.description)
      } catch {
        // The file's contents do not match the log.
        logger.error("the log cannot be applied: \(error)", metadata: ["path": "\(path)"])
        wait("the log cannot be applied: \(error)")
        if let position = file?.position {
          loss = ("unapplied", SnapshotLoader.Need(epoch: position.epoch, number: position.number + 1))
        }
        file = nil
      }
    }
  }

  /// Nil when there is no file.
  private func open() throws -> ReplicaFile? {
    guard FileIdentity(path: path) != nil else { return nil }
    let file = try ReplicaFile(path: path)
    guard let position = file.position else { throw ForeignFile(path: path) }
    note { $0.position = position }
    return file
  }

  private func wait(_ reason: String) {
    if state.description != reason { logger.warning("the replica waits: \(reason)") }
    note { $0.description = reason }
    worker.rest(milliseconds: 250)
  }

  private func noteDivergence(_ error: ContentsDiffer, _ position: LogPosition) {
    logger.critical(
      "rows of the replica are not those of the writer's file: a snapshot takes their place",
      metadata: [
        "path": "\(path)", "table": "\(error.table)", "batch": "\(position.number)", "commit": "\(position.commit)",
      ])
    let now = MonotonicClock.system.now
    note { state in
      state.divergences += 1
      state.comparesFrom = now + Self.patience * UInt64(1 << min(state.divergences - 1, 6))
    }
  }

  private var loader: SnapshotLoader {
    SnapshotLoader(
      path: path, broker: broker, subjects: subjects, logger: logger, worker: worker,
      report: { [self] text in note { $0.description = text } })
  }
}

extension Replica {
  /// Handles the publisher's notice of its position.
  func take(_ notice: PositionNotice) {
    let now = wallClockMilliseconds()
    note { state in
      state.notice = notice
      state.confirm(now)
    }
  }

  /// Whether rows are compared with the digests in the log.
  var comparesContents: Bool {
    settings.selfCheck != .off && MonotonicClock.system.now >= shared.withLock { $0.comparesFrom }
  }

  /// Records that batches were applied.
  func reached(_ position: LogPosition, batches: Int, comparisons: Int = 0) {
    let now = wallClockMilliseconds()
    note { state in
      state.position = position
      state.batches += batches
      state.comparisons += comparisons
      state.description = "following"
      state.confirm(now)
    }
  }
}

extension Replica.State {
  fileprivate mutating func confirm(_ now: Int64) {
    guard let position, let notice, position.epoch == notice.epoch, position.number >= notice.number else { return }
    confirmed = now
  }

  /// For how long something may have been missing, in milliseconds; nil: since the start.
  package var lag: Int64? {
    // The publisher sends a notice every quarter of a second, so up to half a second is not lag.
    confirmed.map { max(0, wallClockMilliseconds() - $0 - 500) }
  }

  /// Commits that are known to be missing.
  package var missingCommits: Int64? {
    guard let position, let notice, position.epoch == notice.epoch else { return nil }
    return max(0, notice.commit - position.commit)
  }
}
