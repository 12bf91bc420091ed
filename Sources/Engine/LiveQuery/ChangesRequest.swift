/// Which changes of rows a client requests: protocol 4.1.
package struct ChangesRequest: Hashable, Sendable {
  /// Names of tables; nil for all tables that the client may read.
  package var tables: [String]?
  /// The columns that changes contain, by name of the table. Changes of other tables contain all columns.
  package var columns: [String: [String]]
  /// SQL that is true for the rows whose changes are wanted, by name of the table.
  package var filters: [String: String]

  package init(tables: [String]? = nil, columns: [String: [String]] = [:], filters: [String: String] = [:]) {
    self.tables = tables
    self.columns = columns
    self.filters = filters
  }

  /// Whether the request names the table, so that the client must be sent errors that concern it.
  package func names(_ table: String) -> Bool {
    tables != nil || value(columns, table) != nil || value(filters, table) != nil
  }

  /// The query that selects the rows of a table whose changes are sent.
  ///
  /// - Parameter all: the columns of the table that the client may read; empty if SQLite decides that.
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
