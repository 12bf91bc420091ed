import Ground
import Store

/// Moves the files of removed databases away: none is deleted.
enum RemovedDatabase {
  /// Moves a file that this process does not have open, with its -wal and -shm, into a folder of its own in `.removed`
  /// in the same folder.
  ///
  /// - Throws: the reason why it could not be moved.
  static func move(_ path: String) throws(ServerError) {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let (folder, name) = (path[..<slash], path[slash...].dropFirst())
    let removed = "\(folder)/.removed"
    let place = "\(removed)/\(LogTime.now)-\(name)"
    _ = mkdir(removed, 0o777)
    guard mkdir(place, 0o777) == 0 else { throw ServerError("\(place): \(String(cString: strerror(errno)))") }
    // The database file is moved first, so that a -wal left behind cannot be taken for another database's.
    guard rename(path, "\(place)/\(name)") == 0 else {
      throw ServerError("\(path): \(String(cString: strerror(errno)))")
    }
    for ending in ["-wal", "-shm", "-journal"] { _ = rename(path + ending, "\(place)/\(name)\(ending)") }
  }
}
