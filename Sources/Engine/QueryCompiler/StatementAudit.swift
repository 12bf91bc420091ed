import CSQLite
import LiveQuery
import Store

/// Records the reads of one statement from SQLite's authorizer, and decides which are allowed.
///
/// Owner: the thread of the `FragmentChecker`. Mutable state: everything that one compilation reads, which is emptied
/// before the next compilation; `purpose`, `filterReaders` and `modules`, which the checker sets.
final class StatementAudit {
  private var columns: Set<FragmentChecker.ColumnRead> = []
  /// Tables whose stand-in the statement names. It depends on their rows even if it reads none of their columns.
  private var named: Set<String> = []
  /// Views and common table expressions that read columns.
  var readers: Set<String> = []
  var weight = StatementWeight()
  var denial: FreshetError?
  /// Whether the statement is the checker's own.
  var isTrusted = false
  /// Whether the query may depend on time and random numbers.
  var mayChange = false
  var purpose = Purpose.asking
  /// The tables that the client may see.
  let role: RoleSchema
  /// Views that filters read, in lower case.
  var filterReaders: Set<String> = []
  /// Lower-case names of all modules of virtual tables. Some modules can be read without creating a table.
  var modules: Set<String> = []

  enum Purpose {
    /// A client's SQL is compiled, with temporary views in place of the tables that have a shadow.
    case asking
    /// The statement to run is compiled, with the shadows in front.
    case executing
    /// The operator's own SQL is compiled.
    case filtering
  }

  init(_ role: RoleSchema) { self.role = role }

  func begin(_ purpose: Purpose, mayChange: Bool) {
    columns = []
    named = []
    readers = []
    weight = StatementWeight()
    denial = nil
    self.mayChange = mayChange
    self.purpose = purpose
  }

  /// The columns that the statement reads.
  var reads: Set<FragmentChecker.ColumnRead> {
    columns.union(named.subtracting(columns.map(\.table)).map { .init(table: $0, column: "") })
  }

  /// - Parameter reader: the view or common table expression that reads it; empty for the statement itself.
  fileprivate func authorize(_ read: FragmentChecker.ColumnRead, database: String, reader: String) -> Int32 {
    do throws(FreshetError) {
      guard try admits(read, database: database, reader: reader) else { return SQLITE_OK }
    } catch { return deny(error) }
    columns.insert(read)
    if !reader.isEmpty { readers.insert(reader.lowercased()) }
    return counts { (weight) throws(FreshetError) in try weight.addColumn(of: read.table) }
  }

  /// - Returns: false for reads that the statement's author did not write.
  /// - Throws: the error if the read is not allowed.
  private func admits(
    _ read: FragmentChecker.ColumnRead, database: String, reader: String
  ) throws(FreshetError) -> Bool {
    let isShadowed = database == "main" && role.shadows[read.table.lowercased()] != nil
    switch purpose {
    case .filtering:
      if role.whole.table(read.table) != nil { return true }
    case .asking:
      // The view that replaces the table reads it. A read without a column is of the view as it was expanded.
      if isShadowed, isSameName(reader, read.table) || read.column.isEmpty {
        // The table is noted, because SQLite may report no other read of it: for count(*) it flattens the view, and
        // reads no column.
        named.insert(read.table)
        return false
      }
      if isShadowed { throw notThere(read.table) }
    case .executing:
      // When the statement runs, a name without a shadow means the table itself.
      if database == "temp" { throw notThere(read.table) }
      // Only shadows may read what the role may not read, for their filters.
      let reader = reader.lowercased()
      if role.shadows[reader] != nil || filterReaders.contains(reader) { return false }
      if isShadowed, !read.column.isEmpty { throw notThere(read.table) }
    }
    if role.visible.table(read.table) != nil || AllowedFunctions.tables.contains(read.table.lowercased()) {
      return true
    }
    if read.column.isEmpty, isCommonTable(read.table) { return false }
    throw notThere(read.table)
  }

  private func notThere(_ table: String) -> FreshetError {
    role.isRestricted
      ? FreshetError(.noSuchTable, "no such table: \(table)")
      : FreshetError(.notAllowed, "the table \(table) is not served")
  }

  /// Whether a name whose columns are not read is not that of a table of the file, but that of a common table
  /// expression.
  private func isCommonTable(_ name: String) -> Bool {
    role.whole.table(name) == nil && !modules.contains(name.lowercased())
      && !["sqlite_", "pragma_", ReservedNames.prefix].contains { hasNamePrefix(name, $0) }
  }

  fileprivate func authorize(call function: String) -> Int32 {
    let isChanging = AllowedFunctions.changing.contains(function)
    let isOwn = purpose == .executing && hasNamePrefix(function, ReservedNames.prefix)
    if AllowedFunctions.names.contains(function) || isOwn || (isChanging && mayChange) {
      return counts { (weight) throws(FreshetError) in try weight.addCall(of: function) }
    }
    let remedy = isChanging ? ": it gives another result every time; give the query a refreshEvery, in seconds" : ""
    return deny(FreshetError(.notAllowed, "the function \(function) is not allowed\(remedy)"))
  }

  fileprivate func deny(_ error: FreshetError) -> Int32 {
    denial = error
    return SQLITE_DENY
  }

  private func counts(_ count: (inout StatementWeight) throws(FreshetError) -> Void) -> Int32 {
    do throws(FreshetError) { try count(&weight) } catch { return deny(error) }
    return sqlite_budget_work(1) == 0 ? SQLITE_OK : SQLITE_DENY
  }
}

/// SQLite's authorizer for queries: they may only select, read tables of the schema, and call functions of the list.
func authorizeStatement(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?, _ reader: UnsafePointer<CChar>?
) -> Int32 {
  guard let context else { return SQLITE_DENY }
  let audit = Unmanaged<StatementAudit>.fromOpaque(context).takeUnretainedValue()
  if audit.isTrusted { return SQLITE_OK }
  let name = { (text: UnsafePointer<CChar>?) in text.map { String(cString: $0) } ?? "" }
  switch action {
  case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
  case SQLITE_READ:
    return audit.authorize(
      .init(table: name(first), column: name(second)), database: name(database), reader: name(reader))
  case SQLITE_FUNCTION: return audit.authorize(call: name(second).lowercased())
  default: return audit.deny(FreshetError(.notAllowed, "a query may do nothing but read"))
  }
}
