import LiveQuery
import Store

// How changes of each table reach the result.
extension QueryCompiler {
  /// What the tables are and how they are followed.
  ///
  /// - Parameter maps: whether a changed row leads to units that can be looked up.
  mutating func follow(
    _ rows: ResultPlan.Rows, _ reads: Set<FragmentChecker.ColumnRead>, _ columns: [OutputColumn], filter: String?,
    maps: Bool
  ) throws(FreshetError) -> CompiledQuery.Following {
    var masks = masks(of: reads)
    let joins = joinMasks()
    masks.formUnion(joins)
    masks.formUnion(filterReads.masks)
    let routing = routing(filter: filter, isCaptured: rows.unit?.capturedSQL != nil)
    let nestedMappings = maps && rows.unit != nil ? nestedMappings(masks) : []
    let mapped = Set(nestedMappings.flatMap(\.tables))
    var tables: [FollowedTable] = []
    for name in masks.keys.sorted() {
      let visible = schema.table(name)
      guard let table = visible ?? checker.role.whole.table(name), table.kind != .view else { continue }
      let isLookedUp = maps && rows.unit != nil && visible != nil && (!nested.contains(name) || mapped.contains(name))
      let mappings = isLookedUp ? try mappings(of: table) : []
      tables.append(
        FollowedTable(
          table: table, aliases: aliases(of: table), sources: checker.role.whole.sources(of: table.name),
          columns: (visible?.visibleNames ?? []).filter { masks[name]!.meets(column: $0, of: table) },
          usedColumns: masks[name]!, mappings: mappings, rememberedColumns: remembered(mappings, routing),
          isVisible: visible != nil))
    }
    var joinColumns: [Int: ColumnMask] = [:]
    var choosingColumns: [Int: ColumnMask] = [:]
    let choices = try choiceMasks(joins, filter: filter)
    for (index, table) in tables.enumerated() {
      joinColumns[index] = joins[table.name.lowercased()]
      // A group may be of other rows after any change, and its bare columns those of another one.
      choosingColumns[index] = groups.isEmpty ? choices[table.name.lowercased()] : table.usedColumns
    }
    let dependencies = columns.map { column in
      let masks = self.masks(of: resolved(column.reads))
      return Dictionary(
        uniqueKeysWithValues: tables.enumerated().compactMap { index, table in
          masks[table.name.lowercased()].map { (index, $0) }
        })
    }
    return CompiledQuery.Following(
      tables: tables, dependencies: dependencies, joinColumns: joinColumns,
      choosingColumns: choosingColumns, routing: routing, nestedMappings: nestedMappings)
  }

  /// The columns whose former values tell what a row led to, or which queries had it.
  private func remembered(_ mappings: [UnitMapping], _ routing: QueryRouting?) -> [Int] {
    var columns = Set(mappings.flatMap(\.oldColumns))
    if mappings.contains(where: \.isUnit), let routing { columns.formUnion(routing.terms.map(\.index)) }
    return columns.sorted()
  }

  /// SQLite reports all that a view reads, whichever of its columns is asked for: for those, what they are made of.
  private func resolved(_ reads: Set<FragmentChecker.ColumnRead>) -> Set<FragmentChecker.ColumnRead> {
    guard case .view(let view) = unit, let name = from.sources[0].table else { return reads }
    var result: Set<FragmentChecker.ColumnRead> = []
    for read in reads where isSameName(read.table, name) {
      guard let sql = view.definitions[read.column.lowercased()] else { return reads }
      let statement = "SELECT 1 FROM \(view.definition.from.fragment.text) WHERE (\(sql)) IS NULL"
      result.formUnion((try? compile(statement, place: nil).reads) ?? reads)
    }
    return result
  }

  /// The clause through which changed rows lead to units: that of the view, when there is one.
  var mappingFrom: FromClause {
    if case .view(let view) = unit { return view.definition.from }
    return from
  }

