import LiveQuery
import Store

// Finds how changes of each table reach the result.
extension QueryCompiler {
  /// The query's tables, and how they are followed.
  ///
  /// - Parameter maps: whether a changed row leads to units that can be looked up.
  mutating func trace(
    _ rows: ResultPlan.Rows, _ reads: Set<FragmentChecker.ColumnRead>, _ columns: [OutputColumn], filter: String?,
    maps: Bool
  ) throws(FreshetError) -> CompiledQuery.Following {
    var masks = masks(of: reads)
    let mappers = self.mappers
    var joins: [String: ColumnMask] = [:]
    for mapper in mappers { joins.formUnion(mapper.joinMasks()) }
    masks.formUnion(joins)
    masks.formUnion(filterReads.masks)
    let read = masks
    for mapper in mappers { masks.formUnion(mapper.unitMasks) }
    let routing = scalarCount > 0 ? nil : routing(filter: filter, isCaptured: rows.unit?.capturedSQL != nil)
    var nestedMappings = maps && rows.unit != nil ? mappers.nestedMappings(masks, except: unmapped) : []
    let mapped = Set(nestedMappings.flatMap(\.tables))
    lazy var passing = query.refreshEvery == nil ? self.passing() : [:]
    var tables: [QueryTable] = []
    for name in masks.keys.sorted() {
      let visible = schema.table(name)
      guard let table = visible ?? checker.role.whole.table(name), table.kind != .view else { continue }
      let isLookedUp = maps && rows.unit != nil && visible != nil && (!nested.contains(name) || mapped.contains(name))
      let mappings = isLookedUp ? try mappers.mappings(of: table) : []
      // If FROM cannot map changes of the table, its changes must not be mapped only through subqueries.
      if mappings == nil { nestedMappings.removeAll { $0.tables.contains(name) } }
      tables.append(
        QueryTable(
          table: table, aliases: mappers.flatMap { $0.aliases(of: table) },
          sources: checker.role.whole.sources(of: table.name),
          columns: (visible?.visibleNames ?? []).filter { read[name]?.meets(column: $0, of: table) == true },
          usedColumns: masks[name]!, mappings: mappings ?? [], rememberedColumns: remembered(mappings ?? [], routing),
          passing: mappings?.isEmpty == false || mapped.contains(name) ? [] : passing[name] ?? [],
          isVisible: visible != nil))
    }
    var joinColumns: [Int: ColumnMask] = [:]
    var choosingColumns: [Int: ColumnMask] = [:]
    let choices = inner == nil ? try choiceMasks(joins, filter: filter) : [:]
    for (index, table) in tables.enumerated() {
      joinColumns[index] = joins[table.name.lowercased()]
      // After any change a group may have other rows, so that its bare columns may come from another row. This applies
      // to partitions too.
      choosingColumns[index] =
        groups.isEmpty && !hasWindow && inner == nil ? choices[table.name.lowercased()] : table.usedColumns
    }
    let dependencies = columns.map { column in
      let masks = self.masks(of: column.reads)
      return Dictionary(
        uniqueKeysWithValues: tables.enumerated().compactMap { index, table in
          masks[table.name.lowercased()].map { (index, $0) }
        })
    }
    return CompiledQuery.Following(
      tables: tables, dependencies: dependencies, joinColumns: joinColumns,
      choosingColumns: choosingColumns, routing: routing, nestedMappings: nestedMappings, relation: relation())
  }

  /// The first table's columns that are the unit, even if the query reads none of them: if one of them changes, the row
  /// becomes another unit.
  private var unitMasks: [String: ColumnMask] {
    guard case .baseKey(let names) = unit, let table = from.sources.first?.table.flatMap(schema.table) else {
      return [:]
    }
    return [table.name.lowercased(): table.mask(of: names)]
  }

  /// The columns whose former values determine a row's former units, or the queries that had the row.
  private func remembered(_ mappings: [UnitMapping], _ routing: QueryRouting?) -> [Int] {
    var columns = Set(mappings.flatMap(\.oldColumns))
    if mappings.contains(where: \.isUnit), let routing { columns.formUnion(routing.terms.map(\.index)) }
    return columns.sorted()
  }

  /// The SELECTs whose clauses map changed rows to units: the query itself, or the SELECTs inside the subquery that its
  /// rows come from.
  private var mappers: [QueryCompiler] {
    guard case .inner(let source) = unit else { return [self] }
    let outside = from.sources.count > 1 ? [self] : []
    return outside
      + source.arms.flatMap { arm in
        var compiler = arm.compiler
        // The outer query may have numbered parameters for values in conditions since.
        compiler.fragments.parameterNames = fragments.parameterNames
        return compiler.mappers
      }
  }

  /// WHERE, with the aliases of `select` replaced by their expressions.
  var writtenFilter: SQLFragment? {
    guard let filter = fragments.filter, let sql = try? rewritten(filter) else { return nil }
    return try? SQLFragment(sql, place: filter.place)
  }

