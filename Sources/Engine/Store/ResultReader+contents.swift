import Ground
package import LiveQuery
package import RankedCollections

// Reads the contents of a result's rows, for snapshots, windows and patches. Many rows are looked up in the order of
// their keys, which is the order of pages (`WantedRows`), because the order in which they are shown would read a page
// of the file for nearly every row. If the query's last run took fewer steps of SQLite's virtual machine than the
// look-ups would take, the query is run again and the rows are taken from that run. Rows that a look-up cannot find are
// taken from a run too.
extension ResultReader {
  #if DEBUG
    /// From this number of rows on, they are read in the order of their keys. Small in debug builds, so that every test
    /// does so.
    private static let many = 8
  #else
    private static let many = 1_024
  #endif

  /// The approximate cost of looking a row up, in steps of SQLite's virtual machine: for starting the statement, and
  /// for stepping through the rows of its unit if the key is not the unit.
  private var stepsOfLookup: Int { 50 + (identityIsUnit ? 0 : 10 * memory.keys.rowsOfUnit) }

  /// The contents of rows of the newest version, which must belong to the state that the transaction sees.
  ///
  /// - Parameter tree: the version that has the rows.
  /// - Returns: the contents of the rows, in the same order.
  /// - Complexity: O(rows × log n).
  package func contents(
    of rows: [SectionedTree.Row], in tree: SectionedTree
  ) throws(FreshetError) -> PackedRows {
    if plan.isRefetched {
      var packed = PackedRows(columnCount: plan.columns.count)
      let first = plan.rows.shown.lowerBound
      for place in rows {
        memory.contents.append(first + tree.offset(section: place.section, item: place.item), to: &packed)
      }
      return packed
    }
    if rows.isEmpty { return PackedRows(columnCount: plan.columns.count) }
    if let packed = recent.all(rows) { return packed }
    try checkSnapshot()
    let left = time.left(at: clock.now)
    if left == .zero {
      throw FreshetError(.timeout, "reading the query's rows takes too long: ask for fewer, and later")
    }
    let budget = Budget.begin(left)
    defer {
      budget.end()
      time.spend(until: clock.now)
    }
    do {
      let mustScan = try dependsOnOrder(rows)
      let isScanCheaper = memory.scanSteps < rows.count * stepsOfLookup
      let areFew = rows.count < Self.many && (identityIsUnit || !isScanCheaper)
      if !mustScan, areFew || !recent.isEmpty { return try look(up: rows) }
      var wanted = WantedRows(rows)
      return try mustScan || isScanCheaper ? scan(for: &wanted) : look(up: wanted)
    } catch { throw failure(error) }
  }

  private func look(up rows: [SectionedTree.Row]) throws -> PackedRows {
    var packed = PackedRows(columnCount: plan.columns.count)
    let columns = contentColumns
    for place in rows where !recent.append(place, to: &packed) {
      try place.withIdentity { identity in
        try withRow(identity: identity) { statement in
          packed.appendRow { values in for column in columns { values.append(statement.value(column)) } }
        }
      }
      try check(packed)
    }
    return packed
  }

  /// Looks up rows in the order of their keys, which is the order of pages, so that a page with many of the rows is
  /// read once.
  private func look(up wanted: WantedRows) throws -> PackedRows {
    var packed = PackedRows(columnCount: plan.columns.count, count: wanted.count)
    let columns = contentColumns
    try wanted.forEach { place, identity in
      try withRow(identity: identity) { statement in
        packed.setRow(place) { values in for column in columns { values.append(statement.value(column)) } }
      }
      try check(packed)
    }
    return packed
  }

  /// Runs the whole query and picks out the rows, which is cheaper than looking up many of them.
  private func scan(for wanted: inout WantedRows) throws -> PackedRows {
    bind()
    let scan = statements.scan
    defer { scan.reset() }
    let row = ReadRow(plan, seed: 0, encoding: statements.encoding)
    var packed = PackedRows(columnCount: plan.columns.count, count: wanted.count)
    let columns = contentColumns
    var found = 0
    while found < wanted.count, try scan.step() {
      guard let place = row.withIdentity(of: scan, { wanted.place(of: $0) }) else { continue }
      packed.setRow(place) { values in for column in columns { values.append(scan.value(column)) } }
      found += 1
      try check(packed)
    }
    if found < wanted.count { throw ResultReader.missing }
    return packed
  }

  /// The result's columns in a row of any statement.
  var contentColumns: Range<Int> { plan.firstColumn..<plan.firstColumn + plan.columns.count }

  private func check(_ packed: PackedRows) throws(FreshetError) {
    guard packed.byteCount > limits.bytes else { return }
    throw FreshetError(.tooLarge, "the rows take more than \(limits.bytes) bytes: select less, or ask for a window")
  }

  /// Calls `body` with a statement whose current row has the identity. O(log n).
  func withRow<Result>(identity: Bytes, _ body: (PreparedStatement) throws -> Result) throws -> Result {
    guard let single = statements.known ?? statements.single, let unit = plan.unit else { throw ResultReader.missing }
    if plan.resultAggregate != nil, let result = try withGroupRow(identity, body) { return result }
    bind()
    defer { single.reset() }
    if unit.isKey {
      bind(identity, to: single)
    } else {
      (memory.keys.unit(of: Array(identity)) ?? []).withUnsafeBytes { bind($0, to: single) }
    }
    while try single.step() {
      if unit.isKey || row.withIdentity(of: single, { $0.equals(identity) }) { return try body(single) }
    }
    throw ResultReader.missing
  }

  /// The error if a row of the result cannot be found in the result's own state, so that the result is wrong.
  package static let missing = FreshetError(
    .internal, "a row of the result is not in the database state it was read from")

  /// - Parameter place: the index of the unit, for a statement that looks up several.
  func bind(_ unit: Bytes, to statement: PreparedStatement, place: Int = 0) {
    guard let (first, orders) = plan.unit.map({ ($0.firstParameter, $0.orders) }) else { return }
    statement.bind(
      key: unit, from: first + Int32(place * orders.count), encoding: statements.encoding, orders: orders)
  }
}
