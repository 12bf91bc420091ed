import ChangeCapture
import Following
import Foundation
import Ground
import LiveQuery
import Logging
import Store
import Synchronization

/// An open file that is followed, and the log that gets its changes.
///
/// Owner: the publisher's thread.
final class PublishedFile {
  private let publisher: Publisher
  private let log: PublishedLog
  private let began: Int64
  private let clock = MonotonicClock.system
  private let followed: FollowedConnection
  private var reader: ChangeReader?
  /// The position of the newest batch, even if the stream does not have it yet. Nil before the epoch has begun.
  private(set) var position: LogPosition?
  private let epoch: String
  private var snapshotMade: Instant?
  private var mustSnapshot = false
  private var checked: Instant
  private var pass: ContentsPass

  /// How long commits are gathered: a batch costs the broker and every replica a message.
  private static let gap = Nanoseconds.milliseconds(2)
  /// How often to check that the log still exists: less often in a folder, because many files ask one broker.
  private var checkInterval: Nanoseconds { .milliseconds(publisher.settings.database == nil ? 1_000 : 10_000) }

  /// - Parameters:
  ///   - position: the epoch's position so far; nil: the epoch begins.
  ///   - state: the capture's state that was kept at this position.
  init(
    _ publisher: Publisher, _ log: PublishedLog, epoch: String, began: Int64, after position: LogPosition?,
    restoring state: CaptureState? = nil
  ) {
    self.publisher = publisher
    self.log = log
    self.epoch = epoch
    self.began = began
    self.position = position
    var settings = ChangeCapture.Settings()
    settings.pagesAtOnce = .max
    followed = FollowedConnection(
      publisher.file, settings, clock: clock, thread: publisher.worker.wake, logger: publisher.logger
    ) { state }
    checked = clock.now
    pass = ContentsPass(publisher.settings.selfCheck, clock)
  }

  /// Opens the file; waits for a missing one.
  ///
  /// - Throws: `ReplicationFailure` for what the log cannot carry.
  func begin() throws {
    while followed.isMissing {
      if publisher.mustStop { return }
      publisher.worker.rest(milliseconds: 50)
    }
    guard let opened = try followed.open() else { throw FreshetError.databaseMissing }
    try opened.connection.snapshot {
      if opened.connection.capture.isRestored { return try goOn(opened.connection) }
      reader = try ChangeReader(opened.connection, limit: publisher.settings.batchLimit)
      if !opened.connection.capture.usesWAL, opened.connection.capture.comparesTables {
        publisher.logger.warning(
          "the file has a rollback journal: all of it is compared after a commit",
          metadata: ["path": "\(publisher.path)"])
      }
      let number = publisher.numbers.number(
        of: opened.connection.capture.numberedState, before: position?.commit ?? publisher.numbers.first,
        commits: position == nil ? 0 : 1)
      // The changes since that position are unknown.
      if position != nil { return _ = addCommits(ChangeReader.Tick(contents: nil), to: number) }
      let commit = number.commit
      let beginning = LogPosition(beginning: epoch, commit: commit)
      position = beginning
      log.add(batch(.beginning, number: 0, from: commit, to: commit, []), after: beginning)
    }
  }

  /// Publishes all changes since the kept state as one batch.
  private func goOn(_ connection: DatabaseConnection) throws {
    guard let before = position else { return }
    let reader = try ChangeReader(resuming: connection, limit: publisher.settings.batchLimit)
    let tick = try reader.tick()
    self.reader = reader
    // The state gets a number even if nothing changed, because numbers of the former process must not be given again.
    let number = publisher.numbers.number(
      of: connection.capture.numberedState, before: before.commit, commits: max(tick.commits, 1))
    _ = addCommits(tick, to: number)
  }

  /// Waits for something to do, and does it.
  func step(wantsSnapshot: Bool) throws {
    guard let connection = followed.database?.connection else { return }
    mustSnapshot = mustSnapshot || wantsSnapshot || isSnapshotDue
    if !log.isComplete {
      if try !log.publish() { publisher.worker.rest(milliseconds: 100) }
      return
    }
    let now = clock.now
    if now - checked >= checkInterval {
      checked = now
      _ = try log.check()
    }
    let hasCommit = followed.hasCommit()
    if followed.mayBeReplaced(hasCommit: hasCommit) { try checkFile() }
    let copies = mustSnapshot && publisher.isSendingSnapshot.load(ordering: .acquiring) == false
    if hasCommit || copies || pass.isDue(now) { try tick(connection, copies: copies) }
    let rest = max(followed.rest(clock.now), hasCommit ? Self.gap : .zero)
    followed.wait(on: publisher.worker.wake, limit: .milliseconds(mustSnapshot ? 20 : 500), rest: rest)
  }

