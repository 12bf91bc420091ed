/// Which changes of rows a client asks for: protocol 4.1.
package struct ChangesRequest: Hashable, Sendable {
  /// Names of tables; nil: all that the client may read.
  package var tables: [String]?
  /// By name of a table, the columns that changes have; all where it is not here.
  package var columns: [String: [String]]
  /// By name of a table, SQL that is true for the rows whose changes are wanted.
  package var filters: [String: String]

  package init(tables: [String]? = nil, columns: [String: [String]] = [:], filters: [String: String] = [:]) {
    self.tables = tables
    self.columns = columns
    self.filters = filters
  }

  /// Whether it names the table, so that the client has to know of errors in it.
  package func names(_ table: String) -> Bool {
    tables != nil || value(columns, table) != nil || value(filters, table) != nil
  }

  /// The query whose rows a table's changes are of.
  ///
  /// - Parameter all: the columns that the client may read of it; empty where that is for SQLite to say.
  package func query(of table: String, columns all: [String], _ access: Query.Access) -> Query {
    let name = ChangesRequest.quoted(table)
    var query = Query(from: name)
    query.select = (value(columns, table) ?? all).map { "\(name).\(ChangesRequest.quoted($0))" }
    query.filter = value(filters, table)
    query.access = access
    return query
  }

  private func value<Value>(_ members: [String: Value], _ table: String) -> Value? {
    members[table] ?? members.first { $0.key.lowercased() == table.lowercased() }?.value
  }

  private static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
