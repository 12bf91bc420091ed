package import LiveQuery
package import Store

/// A compiled query's statements on a follower's connection, shared by all queries of its shape.
///
/// Owner: the follower's thread.
package final class QueryStatements {
  package let compiled: CompiledQuery
  /// Statements that read the result.
  package let result: ResultStatements
  /// The mappings of each table, for each of its places in `from`.
  let mappings: [[Mapping]]
  var encoding: TextEncoding { result.encoding }
  let connection: OpaquePointer

  /// The statements of `compiled.nestedMappings`, prepared once the connection has the tables of changed rows.
  var nested: [(tables: [String], statement: PreparedStatement)]?

  /// The statements of `QueryTable.passing`, by SQL.
  var passing: [String: PreparedStatement] = [:]

  /// Finds the units of a changed row.
  struct Mapping {
    let mapping: UnitMapping
    let new: PreparedStatement?
    let old: PreparedStatement?
  }

  package init(
    _ compiled: CompiledQuery, connection: OpaquePointer, encoding: TextEncoding, transaction: ReadTransaction? = nil,
    groups: GroupTables? = nil
  ) throws(FreshetError) {
    self.compiled = compiled
    self.connection = connection
    let outer = Budget.beginQuery()
    defer { outer.end() }
    result = try ResultStatements(
      compiled.plan, connection: connection, encoding: encoding, transaction: transaction, groups: groups)
    do throws(SQLiteFailure) {
      let prepare = { (sql: String) throws(SQLiteFailure) in try PreparedStatement(bounded: sql, connection) }
      var all: [[Mapping]] = []
      for table in compiled.tables {
        var mappings: [Mapping] = []
        for mapping in table.mappings {
          var new: PreparedStatement?
          var old: PreparedStatement?
          if let sql = mapping.newSQL { new = try prepare(sql) }
          if let sql = mapping.oldSQL { old = try prepare(sql) }
          mappings.append(Mapping(mapping: mapping, new: new, old: old))
        }
        all.append(mappings)
      }
      mappings = all
    } catch { throw FreshetError(queryFailure: error, place: nil) }
    result.add(mappings.joined().flatMap { [$0.new, $0.old].compactMap(\.self) })
  }

  /// Finalizes all statements, so that the connection can be closed while queries still refer to them.
  package func close() { result.close() }
}