  /// The condition on the rows of that clause.
  var mappingFilter: SQLFragment? {
    if case .view(let view) = unit { return view.definition.filter }
    guard let filter = fragments.filter, let sql = try? rewritten(filter) else { return nil }
    return try? SQLFragment(sql, place: filter.place)
  }

  /// The unit in terms of that clause.
  var mappingUnits: [String] {
    if case .view(let view) = unit { return view.expressions }
    return unitExpressions.map(\.sql)
  }

  private func aliases(of table: DatabaseSchema.Table) -> [String] {
    mappingFrom.sources.filter { $0.table.map { isSameName($0, table.name) } == true }.compactMap(\.qualifier)
  }

  /// By lower-case table name, the columns that the conditions of joins read.
  private func joinMasks() -> [String: ColumnMask] {
    guard mappingFrom.sources.count > 1 else { return [:] }
    var masks = masks(of: (try? compile("SELECT 1 FROM \(mappingFrom.fragment.text)", place: nil).reads) ?? [])
    for table in mappingFrom.sources.compactMap({ $0.table.flatMap(schema.table) }) where table.kind != .view {
      // SQLite does not report what NATURAL and USING compare.
      let named =
        mappingFrom.isNatural ? table.columnNames : table.columnNames.filter { usedNames.contains($0.lowercased()) }
      let mask = masks[table.name.lowercased()]?.rawValue ?? 0
      masks[table.name.lowercased()] = ColumnMask(rawValue: mask | table.mask(of: named).rawValue)
    }
    return masks
  }

  /// By lower-case table name, the columns that decide which of several joined rows a row of the result is made of: those that joins
  /// compare, and those that conditions read. When one of them changes, any column of the result may.
  ///
  /// - Parameter joins: the former, from `joinMasks`.
  private mutating func choiceMasks(
    _ joins: [String: ColumnMask], filter: String?
  ) throws(FreshetError) -> [String: ColumnMask] {
    guard mappingFrom.sources.count > 1 else { return [:] }
    var masks = joins
    masks.formUnion(filterReads.masks)
    var reads: Set<FragmentChecker.ColumnRead> = []
    if let filter { reads = resolved(try compile("SELECT 1 FROM \(fromSQL) WHERE (\(filter))", place: nil).reads) }
    if case .view(let view) = unit, let filter = view.definition.filter {
      let statement = "SELECT 1 FROM \(view.definition.from.fragment.text) WHERE \(filter.text)"
      reads.formUnion(try compile(statement, place: nil).reads)
    }
    masks.formUnion(self.masks(of: reads))
    return masks
  }

  /// Lower-case names in all `USING (…)`.
  private var usedNames: Set<String> {
    var names: Set<String> = []
    for source in mappingFrom.sources {
      guard let first = source.constraint.first, mappingFrom.fragment.keyword(at: first) == "USING" else { continue }
      for index in source.constraint.dropFirst() {
        if let name = mappingFrom.fragment.name(of: mappingFrom.fragment.tokens[index]) {
          names.insert(name.lowercased())
        }
      }
    }
    return names
  }

  private func mappings(of table: DatabaseSchema.Table) throws(FreshetError) -> [UnitMapping] {
    guard let key = table.key else { return [] }
    var mappings: [UnitMapping] = []
    for (index, source) in mappingFrom.sources.enumerated()
    where source.table.map({ isSameName($0, table.name) }) == true {
      if index == 0, case .baseKey = unit {
        mappings.append(
          UnitMapping(
            isUnit: true, firstParameter: 0, oldValues: [], joinColumns: ColumnMask(rawValue: 0)))
      } else {
        // Without the filter a LEFT JOIN finds a row where the client gets NULL, and that row may join others.
        let isHidden = mappingFrom.sources[..<index].contains { before in
          before.join == .left && before.table.map { filterReads.filters[$0.lowercased()] != nil } == true
        }
        if isHidden { return [] }
        mappings.append(try executed(try mapping(index, source, table, key)))
      }
    }
    return mappings
  }

