import CSQLite
package import LiveQuery

/// Checks whether statements for the writer would compile in a database, without running them.
package struct StatementCheck: ~Copyable {
  private let opened: Connection
  private var connection: OpaquePointer { opened.raw }
  private let audit = WriteAudit()

  /// - Parameter path: what `ReadOnlyFile.location` returns for the database's path.
  package init(path: String) throws(SQLiteFailure) {
    opened = try Connection(path)
    setAuthorizer()
  }

  private func setAuthorizer() {
    sqlite3_set_authorizer(connection, authorizeWrite, Unmanaged.passUnretained(audit).toOpaque())
  }

  /// - Returns: the error in a statement; nil if it compiles.
  package func problem(_ sql: String) -> FreshetError? {
    do throws(FreshetError) {
      let checked = try WriteStatement(sql, place: "sql")
      do throws(SQLiteFailure) {
        _ = try checked.compiled(on: connection, audit) { compile in
          sqlite3_set_authorizer(connection, nil, nil)
          compile()
          setAuthorizer()
        }
      } catch {
        throw FreshetError(writeFailure: error)
      }
      return nil
    } catch { return error }
  }
}
