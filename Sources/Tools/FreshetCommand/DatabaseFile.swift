import Foundation
import LiveQuery
import Store

/// A failure that ends the command with one sentence on stderr and exit code 1.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The database file that a command was given.
enum DatabaseFile {
  /// The absolute path of an existing SQLite file that can be read.
  ///
  /// - Parameter isWaited: whether a locked file is accepted, because the command waits for it.
  static func existing(_ path: String, isWaited: Bool = false) throws -> String {
    let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isDirectory) else {
      throw CommandFailure(absence(path))
    }
    if isDirectory.boolValue { throw CommandFailure("\(path) is a directory, not a database") }
    do throws(SQLiteFailure) {
      _ = try ReadOnlyFile.location(absolute, patience: isWaited ? 0 : Connection.patience)
    } catch {
      if isWaited && error.isLock { return absolute }
      if error.isNotADatabase { throw CommandFailure("\(path) is not an SQLite database") }
      throw CommandFailure("cannot read \(path): \(error.message)")
    }
    return absolute
  }

  static func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// The sentence that a file is missing, with the file that was probably meant.
  static func absence(_ path: String) -> String {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    if let hint = Spelling.hint(for: url.lastPathComponent, of: names) { return "there is no file \(path)\(hint)" }
    let databases = databases(in: folder) ?? []
    if databases.isEmpty { return "there is no file \(path)." }
    let more = databases.count > 5 ? ", and others" : ""
    return "there is no file \(path): databases there are \(databases.prefix(5).joined(separator: ", "))\(more)."
  }

  /// Names of the databases of a directory; nil if it is not a directory.
  private static func databases(in folder: String) -> [String]? {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
    return names.sorted().prefix(200).filter { isDatabase("\(folder)/\($0)") }
  }

  /// Whether a file begins as SQLite's do.
  ///
  /// Call it only while nothing in this process has the database open: when a descriptor of a file is closed, POSIX
  /// drops all locks that the process has on the file, and another process could then close the database as the last
  /// one and delete the -wal.
  private static func isDatabase(_ path: String) -> Bool {
    var about = stat()
    guard stat(path, &about) == 0, about.st_mode & S_IFMT == S_IFREG, let file = FileHandle(forReadingAtPath: path)
    else {
      return false
    }
    return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
  }

  /// The absolute path of an SQLite file that can be read, is locked, or does not exist yet. Its directory must exist.
  static func expected(_ path: String) throws -> String {
    let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
    if isThere(absolute) { return try existing(path, isWaited: true) }
    var isDirectory: ObjCBool = false
    let directory = URL(fileURLWithPath: absolute).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), isDirectory.boolValue else {
      throw CommandFailure("there is no directory \(directory) in which \(path) could appear")
    }
    return absolute
  }
}

/// The static files that come with the program.
enum PublicDirectory {
  /// `FRESHET_PUBLIC`, or `public` or `share/freshet/public` in a folder above the program; nil if none of them exists.
  static var bundled: String? {
    if let path = Variables.text("FRESHET_PUBLIC") { return path }
    var folder = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
      .resolvingSymlinksInPath().deletingLastPathComponent()
    while folder.path != "/" {
      for name in ["public", "share/freshet/public"] {
        let candidate = folder.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: candidate.appendingPathComponent("index.html").path) {
          return candidate.path
        }
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }
}