  private func mapping(
    _ index: Int, _ source: FromClause.Source, _ table: DatabaseSchema.Table, _ key: TableKey
  ) throws(FreshetError) -> UnitMapping {
    let first = fragments.parameterCount + 1
    let units = mappingUnits.joined(separator: ", ")
    let qualifier = source.qualifier ?? quotedIdentifier(table.name)
    let isRow = zip(key.names, first...).map { "\(qualifier).\(quotedIdentifier($0)) \(key.equality) ?\($1)" }
    let sql = "SELECT DISTINCT \(units) FROM \(try mappingFrom.prefix(through: index) { _ in nil }) WHERE "
    let conditions = joinConditions(through: index)
    let new = sql + (isRow + conditions).joined(separator: " AND ")
    try compile(new, place: nil)
    var mapping = UnitMapping(
      isUnit: false, newSQL: new, firstParameter: Int32(first), oldValues: [],
      joinColumns: .all)
    let reads = try joinReads(index, conditions)
    let columns = joinColumns(table, reads)
    if let columns { mapping.joinColumns = table.mask(of: columns) }
    if !isJoinedByHiddenRowid(table, key, reads) {
      setOld(&mapping, index, source, table, key, columns ?? table.columnNames, conditions)
    }
    return mapping
  }

  /// Whether conditions read a rowid that is not the key: its former value is not known, and SQLite takes that of a subquery for
  /// NULL.
  private func isJoinedByHiddenRowid(
    _ table: DatabaseSchema.Table, _ key: TableKey, _ reads: Set<FragmentChecker.ColumnRead>
  ) -> Bool {
    guard case .columns = key else { return false }
    return reads.contains {
      isSameName($0.table, table.name) && TableKey.isRowidName($0.column) && !table.hasColumn($0.column)
    }
  }

  /// The columns of a table by which what it leads to is found; nil for all of them.
  private func joinColumns(
    _ table: DatabaseSchema.Table, _ reads: Set<FragmentChecker.ColumnRead>
  ) -> [String]? {
    if mappingFrom.isNatural { return nil }
    let names = reads.filter { isSameName($0.table, table.name) }.map(\.column)
    let using = table.columnNames.filter { usedNames.contains($0.lowercased()) }
    return table.columnNames.filter { column in (names + using).contains { isSameName($0, column) } }
  }

  /// What is read to find what a row of a source leads to.
  private func joinReads(
    _ index: Int, _ conditions: [String]
  ) throws(FreshetError) -> Set<FragmentChecker.ColumnRead> {
    let prefix = try mappingFrom.prefix(through: index) { _ in nil }
    let end = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    var reads = try compile("SELECT 1 FROM \(prefix)\(end)", place: nil).reads
    if index == 0 {
      // Groups and views are found by what the first table's row makes of itself.
      for unit in mappingUnits { reads.formUnion(try compile("SELECT (\(unit)) FROM \(prefix)", place: nil).reads) }
    }
    return reads
  }

  /// The conditions of WHERE that join the clause's sources up to one: `FROM a, b WHERE b.x = a.x` is `FROM a JOIN b ON b.x = a.x`. Without
  /// them a row of `b` would lead to every row of `a`.
  ///
  /// Conditions that read the right side of a LEFT JOIN are left out: a row that fails one still takes the place of the row with NULL.
  private func joinConditions(through index: Int) -> [String] {
    guard index > 0, let filter = mappingFilter, !mappingFrom.joinsByName(before: mappingFrom.sources.count),
      let prefix = try? mappingFrom.prefix(through: index, { _ in nil })
    else { return [] }
    let sources = mappingFrom.sources[...index]
    guard sources.allSatisfy({ $0.table.flatMap(schema.table)?.kind == .table && $0.join != .outer }) else { return [] }
    return filter.conjuncts.compactMap { part in
      guard !filter.hasSubquery(in: part), !part.contains(where: { filter.tokens[$0].kind == .parameter }) else {
        return nil
      }
      let read = self.sources(namedIn: filter, part)
      let sql = "(\(filter.text(of: part)))"
      guard read.count > 1, read.allSatisfy({ $0 <= index && mappingFrom.sources[$0].join == .inner }),
        (try? compile("SELECT 1 FROM \(prefix) WHERE \(sql)", place: nil)) != nil
      else { return nil }
      return sql
    }
  }

