import GRDB

package enum BankChange: CaseIterable, Sendable {
  case acquirer, closingDate, insert, delete
}

/// The writer's changes of banks: seldom, so that a list of a few hundred rows can be read while it is followed.
///
/// The number of banks stays near `DemoDatabase.banks`, and what they are like stays as it was made: two banks exchange
/// their dates, and banks that come are those that went before.
struct BankWriter {
  /// Banks there are, as far as this writer knows.
  private var count: Int
  /// Banks that were deleted: they come back, with certificates of their own.
  private var gone: [Bank] = []

  /// How far `count` may be from its target before chance no longer decides.
  private static let slack = 15
  /// The newest closings, among which `frontPercent` of the changes are made: where a page looks that has just opened.
  private static let front = 30
  private static let frontPercent = 40

  init(_ db: Database) throws { count = try Int.fetchOne(db, sql: "SELECT count(*) FROM bank") ?? 0 }

  /// Makes one change.
  mutating func write(_ db: Database, _ generator: inout DemoGenerator) throws -> BankChange {
    let change = nextChange(&generator)
    guard let id = try someBank(db, &generator) else {
      try insert(db, &generator)
      return .insert
    }
    switch change {
    case .insert: try insert(db, &generator)
    case .acquirer:
      try db.execute(
        sql: "UPDATE closing SET acquirer = ? WHERE bank_id = ?",
        arguments: [BankClosing.randomAcquirer(&generator), id])
    case .closingDate: try exchangeDates(db, id, try anyBank(db, &generator))
    case .delete: try delete(db, id)
    }
    return change
  }

  private mutating func insert(_ db: Database, _ generator: inout DemoGenerator) throws {
    let newest = try Int.fetchOne(db, sql: "SELECT max(cert) FROM bank") ?? DemoDatabase.firstCertificate
    var bank = Bank.random(&generator, after: newest)
    if !gone.isEmpty {
      let certificate = bank.certificate
      bank = gone.remove(at: generator.number(below: gone.count))
      bank.certificate = certificate
    }
    try bank.insert(db)
    count += 1
  }

  private mutating func delete(_ db: Database, _ id: Int64) throws {
    let sql = """
      SELECT name, city, state, cert, closed, acquirer, assets FROM bank JOIN closing ON bank_id = id WHERE id = ?
      """
    if let row = try Row.fetchOne(db, sql: sql, arguments: [id]) {
      let closing = BankClosing(date: row["closed"], acquirer: row["acquirer"], assets: row["assets"])
      gone.append(
        Bank(name: row["name"], city: row["city"], state: row["state"], certificate: row["cert"], closing: closing))
    }
    try db.execute(sql: "DELETE FROM closing WHERE bank_id = ?", arguments: [id])
    try db.execute(sql: "DELETE FROM bank WHERE id = ?", arguments: [id])
    count -= 1
  }

  private func exchangeDates(_ db: Database, _ one: Int64, _ other: Int64?) throws {
    let select = "SELECT closed FROM closing WHERE bank_id = ?"
    guard let other, let date = try String.fetchOne(db, sql: select, arguments: [one]),
      let otherDate = try String.fetchOne(db, sql: select, arguments: [other])
    else { return }
    let update = "UPDATE closing SET closed = ? WHERE bank_id = ?"
    try db.execute(sql: update, arguments: [otherDate, one])
    try db.execute(sql: update, arguments: [date, other])
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

  private func anyBank(_ db: Database, _ generator: inout DemoGenerator) throws -> Int64? {
    try Int64.fetchOne(
      db, sql: "SELECT bank_id FROM closing ORDER BY bank_id LIMIT 1 OFFSET ?",
      arguments: [generator.number(below: max(1, count))])
  }

  private func someBank(_ db: Database, _ generator: inout DemoGenerator) throws -> Int64? {
    let isAtFront = generator.chance(percent: Self.frontPercent)
    let skipped = generator.number(below: max(1, isAtFront ? min(Self.front, count) : count))
    return try Int64.fetchOne(
      db, sql: "SELECT bank_id FROM closing ORDER BY closed DESC, bank_id LIMIT 1 OFFSET ?", arguments: [skipped])
  }
}
