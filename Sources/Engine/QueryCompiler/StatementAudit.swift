import CSQLite
import LiveQuery
import Store

/// Records the reads of one statement from SQLite's authorizer, and decides which are allowed.
///
/// Owner: the thread of the `FragmentChecker`. Mutable state: everything that one compilation reads, emptied before the
/// next one; `purpose`, `filterReaders` and `modules`, which the checker sets.
final class StatementAudit {
  private var columns: Set<FragmentChecker.ColumnRead> = []
  /// Tables whose stand-in the statement names: it depends on their rows even if it reads none of their columns.
  private var named: Set<String> = []
  /// Views and common table expressions that read something.
  var readers: Set<String> = []
  var weight = StatementWeight()
  var denial: FreshetError?
  /// The statement is the checker's own.
  var isTrusted = false
  /// The query may depend on time and chance.
  var mayChange = false
  var purpose = Purpose.asking
  /// The tables that the client may see.
  let role: RoleSchema
  /// Views that filters read, in lower case.
  var filterReaders: Set<String> = []
  /// Lower-case names of all modules of virtual tables. Some can be read without having been created.
  var modules: Set<String> = []

  enum Purpose {
    /// A client's SQL, with temporary views in the place of the tables that have a shadow.
    case asking
    /// The statement to run, with the shadows in front.
    case executing
    /// The operator's own words.
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

  /// - Returns: false for reads that the statement's author did not ask for.
  /// - Throws: the error in it.
  private func admits(
    _ read: FragmentChecker.ColumnRead, database: String, reader: String
  ) throws(FreshetError) -> Bool {
    let isShadowed = database == "main" && role.shadows[read.table.lowercased()] != nil
    switch purpose {
    case .filtering:
      if role.whole.table(read.table) != nil { return true }
    case .asking:
      // The text of the view that stands for the table; without a column, the view as written out.
      if isShadowed, isSameName(reader, read.table) || read.column.isEmpty {
        // SQLite may report no other read of it: for count(*) it flattens the view, and no column is left.
        named.insert(read.table)
        return false
      }
      if isShadowed { throw notThere(read.table) }
    case .executing:
      // A name without a shadow means the table itself when the statement runs.
      if database == "temp" { throw notThere(read.table) }
      // Shadows alone read what the role may not, for their filters.
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

  /// Whether a table that is read for its number of rows alone is none of the file's: a WITH clause has made it.
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

/// SQLite's authorizer: a query selects, reads tables of the schema and calls functions of the list; nothing else.
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
