import CSQLite
import Ground

/// Detects that a program wrote to the database file without SQLite: `cp`, `rsync --inplace`, `dd`, a restore tool.
///
/// Such a write is no commit, so neither the WAL-index nor the change counter reports it, and SQLite's own caches miss
/// it too.
///
/// - With a WAL, only checkpoints write to the file, and each checkpoint is announced in the WAL-index before its first
///   write. A file that changed without a checkpoint was overwritten. So was a file whose header says that it has no
///   WAL any more, because SQLite cannot leave WAL mode while this connection is open.
/// - With a rollback journal, each commit increments the change counter. A file that changed since a transaction saw
///   it, without a greater counter and without a journal, was overwritten. (A transaction that spilled and was rolled
///   back looks the same.) SQLite recognizes a state by its counter and size, so caches of former states could be taken
///   for those of the new contents. Mutable state: the last note, and the verdict, which never changes back.
///
/// Owner: the thread that uses the connection.
package struct FileContents {
  package enum Verdict: Sendable {
    case own
    /// The file was written to, but its size and header are unchanged: perhaps only its time was set.
    case touched
    case overwritten
  }

  package private(set) var verdict = Verdict.own
  /// The generation of a WAL that holds only contents of the overwritten file, so that it must not be applied to the
  /// new contents; nil if there is no such WAL, or if it may hold commits that exist nowhere else.
  package private(set) var staleGeneration: UInt64?
  private var noted: Noted?
  /// inotify has reported since the last look that the file was written to, which it does not report for a change of
  /// times.
  package var isReported = false
  private let path: String
  private let database: DatabaseFile
  private let connection: OpaquePointer

  private struct Noted {
    let disk: DiskState
    let header: JournalState
    /// What a checkpoint had copied; nil with a rollback journal.
    let copied: Copied?
  }

  /// The generation of the WAL, and the number of its frames that are in the database file.
  private struct Copied: Equatable {
    let generation: UInt64
    let frames: UInt32
  }

  /// - Parameter connection: an `sqlite3 *` that stays open for as long as this is used.
  package init(of connection: OpaquePointer) {
    self.connection = connection
    database = DatabaseFile(.database, of: connection)
    path = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? ""
  }

  /// Another connection of the process has found that the file was overwritten.
  package mutating func noteOverwritten(_ staleGeneration: UInt64?) {
    if verdict == .own { self.staleGeneration = staleGeneration }
    verdict = .overwritten
  }

  /// Whether a program may be writing over the file right now: without a WAL, whether the file differs from what the
  /// last transaction saw.
  var isDoubtful: Bool {
    if verdict != .own { return true }
    guard let noted, noted.copied == nil else { return false }
    return DiskState(path: path) != noted.disk
  }

  /// As `noteSnapshot`, for connections that write.
  package mutating func note(usesWAL: Bool) { noteSnapshot(usesWAL ? SharedIndex(of: connection) : nil) }

  /// Notes how the file is now. Must be called in a transaction that has read something, which proves that SQLite wrote
  /// this state.
  mutating func noteSnapshot(_ index: SharedIndex?) {
    if verdict != .own { return }
    guard let index, noted?.copied != nil else { return note(index) }
    noteProgress(index)
  }

  /// Takes note of checkpoints and of WALs that start over. Makes no system call if there were none of these.
  mutating func noteProgress(_ index: SharedIndex) {
    if verdict == .own, let copied = copied(index), copied != noted?.copied { note(index) }
  }

  private mutating func note(_ index: SharedIndex?) {
    let before = index.flatMap { copied($0) }
    guard let disk = DiskState(path: path), let header = try? JournalState(database) else { return }
    guard let index else { return noted = Noted(disk: disk, header: header, copied: nil) }
    // If the count differs, a checkpoint has changed the file in between.
    guard let copied = copied(index), copied == before else { return }
    if noted?.copied != nil, copied.frames > 0, lacksLastFrame(index), self.copied(index) == copied {
      (verdict, staleGeneration) = (.overwritten, copied.generation)
    }
    noted = Noted(disk: disk, header: header, copied: copied)
  }

  /// Whether the database file has another image than the newest frame, although a checkpoint has copied all frames. If
  /// so, a program wrote over the file right after the checkpoint.
  private func lacksLastFrame(_ index: SharedIndex) -> Bool {
    guard let header = index.header(), header.pageSize > 0, header.frameCount > 0,
      index.backfilled() >= header.frameCount
    else { return false }
    let (size, frameSize) = (header.pageSize, WALFrame.headerSize + header.pageSize)
    return withUnsafeTemporaryAllocation(byteCount: frameSize + size, alignment: 8) { buffer in
      guard let frame = buffer.baseAddress else { return false }
      let page = frame + frameSize
      let log = DatabaseFile(.wal, of: connection)
      let start = WALFrame.logHeaderSize + (Int(header.frameCount) - 1) * frameSize
      guard (try? log.read(into: frame, frameSize, at: start)) == true,
        frame.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == header.salts
      else { return false }
      let number = Int(UnsafeRawPointer(frame).bigEndian32(0))
      guard let isWhole = try? database.read(into: page, size, at: (number - 1) * size) else { return false }
      return !isWhole || memcmp(frame + WALFrame.headerSize, page, size) != 0
    }
  }

  /// Sizes of https://sqlite.org/walformat.html, in bytes.
  private enum WALFrame {
    static let logHeaderSize = 32
    static let headerSize = 24
  }

  /// How much of the WAL is copied; nil while a checkpoint may be writing.
  private func copied(_ index: SharedIndex) -> Copied? {
    let frames = index.backfilled()
    guard let header = index.header(), index.backfillAttempted() == frames else { return nil }
    return Copied(generation: header.salts, frames: frames)
  }

  /// Checks the file, with one or two system calls. To be called outside of transactions.
  package mutating func look() -> Verdict {
    look(usesWAL ? SharedIndex(of: connection) : nil)
  }

  /// Whether the file was noted in WAL mode. SQLite's file of a rollback journal cannot show this, because it is open
  /// only in transactions that write.
  private var usesWAL: Bool { noted?.copied != nil }

  mutating func look(_ index: SharedIndex?) -> Verdict {
    if verdict != .own { return verdict }
    defer { isReported = false }
    if let index { lookBesideWAL(index) } else { lookWithoutWAL() }
    return verdict
  }

  private mutating func lookBesideWAL(_ index: SharedIndex) {
    guard let before = noted, let known = before.copied else { return note(index) }
    let copied = copied(index)
    guard let disk = DiskState(path: path) else { return }
    if disk == before.disk { return copied == known ? () : note(index) }
    guard let header = try? JournalState(database) else { return }
    let isLeft = before.header.isWAL && !header.isWAL
    let state = index.header()
    let isCopied = state.map { $0.frameCount <= index.backfilled() } ?? false
    // A complete checkpoint leaves the file at least as long as the database.
    let isShort = isCopied && state.map { disk.size < Int64($0.pageCount) * Int64($0.pageSize) } ?? false
    // If the count of copied frames was the same before and after the file was read, no checkpoint came in between.
    guard isLeft || isShort || (copied == known && self.copied(index) == known) else { return note(index) }
    let isOther = isLeft || isShort || isReported || disk.size != before.disk.size || header != before.header
    // A program that is still writing has changed the file's time already, and inotify reports the write when it ends.
    guard isOther || disk.isSettled else { return }
    verdict = isOther ? .overwritten : .touched
    if isOther || isCopied { staleGeneration = state?.salts }
  }

  private mutating func lookWithoutWAL() {
    guard let before = noted, before.copied == nil, let disk = DiskState(path: path), disk != before.disk,
      disk.size > 0, let header = try? JournalState(database), !DiskState.hasActiveJournal(path)
    else { return }
    if header != before.header {
      // A connection that caches pages of a state with this counter would take them for pages of the new contents.
      if header.changeCounter <= before.header.changeCounter { verdict = .overwritten }
    } else if disk.isSettled {
      verdict = disk.size == before.disk.size ? .touched : .overwritten
    }
  }
}

/// A file's size, and the time when it was last written to.
package struct DiskState: Equatable, Sendable {
  package let size: Int64
  private let seconds: Int
  private let nanoseconds: Int

  /// Nil if there is no file.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    size = Int64(status.st_size)
    #if canImport(Darwin)
      (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
    #else
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    #endif
  }

  /// Whether a transaction is writing to a database, or was writing when its program was killed. A journal file that is
  /// kept between transactions begins with zeros.
  package static func hasActiveJournal(_ database: String) -> Bool {
    let file = open(database + "-journal", O_RDONLY | O_CLOEXEC)
    if file < 0 { return false }
    defer { close(file) }
    var first: UInt8 = 0
    return read(file, &first, 1) == 1 && first != 0
  }

  /// Whether a program that writes the file in pieces has probably ended.
  package var isSettled: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age = (now.tv_sec - seconds) * 1_000 + (now.tv_nsec - nanoseconds) / 1_000_000
    // A time in the future was set explicitly, so its age says nothing.
    return age < 0 || age >= Self.pause
  }

  /// How long a file must be unchanged to count as settled, in milliseconds.
  private static let pause = 50
}
