import LiveQuery
import Store

/// Stands for a table in the statements of a role that may not read all of it: a common table expression of the table's
/// name, which hides the table wherever a statement names it.
///
/// A view would see past it, to the tables themselves. So one that reads such a table has a shadow as well: its text,
/// in which names mean what they mean to the role.
struct TableShadow: Sendable {
  /// As the schema spells it.
  let name: String
  /// The operator's filter; nil: all rows.
  let filter: SQLFragment?
  private let isView: Bool
  private let isVirtual: Bool
  /// Whether some of its rows or columns are held back: a view may have a shadow for what it reads alone.
  let isRestricting: Bool
  /// Parameters in `filter`, without the sign.
  let claims: [String]
  /// Names that a view's text may use, in lower case.
  let names: Set<String>
  /// The names of its columns, in parentheses, where they are not those of `select`.
  private let columnList: String
  private let select: String
  /// The columns of a table, as SQL.
  private let columns: [String]
  /// Stands before `select` when `filter` does: in there, tables are the tables themselves.
  private let exposing: String

  /// - Parameters:
  ///   - table: with the columns that the role may not read withheld.
  ///   - shadowed: all that have a shadow.
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

  /// As one of the expressions behind WITH.
  ///
  /// - Parameters:
  ///   - filter: nil: all rows.
  ///   - isFirst: whether nothing may be evaluated for rows that the filter has not passed. Full-text tables cannot be
  ///     searched behind such a filter; theirs is evaluated when it may be.
  func expression(filter: String?, isFirst: Bool) -> String { expression(of: select, filter: filter, isFirst: isFirst) }

  /// The same over the rows of the table that a tick has found changed.
  func capturedExpression(filter: String?, isFirst: Bool) -> String {
    let quoted = quotedIdentifier(name)
    return expression(
      of: "SELECT \(columns.joined(separator: ", ")) FROM \(CapturedRows.reference(to: name)) AS \(quoted)",
      filter: filter,
      isFirst: isFirst)
  }

  /// Its changed rows with their signs, as a subquery.
  func signedBody(filter: String?) -> String {
    let list = (columns + [CapturedRows.sign]).joined(separator: ", ")
    let select = "SELECT \(list) FROM \(CapturedRows.reference(to: name)) AS \(quotedIdentifier(name))"
    return "(\(body(of: select, filter: filter, isFirst: true)))"
  }

  private func expression(of select: String, filter: String?, isFirst: Bool) -> String {
    "\(quotedIdentifier(name))\(columnList) AS (\(body(of: select, filter: filter, isFirst: isFirst)))"
  }

  private func body(of select: String, filter: String?, isFirst: Bool) -> String {
    // SQLite moves no conditions into a SELECT with a LIMIT, nor its own out of it.
    let barrier = isFirst && !isVirtual ? " LIMIT -1" : ""
    return filter.map { "\(exposing)\(select) WHERE (\($0))\(barrier)" } ?? select
  }

  /// A statement that reads at least the filter's columns.
  func filterSQL(_ filter: String) -> String {
    "\(exposing)\(isView ? select : "SELECT 1 FROM main.\(quotedIdentifier(name))") WHERE (\(filter))"
  }

  /// Makes a view of all its rows on a connection that compiles for the role.
  var viewSQL: String { "CREATE TEMP VIEW \(quotedIdentifier(name))\(columnList) AS \(select)" }

  /// The operator's filter means the tables themselves, whatever the role may read of them.
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
  /// - Throws: for a parameter that is no claim.
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
  /// Columns of a shadow that `*` does not give, as SQL: the rowid of a table without another key, and the columns that
  /// full-text search is asked by.
  var unlistedColumns: [String] {
    switch kind {
    case .table:
      guard case .rowid(let alias)? = key, !hasColumn(alias) else { return [] }
      return [alias]
    case .virtual:
      // Full-text tables have a column of their own name. It searches in all columns, including withheld ones.
      guard hiddenColumns.contains(where: { isSameName($0, name) }) else { return [] }
      return visibleColumns.count < columns.count ? ["rowid"] : ["rowid"] + hiddenColumns.map(quotedIdentifier)
    case .view, .shadow: return []
    }
  }
}
