import LiveQuery
import Store

package enum BankChange: CaseIterable, Sendable {
  case acquirer, closingDate, insert, delete
}

/// The writer's changes of banks. They are rare, so that a list of a few hundred rows can be read while it changes.
///
/// The number of banks stays near `DemoDatabase.banks`, and so do their properties: two banks exchange their dates, and
/// inserted banks are banks that were deleted before.
struct BankWriter {
  /// The number of banks, as far as this writer knows.
  private var count: Int
  /// Banks that were deleted: they come back with new certificates.
  private var gone: [Bank] = []

  /// How far `count` may be from its target before chance no longer decides.
  private static let slack = 15
  /// How many of the newest closings get `frontPercent` of the changes, because a page shows these first.
  private static let front = 30
  private static let frontPercent = 40

  init(_ db: Connection) throws { count = try db.first("SELECT count(*) FROM bank") { Int($0.integer(0)) } ?? 0 }

  /// Makes one change.
  mutating func write(_ db: Connection, _ generator: inout DemoGenerator) throws -> BankChange {
    let change = nextChange(&generator)
    guard let id = try someBank(db, &generator) else {
      try insert(db, &generator)
      return .insert
    }
    switch change {
    case .insert: try insert(db, &generator)
    case .acquirer:
      let acquirer: SQLValue = BankClosing.randomAcquirer(&generator).map { .text($0) } ?? nil
      try db.run("UPDATE closing SET acquirer = ? WHERE bank_id = ?", [acquirer, .integer(id)])
    case .closingDate: try exchangeDates(db, id, try anyBank(db, &generator))
    case .delete: try delete(db, id)
    }
    return change
  }

  private mutating func insert(_ db: Connection, _ generator: inout DemoGenerator) throws {
    let newest = try db.first("SELECT ifnull(max(cert), \(DemoDatabase.firstCertificate)) FROM bank") { $0.integer(0) }!
    var bank = Bank.random(&generator, after: Int(newest))
    if !gone.isEmpty {
      let certificate = bank.certificate
      bank = gone.remove(at: generator.number(below: gone.count))
      bank.certificate = certificate
    }
    try bank.insert(db)
    count += 1
  }

  private mutating func delete(_ db: Connection, _ id: Int64) throws {
    let sql = """
      SELECT name, city, state, cert, closed, acquirer, assets FROM bank JOIN closing ON bank_id = id WHERE id = ?
      """
    gone += try db.rows(sql, [.integer(id)]) { row in
      let closing = BankClosing(date: row.text(4) ?? "", acquirer: row.text(5), assets: row.real(6))
      return Bank(
        name: row.text(0) ?? "", city: row.text(1) ?? "", state: row.text(2) ?? "", certificate: Int(row.integer(3)),
        closing: closing)
    }
    try db.run("DELETE FROM closing WHERE bank_id = ?", [.integer(id)])
    try db.run("DELETE FROM bank WHERE id = ?", [.integer(id)])
    count -= 1
  }

  private func exchangeDates(_ db: Connection, _ one: Int64, _ other: Int64?) throws {
    let select = "SELECT closed FROM closing WHERE bank_id = ?"
    guard let other, let date = try db.first(select, [.integer(one)], { $0.text(0) ?? "" }),
      let otherDate = try db.first(select, [.integer(other)], { $0.text(0) ?? "" })
    else { return }
    let update = "UPDATE closing SET closed = ? WHERE bank_id = ?"
    try db.run(update, [.text(otherDate), .integer(one)])
    try db.run(update, [.text(date), .integer(other)])
  }

  private func nextChange(_ generator: inout DemoGenerator) -> BankChange {
    if count <= DemoDatabase.banks - Self.slack { return .insert }
    if count >= DemoDatabase.banks + Self.slack { return .delete }
    switch generator.number(below: 100) {
    case ..<30: return .acquirer
    case ..<60: return .closingDate
    case ..<80: return gone.isEmpty ? .delete : .insert
    default: return .delete
    }
  }

  private func anyBank(_ db: Connection, _ generator: inout DemoGenerator) throws -> Int64? {
    try db.first(
      "SELECT bank_id FROM closing ORDER BY bank_id LIMIT 1 OFFSET ?",
      [.integer(Int64(generator.number(below: max(1, count))))]
    ) { $0.integer(0) }
  }

  private func someBank(_ db: Connection, _ generator: inout DemoGenerator) throws -> Int64? {
    let isAtFront = generator.chance(percent: Self.frontPercent)
    let skipped = generator.number(below: max(1, isAtFront ? min(Self.front, count) : count))
    return try db.first(
      "SELECT bank_id FROM closing ORDER BY closed DESC, bank_id LIMIT 1 OFFSET ?", [.integer(Int64(skipped))]
    ) { $0.integer(0) }
  }
}