  fileprivate func aliases(of table: DatabaseSchema.Table) -> [String] {
    from.sources.filter { $0.table.map { isSameName($0, table.name) } == true }.compactMap(\.qualifier)
  }

  /// - Returns: a mapping for each place of the table in FROM; nil if changes cannot be mapped.
  fileprivate func mappings(of table: DatabaseSchema.Table) throws(FreshetError) -> [UnitMapping]? {
    // The rank of a row in a full-text search depends on all other rows.
    guard let key = table.key, !(table.isSearch && usesRank) else { return nil }
    var isUnitOfFirstTable = false
    if case .baseKey = unit { isUnitOfFirstTable = true }
    var mappings: [UnitMapping] = []
    for (index, source) in from.sources.enumerated()
    where source.table.map({ isSameName($0, table.name) }) == true {
      if index == 0, isUnitOfFirstTable {
        mappings.append(
          UnitMapping(
            isUnit: true, firstParameter: 0, oldValues: [], joinColumns: ColumnMask(rawValue: 0)))
      } else {
        // This statement has no filter, so that a LEFT JOIN may find a row where the client gets NULL. Such a row may
        // join other rows.
        let isHidden = from.sources[..<index].contains { before in
          before.join == .left && before.table.map { filterReads.filters[$0.lowercased()] != nil } == true
        }
        if isHidden { return nil }
        guard
          var mapping = try mapping(index, source, table, key).map({ mapping throws(FreshetError) in
            try executed(mapping)
          })
        else { return nil }
        mapping.isOfFirstTable = index == 0
        mappings.append(mapping)
      }
    }
    return mappings
  }

  private func mapping(
    _ index: Int, _ source: FromClause.Source, _ table: DatabaseSchema.Table, _ key: TableKey
  ) throws(FreshetError) -> UnitMapping? {
    let first = fragments.parameterCount + 1
    let units = unitExpressions.map(\.sql).joined(separator: ", ")
    let qualifier = source.qualifier ?? quotedIdentifier(table.name)
    let isRow = zip(key.names, first...).map { "\(qualifier).\(quotedIdentifier($0)) \(key.equality) ?\($1)" }
    guard let clause = mappingClause(through: index, isRow.joined(separator: " AND ")) else { return nil }
    let conditions = joinConditions(through: index, clause)
    let new = "SELECT DISTINCT \(units) FROM \(clause) WHERE \((isRow + conditions).joined(separator: " AND "))"
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

  /// Sets the SQL of the units that the row led to before: FROM with the row's former values in place of the table. A
  /// SELECT of no rows of the table gives these values the columns' affinities and collations, and a LIMIT keeps SQLite
  /// from separating the two SELECTs.
  private func setOld(
    _ mapping: inout UnitMapping, _ index: Int, _ source: FromClause.Source, _ table: DatabaseSchema.Table,
    _ key: TableKey, _ columns: [String], _ conditions: [String]
  ) {
    var names = key.names
    mapping.oldValues = key.names.indices.map { .key($0) }
    for column in columns where !names.contains(where: { isSameName($0, column) }) {
      guard let position = table.columnNames.firstIndex(of: column) else { continue }
      // A computed column is not stored, so its former value is not remembered.
      guard let storage = table.storage, storage.fields[position] != nil else { return }
      names.append(column)
      mapping.oldValues.append(.column(position))
    }
    // If the values have no column with the name of a rowid, SQLite uses NULL for that name, where any other unknown
    // name is an error.
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
    let isRow = "\(source.qualifier ?? "")._freshet_old IS NOT NULL"
    guard let clause = mappingClause(through: index, row: row, isRow) else { return }
    let units = unitExpressions.map(\.sql).joined(separator: ", ")
    let conditions = [isRow] + conditions
    let sql = "SELECT DISTINCT \(units) FROM \(clause) WHERE \(conditions.joined(separator: " AND "))"
    if (try? compile(sql, place: nil)) != nil { mapping.oldSQL = sql }
  }
}

extension [QueryCompiler] {
  /// - Returns: the mappings of all these SELECTs; nil if a change of the table runs the query again.
  fileprivate func mappings(of table: DatabaseSchema.Table) throws(FreshetError) -> [UnitMapping]? {
    var all: [UnitMapping] = []
    for mapper in self {
      guard let mappings = try mapper.mappings(of: table) else { return nil }
      all += mappings
    }
    return all
  }
}

extension TableKey {
  /// The other names of a rowid that is the key.
  fileprivate func otherNames(in table: DatabaseSchema.Table) -> [String] {
    guard case .rowid(let alias) = self else { return [] }
    return TableKey.rowidNames.filter { !isSameName($0, alias) && !table.hasColumn($0) }
  }

  /// The operator that compares a key, to find its row.
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
