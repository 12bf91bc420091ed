import LiveQuery
import RankedCollections

/// Changed rows of FROM, each with its sign, its group and the arguments of the calls.
package struct GroupChanges {
  fileprivate(set) var signs: [Int64] = []
  fileprivate(set) var keys: [[UInt8]] = []
  fileprivate(set) var rows: PackedRows

  init(_ plan: AggregatePlan) { rows = PackedRows(columnCount: plan.groupCount + plan.calls.count) }

  package var isEmpty: Bool { signs.isEmpty }

  /// Adds the groups that they concern.
  package func addUnits(to units: inout ConcernedUnits?) {
    for key in keys { key.withUnsafeBytes { units?.add($0, .all) } }
  }

  /// - Parameter rows: as `KeptRows` has them.
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

/// The groups of an aggregate with what their calls are made of, by their encoded values.
///
/// A value: a run on another thread makes one, and the list that takes it over changes it from then on.
package struct AggregateGroups {
  struct Group {
    var rowCount: Int64
    var values: [KeptValue]
    var calls: [Accumulator]
    /// Equal values of it are not the same: only the rows say which it shows.
    var isAmbiguous = false
    /// The kept values are outdated.
    var isOld = false
  }

  private var groups: [[UInt8]: Group] = [:]
  private let encoding: TextEncoding

  /// - Parameter encoding: of the database's text.
  init(_ encoding: TextEncoding) { self.encoding = encoding }

  package var count: Int { groups.count }

  /// The key of an aggregate over everything.
  static let keyOfEverything: [UInt8] = {
    var key: [UInt8] = []
    KeyEncoder.append(PackedValue.integer(1), .identity, to: &key)
    return key
  }()

  /// All of them.
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
  /// - Parameter touched: the groups that they concern are added to it.
  /// - Returns: false when the changes are not those of these groups: they are of no use any more.
  package mutating func apply(
    _ changes: GroupChanges, _ plan: AggregatePlan, touched: inout ConcernedUnits
  ) -> Bool {
    for (index, key) in changes.keys.enumerated() {
      changes.rows.withRow(index) { row in
        groups[key, default: Group(plan, encoding)].add(&row, plan, sign: changes.signs[index])
      }
      key.withUnsafeBytes { touched.add($0, .all) }
    }
    // Only at the end: a row may be taken out before another one is added.
    var isPossible = true
    for key in changes.keys {
      guard let group = groups[key], !group.isOld, group.rowCount <= 0 else { continue }
      if group.rowCount < 0 { isPossible = false }
      if !plan.isWhole { groups[key] = nil }
    }
    return isPossible
  }

  /// The known values of these groups are outdated.
  mutating func outdate(_ units: ConcernedUnits) {
    units.forEach { unit, _ in
      let key = Array(unit)
      if groups[key] == nil { groups[key] = Group(rowCount: 0, values: [], calls: []) }
      groups[key]!.isOld = true
    }
  }
}

extension AggregateGroups.Group {
  /// One without rows, whose values come with the first.
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
