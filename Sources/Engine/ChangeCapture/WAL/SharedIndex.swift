import CSQLite
import Synchronization

/// The WAL-index as SQLite maps it: memory that all users of the database share.
///
/// SQLite's own mapping is read. It is valid as long as the connection is open, because the database cannot leave WAL
/// mode before.
///
/// Owner: the thread that uses the connection.
package struct SharedIndex {
  /// The size of the regions that SQLite maps, in bytes.
  package static let regionSize = 32 << 10
  /// The offset of the number of frames that are in the database file, after both copies of the header.
  private static let backfillOffset = 96
  /// The offset of the last frame that a checkpoint has begun to copy into the database file, after the read marks.
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
    // Read-only access is enough. With SQLITE_READONLY_CANTINIT, SQLite has an index of its own.
    guard code == SQLITE_OK || code == SQLITE_READONLY, let region else { return nil }
    start = UnsafeRawPointer(region)
  }

  /// The header of the newest state; nil while a commit is writing it.
  func header() -> WALIndexHeader? { WALIndexHeader.read(start) }

  /// The number of frames of the newest generation that are in the database file.
  func backfilled() -> UInt32 { frameCount(at: Self.backfillOffset) }

  /// The number of frames that are in the database file or are being copied to it.
  func backfillAttempted() -> UInt32 { frameCount(at: Self.attemptOffset) }

  private func frameCount(at offset: Int) -> UInt32 {
    let count = start.load(fromByteOffset: offset, as: UInt32.self)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return count
  }

  /// Whether the header has changed since it was noted. Makes no system call and takes no lock.
  func differs(from noted: NotedHeader) -> Bool { noted.differs(from: start) }

  func note() -> NotedHeader { NotedHeader(start) }

  /// The bytes of the first copy of the header, which SQLite writes after the second.
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
