package import GRDB

/// Somebody else's program, changing the demo's wells and now and then its banks: what makes the lists live.
///
/// Which changes it makes follows from the seed and the rows it finds. The number of wells stays near `target`.
package struct DemoWriter {
  package enum Change: Hashable, Sendable {
    case well(WellChange), bank(BankChange)
  }

  package enum WellChange: CaseIterable, Sendable {
    case rename, depth, status, county, insert, delete
  }

  private var generator: DemoGenerator
  /// Wells to come back to.
  private let target: Int
  /// Wells there are, as far as this writer knows.
  private var count: Int
  private var banks: BankWriter

  /// How far the number of wells may be from the target before chance no longer decides.
  private static let slack = 20
  /// Rows of the beginning of the list, in the page's order, among which `frontPercent` of the changes are made:
  /// where a page looks that has just opened.
  private static let front = 60
  private static let frontPercent = 40
  private static let bankPercent = 4

  /// - Parameter target: nil for the number of wells there are now.
  package init(_ db: Database, seed: UInt64, target: Int? = nil) throws {
    generator = DemoGenerator(seed: seed)
    count = try Int.fetchOne(db, sql: "SELECT count(*) FROM well") ?? 0
    self.target = target ?? count
    banks = try BankWriter(db)
  }

  /// Makes one change, which the caller wraps into a transaction.
  @discardableResult
  package mutating func write(_ db: Database) throws -> Change {
    if generator.chance(percent: Self.bankPercent) { return .bank(try banks.write(db, &generator)) }
    return .well(try writeWell(db))
  }

  private mutating func writeWell(_ db: Database) throws -> WellChange {
    var change = nextChange()
    guard let id = try someWell(db) else {
      try insert(db)
      return .insert
    }
    switch change {
    case .rename:
      try db.execute(sql: "UPDATE well SET name = ? WHERE id = ?", arguments: [WellNames.name(&generator), id])
    case .depth:
      let feet = Double(generator.number(in: 1...900)) / 10
      try db.execute(sql: "UPDATE well SET depth = round(depth + ?, 1) WHERE id = ?", arguments: [feet, id])
    case .status:
      let status = Well.randomStatus(&generator)
      try db.execute(sql: "UPDATE well SET status = ? WHERE id = ?", arguments: [status, id])
    case .county:
      try move(db, id)
    case .insert:
      try insert(db)
    case .delete:
      // The last well stays, so that there is always something to change.
      if count > 1 {
        try db.execute(sql: "DELETE FROM well WHERE id = ?", arguments: [id])
        count -= 1
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
    case ..<91: return .insert
    default: return .delete
    }
  }

  private mutating func someWell(_ db: Database) throws -> Int64? {
    if generator.chance(percent: Self.frontPercent) {
      let skipped = generator.number(below: min(Self.front, max(count, 1)))
      return try Int64.fetchOne(
        db, sql: "SELECT id FROM well ORDER BY county, name, id LIMIT 1 OFFSET ?", arguments: [skipped])
    }
    let last = try Int.fetchOne(db, sql: "SELECT max(id) FROM well") ?? 0
    let wanted = generator.number(in: 1...max(last, 1))
    return try Int64.fetchOne(
      db, sql: "SELECT id FROM well WHERE id >= ? ORDER BY id LIMIT 1", arguments: [wanted])
  }

  private mutating func insert(_ db: Database) throws {
    let county = generator.chance(percent: Self.frontPercent) ? try firstCounty(db) : nil
    try db.execute(
      sql: DemoSchema.insertWell, arguments: Well.random(&generator, county: county).arguments)
    count += 1
  }

  private func firstCounty(_ db: Database) throws -> Int? {
    try Int.fetchOne(db, sql: "SELECT county_id FROM well ORDER BY county LIMIT 1").map { $0 - 1 }
  }

  private mutating func move(_ db: Database, _ id: Int64) throws {
    let county = Well.randomCounty(&generator)
    let sql = "UPDATE well SET county = ?, county_id = ? WHERE id = ?"
    try db.execute(sql: sql, arguments: [County.all[county].name, county + 1, id])
  }
}
