import LiveQuery
import RankedCollections

/// The changed rows of FROM, each with its sign, its group and the arguments of the calls.
package struct GroupChanges {
  fileprivate(set) var signs: [Int64] = []
  fileprivate(set) var keys: [[UInt8]] = []
  fileprivate(set) var rows: PackedRows

  init(_ plan: AggregatePlan) { rows = PackedRows(columnCount: plan.groupCount + plan.calls.count) }

  package var isEmpty: Bool { signs.isEmpty }

  /// Adds the groups that the changes concern.
  package func addUnits(to units: inout ConcernedUnits?) {
    for key in keys { key.withUnsafeBytes { units?.add($0, .all) } }
  }

  /// - Parameter rows: rows as `KeptRows.append` writes them.
  mutating func add(_ rows: [UInt8], sign: Int64) {
    KeptRows.forEach(in: rows) { key, reader in
      let count = self.rows.columnCount
      add(sign: sign, key: key) { values in for _ in 0..<count { values.append(reader.next()) } }
    }
  }

  /// - Parameter append: appends the values of the group and then the arguments.
  mutating func add(sign: Int64, key: [UInt8], _ append: (inout PackedValues) -> Void) {
    signs.append(sign)
    keys.append(key)
    rows.appendRow(append)
  }
}

/// The groups of an aggregate with the accumulators of their calls, by the groups' encoded values.
///
/// It is a value: a run on another thread makes it, and the list that takes it over changes it from then on.
package struct AggregateGroups {
  struct Group {
    var rowCount: Int64
    var values: [KeptValue]
    var calls: [Accumulator]
    /// The group has values that are equal but not the same, as 1 and 1.0 are. Only its rows say which of them it
    /// shows.
    var isAmbiguous = false
    /// The kept values are out of date.
    var isOld = false
  }

  private var groups: [[UInt8]: Group] = [:]
  private let encoding: TextEncoding

  /// - Parameter encoding: the encoding of the database's text.
  init(_ encoding: TextEncoding) { self.encoding = encoding }

  package var count: Int { groups.count }

  /// The key of an aggregate over everything.
  static let keyOfEverything: [UInt8] = {
    var key: [UInt8] = []
    KeyEncoder.append(PackedValue.integer(1), .identity, to: &key)
    return key
  }()

  /// All groups.
  var units: ConcernedUnits {
    var units = ConcernedUnits(reserving: groups.count)
    for key in groups.keys { key.withUnsafeBytes { units.add($0, .all) } }
    return units
  }

  func contains(where isWanted: (Group) -> Bool) -> Bool { groups.values.contains(where: isWanted) }

  subscript(_ key: [UInt8]) -> Group? {
    get { groups[key] }
    set { groups[key] = newValue }
  }

  /// Adds changes, and takes out those with the sign -1.
  ///
  /// - Parameter touched: the groups that the changes concern are added to it.
  /// - Returns: false if the changes contradict the groups, which must then not be used any more.
  package mutating func apply(
    _ changes: GroupChanges, _ plan: AggregatePlan, touched: inout ConcernedUnits
  ) -> Bool {
    for (index, key) in changes.keys.enumerated() {
      changes.rows.withRow(index) { row in
        groups[key, default: Group(plan, encoding)].add(&row, plan, sign: changes.signs[index])
      }
      key.withUnsafeBytes { touched.add($0, .all) }
    }
    // Counts are checked only at the end, because a row may be taken out before the row that replaces it is added.
    var isPossible = true
    for key in changes.keys {
      guard let group = groups[key], !group.isOld, group.rowCount <= 0 else { continue }
      if group.rowCount < 0 { isPossible = false }
      if !plan.isWhole { groups[key] = nil }
    }
    return isPossible
  }

  /// Marks the kept values of these groups as out of date.
  mutating func outdate(_ units: ConcernedUnits) {
    units.forEach { unit, _ in
      let key = Array(unit)
      if groups[key] == nil { groups[key] = Group(rowCount: 0, values: [], calls: []) }
      groups[key]!.isOld = true
    }
  }
}

extension AggregateGroups.Group {
  /// Creates a group without rows. It gets its values with the first row.
  fileprivate init(_ plan: AggregatePlan, _ encoding: TextEncoding) {
    self.init(rowCount: 0, values: [], calls: plan.calls.map { $0.empty(encoding) })
  }

  fileprivate mutating func add(_ row: inout PackedValueReader, _ plan: AggregatePlan, sign: Int64) {
    if isOld { return }
    rowCount += sign
    let isFirst = values.isEmpty
    for index in 0..<plan.groupCount {
      let value = row.next()
      if isFirst {
        values.append(KeptValue(value))
      } else if !values[index].isSame(as: value) {
        isAmbiguous = true
      }
    }
    for index in calls.indices { calls[index].add(row.next(), sign: sign) }
  }
}
