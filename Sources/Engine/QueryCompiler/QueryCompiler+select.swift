import LiveQuery
import Store

// Finds the key of a SELECT that replaces a table.
extension QueryCompiler {
  /// The columns that identify a source's rows; nil if unknown.
  func keyNames(of source: FromClause.Source) throws(FreshetError) -> [String]? {
    guard let select = source.select(in: from) else { return nil }
    switch select.key {
    case .allColumns: return try allNames(of: basePrefix, place: "key")
    case .columns(let names): return names
    case .unknown: return rowKeyNames(of: select)
    }
  }

  /// The primary key of the table whose rows a SELECT returns.
  private func rowKeyNames(of select: SelectStatement) -> [String]? {
    guard select.cores.count == 1, let clause = select.cores[0].from.flatMap({ try? FromClause($0) }),
      let first = clause.sources.first, let name = first.table, let qualifier = first.name,
      !select.commonTables.contains(where: { SQLFragment.name(of: $0.name).map { isSameName($0, name) } ?? true }),
      let key = schema.table(name)?.key, clause.sources.allSatisfy({ $0.join != .outer })
    else { return nil }
    return select.names(of: key.names, in: qualifier, isOnly: clause.sources.count == 1)
  }
}
