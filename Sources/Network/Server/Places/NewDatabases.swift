import Foundation
import Ground
import LiveQuery
import Store

/// How new databases are made: from a file that is copied, or from a script; the setting `newDatabases`.
package struct NewDatabases: Sendable {
  package enum Model: Sendable, Equatable {
    /// The path of an SQLite file.
    case template(String)
    /// The path of a file with SQL.
    case schema(String)
  }

  package var model: Model

  package init(_ model: Model) { self.model = model }

  /// Makes a database at a path where no file is. The file appears complete, or not at all.
  ///
  /// - Throws: `constraint` where something is there already; `internal` where it cannot be made.
  func make(at path: String) throws(FreshetError) {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let (folder, name) = (path[..<slash], path[slash...].dropFirst())
    // A hidden file: no client can name it as a database.
    let unfinished = "\(folder)/.new-\(UInt64.random(in: 0 ... .max))-\(name)"
    defer { for ending in ["", "-wal", "-shm", "-journal"] { unlink(unfinished + ending) } }
    do {
      try DatabasePlaces.makeFolder(of: path)
      try fill(unfinished)
      try sync(unfinished)
    } catch { throw FreshetError(.internal, "the database cannot be made: \(ServerError.sentence(of: error))") }
    // Fails where the name is taken.
    guard link(unfinished, path) == 0 else {
      if errno == EEXIST { throw FreshetError(.constraint, "there is a database of this name already") }
      throw FreshetError(.internal, "the database cannot be made: \(String(cString: strerror(errno)))")
    }
    try? sync(String(folder))
  }

  private func fill(_ path: String) throws {
    // Closing checkpoints the -wal into the file, because no other process can have it open.
    let made = try Connection(path, .making, isPrivate: true)
    switch model {
    case .template(let template): try Connection(template).copy(into: made)
    case .schema(let script):
      let sql = try String(contentsOfFile: script, encoding: .utf8)
      try made.transaction { try made.run(sql) }
    }
    _ = try made.first("PRAGMA journal_mode = WAL") { $0.text(0) }
  }

  private func sync(_ path: String) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw ServerError(String(cString: strerror(errno))) }
    defer { close(file) }
    if fsync(file) != 0 { throw ServerError(String(cString: strerror(errno))) }
  }
}