  /// Appends what is waiting, if the broker takes it at once.
  ///
  /// - Returns: the state from which the next process can continue; nil: it cannot.
  func finish() -> PublisherState.Kept? {
    if let connection = followed.database?.connection {
      try? connection.capture.catchUp { try tick(connection, copies: false) }
    }
    guard (try? log.publish()) == true, log.isComplete, let position, reader != nil,
      let capture = followed.database?.connection.capture, let state = CaptureState(of: capture)
    else { return nil }
    return PublisherState.Kept(state: state, memory: PublishedPosition(position: position, began: began))
  }

  /// Stops following if another file has the name. The owner of the commit numbers reports the replacement.
  private func checkFile() throws {
    if !followed.isAnother { return }
    reader = nil
    followed.close()
    throw ReplicationFailure("the file is another one now")
  }

  private func tick(_ connection: DatabaseConnection, copies: Bool) throws {
    guard let reader, let before = position else { return }
    let start = clock.now
    var copy: String?
    try connection.snapshot {
      var tick = try reader.tick()
      pass.note(tick)
      let isQuiet = tick.isQuiet
      if pass.isDue(start) { addDigests(reader, to: &tick) }
      if isQuiet {
        if tick.contents != [] { add(.changes, from: before.commit, to: before.commit, tick.contents ?? []) }
      } else {
        let number = publisher.numbers.number(
          of: connection.capture.numberedState, before: before.commit, commits: tick.commits)
        if !addCommits(tick, to: number) { return }
      }
      if copies { copy = try copySnapshot(connection) }
    }
    followed.noteTick(from: start, to: clock.now)
    _ = try log.publish()
    if let copy { send(copy) }
  }

  /// Adds a tick's changes to the log. If the commit number is not exact, another state may have the same number, and
  /// two versions would have one name: then nothing is sent, and a new epoch begins.
  ///
  /// - Returns: whether this epoch continues.
  private func addCommits(_ tick: ChangeReader.Tick, to number: CommitNumber) -> Bool {
    guard let before = position, number.isExact else {
      reader = nil
      publisher.renewEpoch()
      return false
    }
    add(tick.contents == nil ? .cut : .changes, from: before.commit, to: number.commit, tick.contents ?? [])
    return true
  }

  /// Adds digests to a tick's changes. If they cannot be read, the changes are published without them.
  private func addDigests(_ reader: ChangeReader, to tick: inout ChangeReader.Tick) {
    do { try reader.addDigests(&pass, to: &tick) } catch {
      publisher.logger.warning(
        "rows for replicas to compare with cannot be read: \(error)", metadata: ["path": "\(publisher.path)"])
    }
  }

  private func add(_ kind: LogBatch.Kind, from: Int64, to commit: Int64, _ contents: [UInt8]) {
    guard let before = position else { return }
    let batch = batch(kind, number: before.number + 1, from: from, to: commit, contents)
    log.add(batch, after: before)
    position = before.after(batch)
    publisher.note { state in
      state.batches += 1
      state.bytes += contents.count
      if kind == .cut { state.cuts += 1 }
    }
  }

  private func batch(
    _ kind: LogBatch.Kind, number: Int64, from: Int64, to commit: Int64, _ contents: [UInt8]
  ) -> LogBatch {
    LogBatch(
      kind, epoch: epoch, began: began, number: number, commitBefore: from, commit: commit,
      time: wallClockMilliseconds(), contents: contents)
  }

  // MARK: - Snapshots

  private var isSnapshotDue: Bool {
    guard let snapshotMade, publisher.settings.snapshotInterval > 0 else { return false }
    return clock.now - snapshotMade > .milliseconds(UInt64(publisher.settings.snapshotInterval) * 1_000)
  }

  /// Copies the file, in the tick's transaction: the copy shows the state after the newest batch.
  private func copySnapshot(_ connection: DatabaseConnection) throws -> String {
    mustSnapshot = false
    snapshotMade = clock.now
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(
      "freshet-snapshot-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString).sqlite"
    ).path
    do { try SnapshotCopy.copy(connection.raw, toFile: path) } catch {
      SnapshotCopy.removeDatabase(path)
      throw error
    }
    return path
  }

  /// Sends a snapshot on a thread of its own.
  private func send(_ path: String) {
    guard let position else { return }
    publisher.isSendingSnapshot.store(true, ordering: .releasing)
    let publisher = publisher
    let logSequence = log.isComplete ? log.lastSequence ?? 0 : 0
    publisher.sending.start {
      defer {
        SnapshotCopy.removeDatabase(path)
        publisher.isSendingSnapshot.store(false, ordering: .releasing)
      }
      let sender = SnapshotSender(
        broker: publisher.broker, settings: publisher.settings, logger: publisher.logger,
        mustStop: { publisher.mustStop })
      do {
        try sender.send(path, showing: position, logSequence: logSequence)
        publisher.note { $0.snapshots += 1 }
      } catch {
        publisher.logger.warning("a snapshot could not be sent: \(error)")
        if !publisher.mustStop { pause(milliseconds: 500) }
      }
    }
  }
}
