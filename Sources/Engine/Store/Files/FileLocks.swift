import Ground

/// Finds the program whose lock keeps this process from reading a database file, if the system reports it.
package enum FileLocks {
  /// A program that holds a lock that excludes readers.
  package struct Holder: CustomStringConvertible, Sendable {
    let process: Int32
    let name: String?
    package var description: String { name.map { "\($0) (process \(process))" } ?? "process \(process)" }
  }

  /// The holder of such a lock. Nil if no process holds one, or if the process runs in another container or on another
  /// machine.
  package static func holder(of path: String) -> Holder? {
    guard let file = FileIdentity(path: path) else { return nil }
    for line in SystemText.lines("/proc/locks") {
      guard let process = holder(ofLine: line, inode: file.inode), process != getpid() else { continue }
      let name = SystemText.lines("/proc/\(process)/comm").first.map { $0.filter { $0 != "\n" } }
      return Holder(process: process, name: name)
    }
    return nil
  }

  /// The process that a line of `/proc/locks` (proc_locks(5)) names, if its lock excludes readers of the database.
  static func holder(ofLine line: String, inode: UInt64) -> Int32? {
    // Number, kind, mode, access, process, device and inode, first byte, last byte. Waiting locks have an arrow after
    // the number.
    let fields = line.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard fields.count == 8, fields[3] == "WRITE", let process = Int32(fields[4]), process > 0,
      fields[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode, let first = Int(fields[6]),
      lockBytes.contains(first)
    else { return nil }
    return process
  }

  /// SQLite's lock bytes, from `PENDING_BYTE` on.
  private static let lockBytes = 0x4000_0000..<0x4000_0200
}
