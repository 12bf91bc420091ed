import Store

/// A file at a replica's path that no replica has made. It is a user's data, and is left as it is.
package struct ForeignFile: Error, CustomStringConvertible {
  let path: String

  package var description: String {
    """
    \(path) is not a replica's file, and is left as it is: --replicate makes a file of its own, at a path where there is none yet
    """
  }

  /// Checks whether a file is a replica's, or missing. A file that is locked, or cannot be read, passes: the code that
  /// opens it looks again.
  static func check(_ path: String) throws(ForeignFile) {
    guard FileIdentity(path: path) != nil else { return }
    do throws(SQLiteFailure) {
      if try isReplica(path) { return }
    } catch {
      if !error.isNotADatabase { return }
    }
    throw ForeignFile(path: path)
  }

  private static func isReplica(_ path: String) throws(SQLiteFailure) -> Bool {
    let location = try ReadOnlyFile.location(path)
    let connection = try Connection(location)
    let hasTable = try connection.first("SELECT 1 FROM main.sqlite_schema WHERE name = '_freshet_replica'") { _ in true
    }
    guard hasTable == true else { return false }
    return try connection.first("SELECT 1 FROM main._freshet_replica WHERE id = 1") { _ in true } == true
  }
}
