import LiveQuery
package import Store

/// Acts as another program: changes the demo's wells and now and then its banks, so that lists move.
///
/// Which changes it makes follows from the seed and the rows it finds. It may run for months: the number of wells stays
/// near `target`, and so do their properties. Names and counties are exchanged between two wells, so that none becomes
/// rare; depths and states are drawn as they were at first; and inserted wells are wells that were deleted before.
package struct DemoWriter {
  package enum Change: Hashable, Sendable {
    case well(WellChange), bank(BankChange)
  }

  package enum WellChange: CaseIterable, Sendable {
    case rename, depth, status, county, insert, delete
  }

  private var generator: DemoGenerator
  /// The number of wells to stay near.
  private let target: Int
  /// The number of wells, as far as this writer knows.
  private var count: Int
  private var banks: BankWriter
  /// Values of wells that were deleted, in the order of `DemoSchema.insertWell`; they come back.
  private var gone: [[SQLValue]] = []

  /// How far the number of wells may be from the target before chance no longer decides.
  private static let slack = 20
  /// How many rows at the beginning of the list, in the page's order, get `frontPercent` of the changes, because a page
  /// shows these first.
  private static let front = 60
  private static let frontPercent = 40
  private static let bankPercent = 4

  /// - Parameter target: nil for the present number of wells.
  package init(_ db: Connection, seed: UInt64, target: Int? = nil) throws {
    generator = DemoGenerator(seed: seed)
    count = try db.first("SELECT count(*) FROM well") { Int($0.integer(0)) } ?? 0
    self.target = target ?? count
    banks = try BankWriter(db)
  }

  /// Makes one change, in the caller's transaction.
  @discardableResult
  package mutating func write(_ db: Connection) throws -> Change {
    if generator.chance(percent: Self.bankPercent) { return .bank(try banks.write(db, &generator)) }
    return .well(try writeWell(db))
  }

  private mutating func writeWell(_ db: Connection) throws -> WellChange {
    var change = nextChange()
    guard let id = try someWell(db) else {
      try insert(db)
      return .insert
    }
    switch change {
    case .rename: try exchange(db, id, with: try neighbour(db, of: id), ["name"])
    case .depth:
      let depth = Well.randomDepth(&generator)
      try db.run("UPDATE well SET depth = ? WHERE id = ?", [.real(depth), .integer(id)])
    case .status: try setStatus(db, id)
    case .county: try exchange(db, id, with: try anyWell(db), ["county", "county_id"])
    case .insert:
      try insert(db)
    case .delete:
      // The last well stays, so that something can always be changed.
      if count > 1 {
        try delete(db, id)
      } else {
        try insert(db)
        change = .insert
      }
    }
    return change
  }

  private mutating func nextChange() -> WellChange {
    if count <= target - Self.slack { return .insert }
    if count >= target + Self.slack { return .delete }
    switch generator.number(below: 100) {
    case ..<22: return .rename
    case ..<54: return .depth
    case ..<74: return .status
    case ..<82: return .county
    case ..<91: return gone.isEmpty ? .delete : .insert
    default: return .delete
    }
  }

  private mutating func someWell(_ db: Connection) throws -> Int64? {
    guard generator.chance(percent: Self.frontPercent) else { return try anyWell(db) }
    let skipped = generator.number(below: min(Self.front, max(count, 1)))
    return try db.first(
      "SELECT id FROM well ORDER BY county, name, id LIMIT 1 OFFSET ?", [.integer(Int64(skipped))]
    ) { $0.integer(0) }
  }

  private mutating func anyWell(_ db: Connection) throws -> Int64? {
    let last = try db.first("SELECT max(id) FROM well") { Int($0.integer(0)) } ?? 0
    let wanted = generator.number(in: 1...max(last, 1))
    return try db.first(
      "SELECT id FROM well WHERE id >= ? ORDER BY id LIMIT 1", [.integer(Int64(wanted))]
    ) { $0.integer(0) }
  }

  /// Another well of the same county; nil when it is the only one.
  private mutating func neighbour(_ db: Connection, of id: Int64) throws -> Int64? {
    let others = "FROM well WHERE county = (SELECT county FROM well WHERE id = ?) AND id <> ?"
    let ids: [SQLValue] = [.integer(id), .integer(id)]
    let number = try db.first("SELECT count(*) \(others)", ids) { Int($0.integer(0)) } ?? 0
    if number == 0 { return nil }
    let skipped = generator.number(below: number)
    return try db.first("SELECT id \(others) LIMIT 1 OFFSET ?", ids + [.integer(Int64(skipped))]) { $0.integer(0) }
  }

  /// Two wells exchange the values of some columns: there are as many of each afterwards as before.
  private func exchange(_ db: Connection, _ one: Int64, with other: Int64?, _ columns: [String]) throws {
    guard let other, other != one else { return }
    let select = "SELECT \(columns.joined(separator: ", ")) FROM well WHERE id = ?"
    let update = "UPDATE well SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"
    guard let values = try db.first(select, [.integer(one)], \.values),
      let others = try db.first(select, [.integer(other)], \.values)
    else { return }
    try db.run(update, others + [.integer(one)])
    try db.run(update, values + [.integer(other)])
  }

  /// Sets a status, and the date that fits it: only a well that is not begun has none.
  private mutating func setStatus(_ db: Connection, _ id: Int64) throws {
    let status = Well.randomStatus(&generator)
    let date = Well.randomDate(&generator)
    let sql = """
      UPDATE well SET status = ?1, spud_date = CASE ?1 WHEN 'Permitted' THEN NULL ELSE coalesce(spud_date, ?2) END
      WHERE id = ?3
      """
    try db.run(sql, [.text(status), .text(date), .integer(id)])
  }

  private mutating func delete(_ db: Connection, _ id: Int64) throws {
    let sql = "DELETE FROM well WHERE id = ? RETURNING \(DemoSchema.wellColumns)"
    gone += try db.rows(sql, [.integer(id)], \.values)
    count -= 1
  }

  private mutating func insert(_ db: Connection) throws {
    if gone.isEmpty {
      try db.run(DemoSchema.insertWell, Well.random(&generator).values)
    } else {
      try db.run(DemoSchema.insertWell, gone.remove(at: generator.number(below: gone.count)))
    }
    count += 1
  }
}
