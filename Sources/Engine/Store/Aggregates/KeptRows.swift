import Ground
package import LiveQuery
import RankedCollections

/// The rows under an aggregate, as they were when they were last looked up, by their unit. When a unit changes, these
/// rows are taken out of the groups.
///
/// It is a value: a run on another thread makes it, and the list that takes it over changes it from then on.
package struct KeptRows {
  /// The rows of each unit, one after another, as `append` writes them.
  private var units: [[UInt8]: [UInt8]] = [:]
  private(set) var byteCount = 0

  /// The memory of a unit in addition to its bytes: two arrays and a slot in the hash table.
  private static let overhead = 112

  /// - Returns: the rows that the unit had before.
  mutating func replace(_ unit: [UInt8], by rows: [UInt8]) -> [UInt8]? {
    let before = rows.isEmpty ? units.removeValue(forKey: unit) : units.updateValue(rows, forKey: unit)
    if let before { byteCount -= unit.count + before.count + Self.overhead }
    if !rows.isEmpty { byteCount += unit.count + rows.count + Self.overhead }
    return before
  }

  /// Adds a row to those of a unit.
  mutating func add(_ row: [UInt8], to unit: [UInt8]) {
    let isNew = units[unit] == nil
    units[unit, default: []] += row
    byteCount += row.count + (isNew ? unit.count + Self.overhead : 0)
  }

  // MARK: - Rows as bytes

  /// - Parameters:
  ///   - key: the key of the row's group.
  ///   - values: the values of the group, then the arguments of the calls.
  static func append(_ key: [UInt8], _ values: PackedValues, to rows: inout [UInt8]) {
    for part in [key, values.bytes] {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count)) { rows += $0 }
      rows += part
    }
  }

  /// Calls `body` with each row: the key of its group, and its values.
  static func forEach(in rows: [UInt8], _ body: (_ key: [UInt8], inout PackedValueReader) -> Void) {
    rows.withUnsafeBytes { bytes in
      var position = 0
      let next = { () -> Bytes in
        let count = Int(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        defer { position += 4 + count }
        return Bytes(rebasing: bytes[position + 4..<position + 4 + count])
      }
      while position < bytes.count {
        let key = Array(next())
        var reader = PackedValueReader(next())
        body(key, &reader)
      }
    }
  }
}

extension ResultReader {
  /// Reads the rows under the result's aggregate; nil if the plan keeps no rows, or if they are too many.
  func readKeptRows() throws(FreshetError) -> KeptRows? {
    guard let aggregate = plan.resultAggregate, plan.aggregates[aggregate].rows != nil else { return nil }
    bind()
    do throws(SQLiteFailure) { return try statements.aggregates[aggregate].readRows(most: limits.keptRowBytes) } catch {
      throw failure(error)
    }
  }

  /// Whether the plan keeps the rows under the result's aggregate, but these rows or the groups were too many.
  package var lacksRows: Bool {
    plan.keepsRows && (memory.rows == nil || memory.groups == nil)
  }

  /// The number of groups of the result that are kept.
  package var keptGroups: Int { plan.resultAggregate.flatMap { memory.groups?[$0].count } ?? 0 }

  /// The size of the kept rows, in bytes.
  package var keptRowBytes: Int { memory.rows?.byteCount ?? 0 }

  /// Looks up the rows of units that may have changed, and brings the groups up to date: takes out the former rows and
  /// adds the present ones.
  ///
  /// - Returns: the groups that changed; nil if the query must be run again.
  package func takeRows(of units: ConcernedUnits) throws(FreshetError) -> ConcernedUnits? {
    guard let aggregate = plan.resultAggregate, var rows = memory.rows, memory.groups != nil else { return nil }
    try checkSnapshot()
    // If an error interrupts this, the rows are unknown.
    memory.rows = nil
    bind()
    var changes = GroupChanges(plan.aggregates[aggregate])
    do {
      try units.forEach { unit, _ in
        let now = try statements.aggregates[aggregate].rows(of: unit)
        let before = rows.replace(Array(unit), by: now) ?? []
        if before == now { return }
        changes.add(before, sign: -1)
        changes.add(now, sign: 1)
      }
    } catch { throw failure(error) }
    if rows.byteCount > limits.keptRowBytes { return nil }
    memory.rows = rows
    return apply(changes, to: aggregate)
  }
}
