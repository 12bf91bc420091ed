import Foundation

/// An unfinished file next to its final path, under a name that says which process is making it.
/// Leftovers of a killed process are removed by the next one that makes the same file.
struct UnfinishedFile {
  let path: String
  private let finalPath: String

  /// - Throws: `FileMakingError` when the final file exists already, or its directory cannot be made.
  init(for finalPath: String) throws {
    self.finalPath = finalPath
    path = finalPath + Self.mark + String(getpid())
    guard !FileManager.default.fileExists(atPath: finalPath) else {
      throw FileMakingError(code: .exists, message: "\(finalPath) exists already")
    }
    let directory = URL(fileURLWithPath: finalPath).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    } catch {
      throw FileMakingError(code: .io, message: "no directory \(directory.path): \(error.localizedDescription)")
    }
    removeAbandoned(in: directory)
    discard()
  }

  /// Removes the unfinished file. Does nothing after `publish`.
  func discard() { Self.remove(path) }

  /// Writes the file through to the disk and gives it its final name.
  func publish() throws(FileMakingError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    let isSynced = descriptor >= 0 && fsync(descriptor) == 0
    if descriptor >= 0 { close(descriptor) }
    guard isSynced else { throw failure("write") }
    // SQLite would take a -wal left by an earlier file of this name for the new file's.
    for suffix in Self.companions { unlink(finalPath + suffix) }
    // Not rename(2), which would replace a file that another process may have made meanwhile.
    guard link(path, finalPath) == 0 else {
      throw errno == EEXIST ? FileMakingError(code: .exists, message: "\(finalPath) exists already") : failure("name")
    }
  }

  private func failure(_ verb: String) -> FileMakingError {
    FileMakingError(code: .io, message: "cannot \(verb) \(finalPath): \(String(cString: strerror(errno)))")
  }

  private func removeAbandoned(in directory: URL) {
    let prefix = URL(fileURLWithPath: finalPath).lastPathComponent + Self.mark
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else { continue }
      Self.remove(directory.appendingPathComponent(name).path)
    }
  }

  private static let mark = ".unfinished-"
  private static let companions = ["-wal", "-shm", "-journal"]

  private static func remove(_ path: String) {
    for suffix in [""] + companions { unlink(path + suffix) }
  }
}
