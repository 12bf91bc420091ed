import LiveQuery
import Store

/// Replaces a table in the statements of a role that may not read all of it. It is a common table expression with the
/// table's name, which hides the table wherever a statement names it.
///
/// It does not hide the table from views, which read the tables themselves. So a view that reads such a table has a
/// shadow as well: the view's text, in which names mean what they mean to the role.
struct TableShadow: Sendable {
  /// The table's name as the schema spells it.
  let name: String
  /// The operator's filter; nil if all rows may be read.
  let filter: SQLFragment?
  private let isView: Bool
  private let isVirtual: Bool
  /// Whether some of its rows or columns may not be read. The shadow of a view may be needed only for the tables that
  /// it reads.
  let isRestricting: Bool
  /// Parameters in `filter`, without the sign.
  let claims: [String]
  /// Names that a view's text may use, in lower case.
  let names: Set<String>
  /// The names of the columns, in parentheses, if they differ from those of `select`.
  private let columnList: String
  private let select: String
  /// The columns of a table, as SQL.
  private let columns: [String]
  /// SQL that precedes `select` if `filter` follows it. Within it, names of tables mean the tables themselves.
  private let exposing: String

  /// - Parameters:
  ///   - table: the table, without the columns that the role may not read.
  ///   - shadowed: all tables and views that have a shadow.
  /// - Throws: the error in the rule.
  init(
    _ table: DatabaseSchema.Table, _ rule: AccessRules.Table?, shadowed: [DatabaseSchema.Table]
  ) throws(FreshetError) {
    name = table.name
    isView = table.kind == .view
    isVirtual = table.kind == .virtual
    isRestricting = rule?.isRestricting == true
    if let rows = rule?.rows {
      let fragment = try SQLFragment(rows, place: "the rows of \(table.name)")
      try FragmentRules.check(fragment, mayChange: false)
      filter = fragment
      claims = try fragment.claims()
    } else {
      filter = nil
      claims = []
    }
    let quoted = quotedIdentifier(table.name)
    if table.kind == .view {
      let view = ViewText(table.definition ?? "")
      names = view.names
      columns = []
      exposing = ""
      if isRestricting {
        let list = rule?.columns == nil ? "*" : table.visibleNames.map(quotedIdentifier).joined(separator: ", ")
        select = "WITH \(quoted)\(view.columnList) AS (\(view.select)) SELECT \(list) FROM \(quoted)"
        columnList = ""
      } else {
        select = view.select
        columnList = view.columnList
      }
    } else {
      names = []
      columns = table.visibleNames.map(quotedIdentifier) + table.unlistedColumns
      select = "SELECT \(columns.joined(separator: ", ")) FROM main.\(quoted)"
      columnList = ""
      exposing = filter.map { TableShadow.exposing($0, shadowed) } ?? ""
    }
  }

  /// The shadow as one of the common table expressions of WITH.
  ///
  /// - Parameters:
  ///   - filter: the filter; nil for all rows.
  ///   - isFirst: whether the filter must be evaluated before any other expression. Full-text tables cannot be searched
  ///     behind such a filter, so their filter is evaluated in any order.
  func expression(filter: String?, isFirst: Bool) -> String { expression(of: select, filter: filter, isFirst: isFirst) }

  /// As above, but over the rows of the table that a tick has found changed.
  func capturedExpression(filter: String?, isFirst: Bool) -> String {
    let quoted = quotedIdentifier(name)
    return expression(
      of: "SELECT \(columns.joined(separator: ", ")) FROM \(CapturedRows.reference(to: name)) AS \(quoted)",
      filter: filter,
      isFirst: isFirst)
  }

  /// The table's changed rows with their signs, as a subquery.
  func signedBody(filter: String?) -> String {
    let list = (columns + [CapturedRows.sign]).joined(separator: ", ")
    let select = "SELECT \(list) FROM \(CapturedRows.reference(to: name)) AS \(quotedIdentifier(name))"
    return "(\(body(of: select, filter: filter, isFirst: true)))"
  }

  private func expression(of select: String, filter: String?, isFirst: Bool) -> String {
    "\(quotedIdentifier(name))\(columnList) AS (\(body(of: select, filter: filter, isFirst: isFirst)))"
  }

  private func body(of select: String, filter: String?, isFirst: Bool) -> String {
    // With LIMIT, SQLite moves no conditions into the SELECT, and none out of it.
    let barrier = isFirst && !isVirtual ? " LIMIT -1" : ""
    return filter.map { "\(exposing)\(select) WHERE (\($0))\(barrier)" } ?? select
  }

  /// A statement that reads at least the filter's columns.
  func filterSQL(_ filter: String) -> String {
    "\(exposing)\(isView ? select : "SELECT 1 FROM main.\(quotedIdentifier(name))") WHERE (\(filter))"
  }

  /// SQL that creates a view of all of its rows, on a connection that compiles for the role.
  var viewSQL: String { "CREATE TEMP VIEW \(quotedIdentifier(name))\(columnList) AS \(select)" }

  /// SQL that makes names in the operator's filter mean the tables themselves, whatever the role may read of them.
  private static func exposing(_ filter: SQLFragment, _ shadowed: [DatabaseSchema.Table]) -> String {
    guard filter.hasSubquery else { return "" }
    let names = Set(filter.tokens.map { filter.unquoted($0).lowercased() })
    let hasRowid = names.contains(where: TableKey.isRowidName)
    let tables = shadowed.filter { names.contains($0.name.lowercased()) }
    let expressions = tables.map { table in
      let rowid = hasRowid ? table.unlistedColumns.map { ", \($0)" }.joined() : ""
      return "\(quotedIdentifier(table.name)) AS (SELECT *\(rowid) FROM main.\(quotedIdentifier(table.name)))"
    }
    return expressions.isEmpty ? "" : "WITH \(expressions.joined(separator: ", ")) "
  }
}

extension SQLFragment {
  /// The names of its parameters.
  ///
  /// - Throws: if a parameter is not a claim.
  fileprivate func claims() throws(FreshetError) -> [String] {
    var claims: Set<String> = []
    for token in tokens where token.kind == .parameter {
      let name = String(text(of: token).dropFirst())
      guard Query.Access.isClaim(name) else {
        throw .badQuery("\(place): the parameter \(text(of: token)) is no claim: those are named :claims_…")
      }
      claims.insert(name)
    }
    return claims.sorted()
  }
}

extension DatabaseSchema.Table {
  /// Columns of a shadow that `*` does not include, as SQL: the rowid of a table without another key, and the hidden
  /// columns that full-text queries use.
  var unlistedColumns: [String] {
    switch kind {
    case .table:
      guard case .rowid(let alias)? = key, !hasColumn(alias) else { return [] }
      return [alias]
    case .virtual:
      // A full-text table has a column with its own name. It searches all columns, including withheld ones.
      guard hiddenColumns.contains(where: { isSameName($0, name) }) else { return [] }
      return visibleColumns.count < columns.count ? ["rowid"] : ["rowid"] + hiddenColumns.map(quotedIdentifier)
    case .view, .shadow: return []
    }
  }
}
