import LiveQuery
import Store

// Joins between the sources of FROM, through which changed rows lead to units.
extension QueryCompiler {
  /// The columns that conditions of joins read, by lower-case name of the table.
  func joinMasks() -> [String: ColumnMask] {
    guard from.sources.count > 1 else { return [:] }
    var masks = masks(of: (try? compile("SELECT 1 FROM \(fromSQL)", place: nil).reads) ?? [])
    for table in from.sources.compactMap({ $0.table.flatMap(schema.table) }) where table.kind != .view {
      // The columns that NATURAL and USING compare, which SQLite does not report.
      let named =
        from.isNatural ? table.columnNames : table.columnNames.filter { usedNames.contains($0.lowercased()) }
      let mask = masks[table.name.lowercased()]?.rawValue ?? 0
      masks[table.name.lowercased()] = ColumnMask(rawValue: mask | table.mask(of: named).rawValue)
    }
    return masks
  }

  /// The columns that decide which joined rows make a row of the result, by lower-case name of the table: columns that
  /// joins compare, and columns that conditions read. If one of them changes, any column of the result may change.
  ///
  /// - Parameter joins: the columns that joins compare, from `joinMasks`.
  mutating func choiceMasks(
    _ joins: [String: ColumnMask], filter: String?
  ) throws(FreshetError) -> [String: ColumnMask] {
    guard from.sources.count > 1 else { return [:] }
    var masks = joins
    masks.formUnion(filterReads.masks)
    var reads: Set<FragmentChecker.ColumnRead> = []
    if let filter { reads = try compile("SELECT 1 FROM \(fromSQL) WHERE (\(filter))", place: nil).reads }
    masks.formUnion(self.masks(of: reads))
    return masks
  }

  /// Lower-case names in all `USING (…)`.
  private var usedNames: Set<String> {
    var names: Set<String> = []
    for source in from.sources {
      guard let first = source.constraint.first, from.fragment.keyword(at: first) == "USING" else { continue }
      for index in source.constraint.dropFirst() {
        if let name = from.fragment.name(of: from.fragment.tokens[index]) {
          names.insert(name.lowercased())
        }
      }
    }
    return names
  }

  /// Whether conditions read a rowid that is not the key. Its former value is unknown, and SQLite uses NULL for the
  /// rowid of a subquery.
  func isJoinedByHiddenRowid(
    _ table: DatabaseSchema.Table, _ key: TableKey, _ reads: Set<FragmentChecker.ColumnRead>
  ) -> Bool {
    guard case .columns = key else { return false }
    return reads.contains {
      isSameName($0.table, table.name) && TableKey.isRowidName($0.column) && !table.hasColumn($0.column)
    }
  }

  /// The columns of a table that decide which units its rows lead to; nil for all columns.
  func joinColumns(
    _ table: DatabaseSchema.Table, _ reads: Set<FragmentChecker.ColumnRead>
  ) -> [String]? {
    if from.isNatural { return nil }
    let names = reads.filter { isSameName($0.table, table.name) }.map(\.column)
    let using = table.columnNames.filter { usedNames.contains($0.lowercased()) }
    return table.columnNames.filter { column in (names + using).contains { isSameName($0, column) } }
  }

  /// Columns that are read to find the units of a source's row.
  func joinReads(
    _ index: Int, _ conditions: [String]
  ) throws(FreshetError) -> Set<FragmentChecker.ColumnRead> {
    let prefix = try from.prefix(through: index) { _ in nil }
    let end = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    var reads = try compile("SELECT 1 FROM \(prefix)\(end)", place: nil).reads
    if index == 0 {
      // If units are groups or rows of a view, expressions of the first table's row give its unit.
      for unit in unitExpressions.map(\.sql) {
        reads.formUnion(try compile("SELECT (\(unit)) FROM \(prefix)", place: nil).reads)
      }
    }
    return reads
  }

  /// The conditions of WHERE that join the sources of FROM up to an index: `FROM a, b WHERE b.x = a.x` means `FROM a
  /// JOIN b ON b.x = a.x`. Without them a row of `b` would lead to every row of `a`.
  ///
  /// Conditions that read the right side of a LEFT JOIN are left out: a row that fails such a condition still replaces
  /// the row with NULL.
  ///
  /// - Parameter clause: FROM up to this index.
  func joinConditions(through index: Int, _ clause: String) -> [String] {
    guard index > 0, let filter = writtenFilter, !from.joinsByName(before: from.sources.count) else { return [] }
    let areKnown = from.sources[...index].enumerated().allSatisfy { index, source in
      let table = source.table.flatMap(schema.table)
      return (derived[index] != nil || table?.kind == .table || table?.isSearch == true) && source.join != .outer
    }
    if !areKnown { return [] }
    return filter.conjuncts.compactMap { part in
      guard !filter.hasSubquery(in: part), !part.contains(where: { filter.tokens[$0].kind == .parameter }) else {
        return nil
      }
      let read = self.sources(namedIn: filter, part)
      let sql = "(\(filter.text(of: part)))"
      guard read.count > 1, read.allSatisfy({ $0 <= index && from.sources[$0].join == .inner }),
        (try? compile("SELECT 1 FROM \(clause) WHERE \(sql)", place: nil)) != nil
      else { return nil }
      return sql
    }
  }

  /// The sources that may have the columns that some tokens name.
  func sources(namedIn fragment: SQLFragment, _ range: Range<Int>) -> Set<Int> {
    var found: Set<Int> = []
    for token in range {
      guard let name = fragment.name(of: fragment.tokens[token]) else { continue }
      let isQualified = token > 1 && fragment.text(of: fragment.tokens[token - 1]) == "."
      let qualifier = isQualified ? fragment.name(of: fragment.tokens[token - 2]) : nil
      for (index, source) in from.sources.enumerated() {
        guard let table = source.table.flatMap(schema.table) else { continue }
        if let qualifier, !isSameName(qualifier, source.name ?? "") { continue }
        if table.hasColumn(name) || TableKey.isRowidName(name) { found.insert(index) }
      }
    }
    return found
  }
}
