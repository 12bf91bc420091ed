import CFreshetSystem
import Ground

// The -shm is memory that all users of a database in WAL mode share. SQLite maps it in pieces of 32 KiB and never asks
// again how long the file is: when a program shortens it (`truncate`, `cp` onto it, a restore), touching what is mapped
// behind its new end is SIGBUS, the end of the process.
extension WALFiles {
  /// Makes a -shm that was shortened as long as it was. The zeros have no valid header, so that the next transaction,
  /// of any process, builds the WAL-index anew from the -wal, under SQLite's own locks: as it does when it finds
  /// a short -shm on opening.
  ///
  /// To be called before shared memory is touched after a wait. Shortening the file within a transaction still ends the
  /// process: that nothing can prevent. One system call.
  ///
  /// - Returns: false when it is too short and cannot be made longer.
  package mutating func restoreSharedMemory() -> Bool {
    guard let size = sizeOfSharedMemory else { return true }
    if size >= sharedMemorySize {
      sharedMemorySize = size
      return true
    }
    guard FileIdentity(path: sharedMemoryPath) == sharedMemory else { return true }
    return truncate(sharedMemoryPath, off_t(sharedMemorySize)) == 0
  }

  /// Nil: missing, or replaced by another file.
  private var sizeOfSharedMemory: Int? {
    if let openSharedMemory { return openSharedMemory.size }
    guard let sharedMemory, let status = FileStatus(path: sharedMemoryPath) else { return nil }
    return status.identity == sharedMemory ? status.size : nil
  }
}

/// A file that is often asked for its size. The descriptor gives no access to it: closing any other one would give back
/// the locks that SQLite holds on the file for this process.
final class SizedFile: Sendable {
  private let descriptor: Int32

  /// - Returns: nil where the system has no such descriptors, or another file has the name.
  init?(path: String, _ identity: FileIdentity) {
    descriptor = system_open_without_access(path)
    if FileStatus(descriptor: descriptor)?.identity != identity { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  var size: Int? { FileStatus(descriptor: descriptor)?.size }
}

extension FileIdentity {
  /// Whether this process maps the file as a -shm, also when it has no name any more. By inode: some file systems show
  /// another device here. True where the system does not tell.
  var isMappedAsSharedMemory: Bool { hasMapping { $0 == "\(inode)" && $1.contains("-shm") } ?? true }
}

extension WALFiles {
  /// Whether this process maps a -shm that had the name and was deleted.
  var isDeletedMapped: Bool { hasMapping { $1 == "\(sharedMemoryPath) (deleted)\n" } ?? false }
}

/// Whether this process maps such a file, given its inode and what it was called; nil where the system does not tell.
private func hasMapping(_ isWanted: (_ inode: Substring, _ name: Substring) -> Bool) -> Bool? {
  let lines = SystemText.lines("/proc/self/maps")
  if lines.isEmpty { return nil }
  return lines.contains { line in
    // Address, rights, offset, device, inode, path.
    let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    return fields.count == 6 && isWanted(fields[4], fields[5].drop { $0 == " " })
  }
}
