import CSQLite
import Synchronization

// Changes which tables are followed.
extension FileCapture {
  /// No number is given to two tables in a process, so that a table can move to the memory of another `FileCapture`.
  private static let lastNumber = Atomic<Int>(0)

  static func newNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

  func table(named name: String) -> FollowedTable? { numberOfName[name.lowercased()].flatMap { tables[$0] } }

  func add(_ table: FollowedTable) {
    numberOfName[table.name.lowercased()] = table.number
    tables[table.number] = table
  }

  /// Follows a table from the state seen last on, or remembers more of a table that is followed already.
  func add(_ table: CapturedTable, remembering fields: [Int], keeping records: KeptRecords) -> FollowedTable {
    let followed: FollowedTable
    if let known = self.table(named: table.name) {
      followed = known
      known.remember(fields)
      known.take(masksOf: table.layout)
    } else {
      followed = FollowedTable(number: Self.newNumber(), table, remembering: fields.sorted(), packer)
      add(followed)
    }
    keep(records, of: followed)
    return followed
  }

  /// Forgets a table, unless a capture still follows it.
  func unfollow(_ number: Int) {
    if ticks.isWanted(number) { return }
    guard let table = tables.removeValue(forKey: number) else { return }
    numberOfName[table.name.lowercased()] = nil
  }

  /// Takes over a table from another `FileCapture` that is at the same state of the file.
  ///
  /// - Returns: the table's number in this one.
  func take(_ table: FollowedTable) -> Int {
    guard let known = self.table(named: table.name) else {
      add(table)
      if table.records != nil { keep(table.keepsFormerRecords ? .all : .present, of: table) }
      return table.number
    }
    known.take(table)
    if table.records != nil { keep(table.keepsFormerRecords ? .all : .present, of: known) }
    return known.number
  }

  // MARK: - Reading

  /// Reads pages of tables that were not read whole yet, in a transaction that sees the state seen last.
  func readOn(limit: Int) {
    var left = limit
    for table in tables.values where left > 0 { left -= table.readOn(pages, limit: left) }
    keepWithinMemory()
  }

  /// Forgets the rows of the largest tables while all tables together exceed the limit.
  func keepWithinMemory() {
    var total = tables.values.reduce(0) { $0 + $1.summary.byteCount }
    while total > settings.memoryLimit,
      let largest = tables.values.filter(\.summary.keepsRows).max(by: { $0.summary.byteCount < $1.summary.byteCount }),
      largest.summary.byteCount > 0
    {
      total -= largest.summary.byteCount
      largest.becomeLarge()
    }
    statistics.bytes = total
  }
}
