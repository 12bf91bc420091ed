import CSQLite
import Ground
import LiveQuery

/// A database file that is a mount point by itself, as after `docker run -v ./app.db:/data/app.db`. The -wal and -shm
/// next to it are not those of programs outside of the container. So in WAL mode this process never sees their commits,
/// and locks do not work. It does not see a rollback journal either, or a file that replaces this one.
package enum MountedFile {
  /// Whether only the file is mounted, and not a folder with it.
  package static func isMounted(_ path: String) -> Bool {
    guard let resolved = realpath(path, nil) else { return false }
    defer { free(resolved) }
    let name = String(cString: resolved)
    return SystemText.lines("/proc/self/mountinfo").contains { mountPoint(ofLine: $0) == name }
  }

  /// The mount point that a line of `/proc/self/mountinfo` names; spaces and backslashes are octal there
  /// (proc_pid_mountinfo(5)).
  static func mountPoint(ofLine line: String) -> String? {
    let fields = line.split(separator: " ")
    guard fields.count > 4 else { return nil }
    var bytes: [UInt8] = []
    var rest = fields[4].utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// To be called before a file is followed.
  ///
  /// - Throws: an error message for the operator, if the file is a mount point and in WAL mode.
  package static func check(_ path: String, _ location: String) throws {
    guard isMounted(path) else { return }
    guard try Connection(location).withRaw({ raw throws(SQLiteFailure) in try isInWALMode(raw) }) else { return }
    throw FreshetError(.overloaded, advice(path))
  }

  private static func advice(_ path: String) -> String {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return "\(path) is mounted without its -wal and -shm, so commits from outside cannot be seen: "
      + "mount the folder that it is in (docker run -v ./data:\(folder.isEmpty ? "/" : folder)), not the file alone"
  }
}
