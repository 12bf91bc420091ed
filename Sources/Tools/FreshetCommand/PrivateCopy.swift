import CSQLite
import ChangeCapture
import Foundation
import Logging
import Store
import Synchronization

/// A copy of a database that another program keeps locked, such as a browser's: SQLite cannot open the original. The
/// original's bytes are copied, without a lock, and taken if neither a checkpoint nor a transaction was writing to them
/// meanwhile: the database file is the same before and after, and its -wal of one generation. The contents are then
/// brought into the served copy in one transaction, so that lists get patches. Whenever the original changes, this is
/// done again.
///
/// The original must not be opened by SQLite in this process: closing it here would drop locks.
// @unchecked: everything but `stops` belongs to one thread: the caller's until `start`, then its own.
final class PrivateCopy: @unchecked Sendable {
  /// The file to serve.
  let path: String
  private let original: String
  /// The file into which the original's bytes are copied first.
  private let raw: String
  private let folder: String
  private let stops = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)
  private var hasStarted = false
  private var served: Connection?
  /// The state of the original that the copy shows.
  private var shown: Source?
  private var hasWarned = false

  /// The state of the original's files, as far as the system reports it.
  private struct Source: Equatable {
    let database: DiskState
    let log: DiskState?
    /// The salts of the -wal.
    let generation: Data?
  }

  /// The time between two checks of the original, in seconds, and the least time between two copies.
  private static let interval = 0.1
  /// Seconds of rest per second of copying: copying takes at most a fifth of the time.
  private static let restPerWork = 4.0
  /// How long the first copy may take, in seconds.
  private static let patience = 10.0

  /// Makes the copy.
  init(of original: String) throws {
    self.original = original
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("freshet-copy-\(UUID().uuidString)").path
    path = folder + "/" + URL(fileURLWithPath: original).lastPathComponent
    raw = folder + "/original"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let deadline = Date(timeIntervalSinceNow: Self.patience)
    while try !renew() {
      if Date() > deadline {
        remove()
        throw CommandFailure("\(original) cannot be copied: it is not there, or always being written to")
      }
      Thread.sleep(forTimeInterval: Self.interval)
    }
  }

  /// Renews the copy from now on, on a thread of its own.
  func start() {
    hasStarted = true
    Thread.detachNewThread { [self] in
      let logger = Logger(label: "freshet")
      while !stops.load(ordering: .relaxed) {
        let begin = Date()
        do {
          _ = try renew()
          hasWarned = false
        } catch {
          if !hasWarned { logger.warning("the copy cannot be renewed: \(error)", metadata: ["path": "\(original)"]) }
          hasWarned = true
        }
        Thread.sleep(forTimeInterval: max(Self.interval, Date().timeIntervalSince(begin) * Self.restPerWork))
      }
      ended.signal()
    }
  }

  /// Deletes the copy.
  func stop() {
    stops.store(true, ordering: .relaxed)
    if hasStarted { ended.wait() }
    remove()
  }

  private func remove() {
    served = nil
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: - Renewing

  /// - Returns: whether the copy shows the original as it was when this began.
  private func renew() throws -> Bool {
    guard let before = source() else { return false }
    if before == shown { return true }
    guard before.database.isSettled, !DiskState.hasActiveJournal(original) else { return false }
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: raw + suffix) }
    // The -wal is copied before the file that it continues.
    if before.log != nil { try FileManager.default.copyItem(atPath: original + "-wal", toPath: raw + "-wal") }
    try FileManager.default.copyItem(atPath: original, toPath: raw)
    guard let after = source(), after.database == before.database, after.generation == before.generation,
      !DiskState.hasActiveJournal(original)
    else { return false }
    try take()
    shown = before
    return true
  }

  private func source() -> Source? {
    guard let database = DiskState(path: original) else { return nil }
    let log = DiskState(path: original + "-wal").flatMap { $0.size > 0 ? $0 : nil }
    guard log != nil else { return Source(database: database, log: nil, generation: nil) }
    let file = FileHandle(forReadingAtPath: original + "-wal")
    defer { try? file?.close() }
    return Source(database: database, log: log, generation: try? file?.read(upToCount: 32))
  }

  /// Copies the contents of the raw copy into the served file.
  private func take() throws {
    let source = try Connection(raw, .writing, isPrivate: true)
    let size = try source.first("PRAGMA page_size") { $0.integer(0) } ?? 4_096
    let served = try served ?? make(pageSize: size)
    try source.copy(into: served)
    // No other connection commits to the served file, so nothing can restart its -wal meanwhile.
    try served.run("PRAGMA wal_checkpoint(PASSIVE)")
  }

  private func make(pageSize: Int64) throws -> Connection {
    let made = try Connection(path, .making)
    // SQLite's backup into a file in WAL mode needs the same page size in both.
    try made.run("PRAGMA page_size = \(pageSize); PRAGMA journal_mode = WAL")
    served = made
    return made
  }
}
