package import LiveQuery

/// A compiled query's statements on a follower's connection, shared by all queries of its shape.
///
/// Owner: the follower's thread. Mutable state: `owner`, the query whose parameters are bound; `batch`, prepared when it is needed;
/// and `isClosed`.
package final class QueryStatements {
  package let compiled: CompiledQuery
  let encoding: TextEncoding
  let scan: PreparedStatement
  let single: PreparedStatement?
  /// By table, then by place in `from`.
  let mappings: [[Mapping]]
  let alongside: [PreparedStatement]
  @exclusivity(unchecked) private var owner: ObjectIdentifier?
  /// Whether the connection is closed, and with it the statements.
  @exclusivity(unchecked) private(set) var isClosed = false
  private let connection: OpaquePointer
  /// Looks up `batchSize` units at once.
  @exclusivity(unchecked) private(set) var batch: PreparedStatement?
  @exclusivity(unchecked) private var mayBatch = true

  /// What finds the units of a changed row.
  struct Mapping {
    let mapping: UnitMapping
    let new: PreparedStatement?
    let old: PreparedStatement?
  }

  package init(
    _ compiled: CompiledQuery, connection: OpaquePointer, encoding: TextEncoding
  ) throws(FreshetError) {
    self.compiled = compiled
    self.connection = connection
    self.encoding = encoding
    let outer = Budget.beginQuery()
    defer { outer.end() }
    do throws(SQLiteFailure) {
      let prepare = { (sql: String) throws(SQLiteFailure) in try PreparedStatement(bounded: sql, connection) }
      scan = try prepare(compiled.scanSQL)
      if let unit = compiled.unit { single = try prepare(unit.rowSQL) } else { single = nil }
      var alongside: [PreparedStatement] = []
      for value in compiled.alongside { alongside.append(try prepare(value.sql)) }
      self.alongside = alongside
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
  }

  /// To be called before parameters are bound.
  ///
  /// - Returns: whether there is `batch`.
  func prepareBatch() -> Bool {
    guard batch == nil, mayBatch else { return batch != nil }
    // What does not compile in this company, as a plain `rowid` does not, is looked up one by one.
    batch = compiled.unit?.batchSQL.flatMap { try? PreparedStatement(bounded: $0, connection) }
    mayBatch = batch != nil
    owner = nil
    return mayBatch
  }

  /// Binds a query's parameters, unless they are bound already.
  func bind(_ parameters: [SQLValue], of owner: AnyObject) {
    limitValues()
    if self.owner == ObjectIdentifier(owner) { return }
    self.owner = ObjectIdentifier(owner)
    for statement in all {
      let count = statement.parameterCount
      for (index, value) in parameters.enumerated() where index < count { statement.bind(value, at: Int32(index + 1)) }
    }
  }

  /// To be called before statements run.
  func limitValues() { ConnectionLimits.setValue(compiled.longestValue, of: connection) }

  private var all: [PreparedStatement] {
    [scan] + alongside + [single, batch].compactMap(\.self)
      + mappings.joined().flatMap { [$0.new, $0.old].compactMap(\.self) }
  }

  /// Ends all statements, so that the connection can be closed while queries still refer to them: those can be read again
  /// once they have others.
  package func close() {
    isClosed = true
    for statement in all { statement.close() }
  }

  /// To be called when a query that may have bound its parameters goes: another may get its address.
  package func forget(_ owner: AnyObject) {
    if self.owner == ObjectIdentifier(owner) { self.owner = nil }
  }
}
