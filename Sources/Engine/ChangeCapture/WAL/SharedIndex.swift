import CSQLite
import Synchronization

/// The WAL-index as SQLite maps it: memory that all users of the database share.
///
/// SQLite's own mapping is read, so it is valid for as long as the connection is open: a database cannot leave WAL mode
/// while it is.
///
/// Owner: the thread that uses the connection.
package struct SharedIndex {
  /// The size of the pieces that SQLite maps.
  package static let regionSize = 32 << 10
  /// After both copies of the header: the number of frames that are in the database file.
  private static let backfillOffset = 96
  /// After that and the read marks: the last frame that a checkpoint has begun to write into the database file.
  private static let attemptOffset = 128

  private let start: UnsafeRawPointer

  /// - Returns: nil if there is no shared index: the database is not in WAL mode, or SQLite keeps an index of its own
  ///   because it may not write to the shared one and no other process maintains it.
  init?(of connection: OpaquePointer) {
    guard let file = DatabaseFile.pointer(connection, SQLITE_FCNTL_FILE_POINTER),
      file.pointee.pMethods.pointee.iVersion >= 2, let map = file.pointee.pMethods.pointee.xShmMap
    else { return nil }
    var region: UnsafeMutableRawPointer?
    let code = map(file, 0, Int32(Self.regionSize), 0, &region)
    // Read-only is good enough; SQLITE_READONLY_CANTINIT is the index of SQLite's own.
    guard code == SQLITE_OK || code == SQLITE_READONLY, let region else { return nil }
    start = UnsafeRawPointer(region)
  }

  /// The newest state; nil while a commit is writing it.
  func header() -> WALIndexHeader? { WALIndexHeader.read(start) }

  /// How many frames of the newest generation are in the database file.
  func backfilled() -> UInt32 { frameCount(at: Self.backfillOffset) }

  /// How many may be there, or be on their way.
  func backfillAttempted() -> UInt32 { frameCount(at: Self.attemptOffset) }

  private func frameCount(at offset: Int) -> UInt32 {
    let count = start.load(fromByteOffset: offset, as: UInt32.self)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return count
  }

  /// Whether the header has changed. No system call, no lock.
  func differs(from noted: NotedHeader) -> Bool { noted.differs(from: start) }

  func note() -> NotedHeader { NotedHeader(start) }

  /// The bytes of a header's first copy, which is written last.
  struct NotedHeader {
    private let words: InlineWords

    private typealias InlineWords = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    init(_ start: UnsafeRawPointer) {
      atomicMemoryFence(ordering: .acquiring)
      words = start.loadUnaligned(as: InlineWords.self)
    }

    @inline(__always)
    func differs(from start: UnsafeRawPointer) -> Bool {
      let now = start.loadUnaligned(as: InlineWords.self)
      return now != words
    }
  }
}
