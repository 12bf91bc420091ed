import CFreshetSystem
import Ground

// The -shm is memory that all users of a database in WAL mode share. SQLite maps it in pieces of 32 KiB and never
// checks the file's length again. If a program shortens the file (`truncate`, `cp` onto it, a restore), touching memory
// that is mapped beyond its new end raises SIGBUS, which ends the process.
extension WALFiles {
  /// Extends a -shm that was shortened to its former length, with zeros. Zeros are not a valid header, so the next
  /// transaction of any process rebuilds the WAL-index from the -wal, under SQLite's own locks, as SQLite does when it
  /// opens a short -shm.
  ///
  /// To be called before shared memory is touched after a wait. If the file is shortened during a transaction, the
  /// process still ends; this cannot be prevented. Takes one system call.
  ///
  /// - Returns: false if the file is too short and cannot be extended.
  package mutating func restoreSharedMemory() -> Bool {
    guard let size = sizeOfSharedMemory else { return true }
    if size >= sharedMemorySize {
      sharedMemorySize = size
      return true
    }
    guard FileIdentity(path: sharedMemoryPath) == sharedMemory else { return true }
    return truncate(sharedMemoryPath, off_t(sharedMemorySize)) == 0
  }

  /// The size of the -shm; nil if it is missing, or replaced by another file.
  private var sizeOfSharedMemory: Int? {
    if let openSharedMemory { return openSharedMemory.size }
    guard let sharedMemory, let status = FileStatus(path: sharedMemoryPath) else { return nil }
    return status.identity == sharedMemory ? status.size : nil
  }
}

/// Reads the size of a file often. Its descriptor gives no access to the file. Closing a descriptor that does would
/// release the locks that SQLite holds on the file for this process.
final class SizedFile: Sendable {
  private let descriptor: Int32

  /// - Returns: nil if the system has no such descriptors, or if another file has the name.
  init?(path: String, _ identity: FileIdentity) {
    descriptor = system_open_without_access(path)
    if FileStatus(descriptor: descriptor)?.identity != identity { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  var size: Int? { FileStatus(descriptor: descriptor)?.size }
}

extension FileIdentity {
  /// Whether this process maps the file as a -shm, even if it has no name any more. Compares inodes only, because some
  /// file systems show another device here. True if the system does not report mappings.
  var isMappedAsSharedMemory: Bool { hasMapping { $0 == "\(inode)" && $1.contains("-shm") } ?? true }
}

extension WALFiles {
  /// Whether this process maps a deleted -shm that had this name.
  var isDeletedMapped: Bool { hasMapping { $1 == "\(sharedMemoryPath) (deleted)\n" } ?? false }
}

/// Whether this process maps a wanted file, given its inode and its name; nil if the system does not report mappings.
private func hasMapping(_ isWanted: (_ inode: Substring, _ name: Substring) -> Bool) -> Bool? {
  let lines = SystemText.lines("/proc/self/maps")
  if lines.isEmpty { return nil }
  return lines.contains { line in
    // The fields are address, rights, offset, device, inode and path.
    let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    return fields.count == 6 && isWanted(fields[4], fields[5].drop { $0 == " " })
  }
}