  /// The sources that may have the columns which some tokens name.
  private func sources(namedIn fragment: SQLFragment, _ range: Range<Int>) -> Set<Int> {
    var found: Set<Int> = []
    for token in range {
      guard let name = fragment.name(of: fragment.tokens[token]) else { continue }
      let isQualified = token > 1 && fragment.text(of: fragment.tokens[token - 1]) == "."
      let qualifier = isQualified ? fragment.name(of: fragment.tokens[token - 2]) : nil
      for (index, source) in mappingFrom.sources.enumerated() {
        guard let table = source.table.flatMap(schema.table) else { continue }
        if let qualifier, !isSameName(qualifier, source.name ?? "") { continue }
        if table.hasColumn(name) || TableKey.isRowidName(name) { found.insert(index) }
      }
    }
    return found
  }

  /// The units that the row led to: the clause with the row's old values in the table's place. They have the columns'
  /// affinities and collations from a SELECT of none of the table's rows, and the LIMIT keeps SQLite from taking the two
  /// apart.
  private func setOld(
    _ mapping: inout UnitMapping, _ index: Int, _ source: FromClause.Source, _ table: DatabaseSchema.Table,
    _ key: TableKey, _ columns: [String], _ conditions: [String]
  ) {
    guard let storage = table.storage else { return }
    var names = key.names
    mapping.oldValues = key.names.indices.map { .key($0) }
    for column in columns where !names.contains(where: { isSameName($0, column) }) {
      guard let position = table.columnNames.firstIndex(of: column) else { continue }
      // What is computed when it is read is not stored, and so not remembered.
      if storage.fields[position] == nil { return }
      names.append(column)
      mapping.oldValues.append(.column(position))
    }
    // A subquery without a column that is named as a rowid has NULL for it, where any other name would be an error.
    let isMistakable = TableKey.rowidNames.contains { name in
      table.hasColumn(name) && !names.contains { isSameName($0, name) }
    }
    if isMistakable { return }
    let aliases = key.otherNames(in: table)
    let columns =
      (names.map(quotedIdentifier) + aliases.map { "\(quotedIdentifier(names[0])) AS \($0)" }).joined(separator: ", ")
    let values = (Array(names.indices) + aliases.map { _ in 0 }).map { "?\(Int(mapping.firstParameter) + $0)" }
      .joined(separator: ", ")
    let stored = "SELECT 1 AS _freshet_old, \(columns) FROM \(reference(to: table)) WHERE 0"
    let row = "(\(stored) UNION ALL SELECT 1, \(values) LIMIT 2)"
    let body = source.isNamed ? row : "\(row) AS \(source.qualifier ?? "")"
    guard
      let prefix = try? mappingFrom.prefix(
        through: index, { token in source.body.contains(token) ? (token == source.body.lowerBound ? body : "") : nil })
    else { return }
    let units = mappingUnits.joined(separator: ", ")
    let conditions = ["\(source.qualifier ?? "")._freshet_old IS NOT NULL"] + conditions
    let sql = "SELECT DISTINCT \(units) FROM \(prefix) WHERE \(conditions.joined(separator: " AND "))"
    if (try? compile(sql, place: nil)) != nil { mapping.oldSQL = sql }
  }
}

extension TableKey {
  /// The other names that a rowid goes by where it is the key.
  fileprivate func otherNames(in table: DatabaseSchema.Table) -> [String] {
    guard case .rowid(let alias) = self else { return [] }
    return TableKey.rowidNames.filter { !isSameName($0, alias) && !table.hasColumn($0) }
  }

  /// The operator that finds a row by its key.
  fileprivate var equality: String {
    if case .rowid = self { return "=" }
    return "IS"
  }
}

extension ColumnMask {
  fileprivate func meets(column: String, of table: DatabaseSchema.Table) -> Bool {
    intersects(table.mask(of: [column]))
  }
}
