import CSQLite
import Foundation
import GRDB
import Ground
import LiveQuery
import TestSupport

@testable import ChangeCapture
@testable import Following
@testable import Store

/// Follows all tables of a file that others write, and compares each tick with the difference of two SELECTs in the
/// same snapshots: rows, columns, and old values.
final class HostileFollower {
  struct Options {
    var memoryLimit = 256 << 20
    /// Reads a few pages of new tables in each tick, so that commits come in between.
    var readsSlowly = false
    /// Remembers some fields of every table.
    var remembers = false
  }

  /// Counts of events.
  struct Count {
    var ticks = 0
    var rows = 0
    /// Unknown deltas, although the schema was the same and single pages were read.
    var unknown = 0
    /// Unknown deltas after everything was compared: at most one for each table.
    var unknownCompared = 0
    /// Ticks after which the number of reserved bytes of pages had changed.
    var reserves = 0
    /// Updates with known changed columns.
    var masks = 0
    /// Rows that were reported with unchanged values, because their records were rewritten in other bytes. For example,
    /// a record with too few fields, because a column was added later, gets all fields with its next write.
    var rewritten = 0
    /// Ticks that reached a state by frames alone, and those after which another commit had come.
    var frameTicks = 0
    var overtaken = 0
  }

  private let queue: DatabaseQueue
  private let raw: OpaquePointer
  private let encoding: String
  private let options: Options
  let capture: ChangeCapture
  private var schema = DatabaseSchema.empty
  private var followed: [Int: String] = [:]
  private var before: [Int: TableContents] = [:]
  /// The list of all rows as a client would hold it that reads only reported rows. Only kept with a history.
  private var list: [Int: [TableContents.Bytes: TableContents.Row]] = [:]
  private let numbers = CommitNumbers()
  private var number: CommitNumber
  private let history: HostileHistory?
  private(set) var count = Count()
  /// Decoded records, compared with the rows of SELECT.
  private(set) var decoded = DecodedRows()
  private var reserved: Int32 = -1
  private var hasOtherPages = false

  init(path: String, _ options: Options, _ history: HostileHistory?) throws {
    self.options = options
    self.history = history
    number = CommitNumber(numbers.first, isExact: false)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    configuration.busyMode = .timeout(20)
    queue = try DatabaseQueue(path: path, configuration: configuration)
    (raw, encoding) = try queue.inDatabase { db in
      (db.sqliteConnection!, try String.fetchOne(db, sql: "PRAGMA encoding") ?? "")
    }
    var settings = ChangeCapture.Settings()
    settings.memoryLimit = options.memoryLimit
    if options.readsSlowly { settings.pagesAtOnce = 2 }
    capture = ChangeCapture(raw, settings)
    try followAll()
  }

  deinit { try? queue.close() }

  private func snapshot<Result>(_ body: (Database) throws -> Result) throws -> Result {
    while true {
      capture.prepare()
      try PreparedStatement.run(raw, "BEGIN")
      defer { try? PreparedStatement.run(raw, "COMMIT") }
      try PreparedStatement.run(raw, "SELECT 1 FROM sqlite_schema LIMIT 1")
      if try capture.identify() { return try queue.inDatabase(body) }
    }
  }

  /// Advances to the newest state without a transaction, if frames alone suffice.
  private func advanceByFrames() -> CapturedTick? {
    guard capture.identifyFromFrames() != nil else { return nil }
    count.frameTicks += 1
    let tick = capture.advance()
    precondition(!tick.hasSchemaChanged, "the schema was asked for")
    note(tick)
    return tick
  }

  private func advance(_ db: Database) throws -> CapturedTick {
    let tick = capture.advance()
    if tick.hasSchemaChanged {
      schema = try DatabaseSchema.read(db.sqliteConnection!)
      capture.define { schema.table($0)?.storage?.table }
    }
    note(tick)
    return tick
  }

  private func note(_ tick: CapturedTick) {
    // As a follower does.
    if !tick.isQuiet {
      number = numbers.number(of: capture.state, before: number.commit, commits: tick.commits)
    }
  }

  /// How many bytes of a page are reserved.
  private func readReserved() -> Int32 {
    var count: Int32 = -1
    sqlite3_file_control(raw, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
    return count
  }

  private func followAll() throws {
    try snapshot { db in
      _ = try advance(db)
      reserved = readReserved()
      for table in schema.tables {
        // The ledger is left out: it grows, and would be read whole in every tick.
        guard let storage = table.storage, table.name != "written" else { continue }
        let number = capture.follow(storage.table, remembering: remembered(storage), keeping: .all)
        followed[number] = table.name
        before[number] = try TableContents(raw, table, encoding: encoding)
        if history != nil { list[number] = before[number]?.rows }
      }
      readOn()
    }
  }

  /// Fields whose values are remembered: every second one, or none.
  private func remembered(_ storage: TableStorage) -> [Int] {
    options.remembers
      ? storage.table.layout.columnBits.indices.filter { $0 % 2 == storage.table.name.utf8.count % 2 } : []
  }

  private func readOn() {
    if options.readsSlowly { _ = capture.readOn() } else { while capture.readOn() {} }
  }

  /// - Parameter isQuiet: whether no process writes, so that the history has everything in the ledger.
  /// - Returns: the capture's errors.
  func tick(isQuiet: Bool) throws -> [String] {
    let early = Bool.random() ? advanceByFrames() : nil
    return try snapshot { db in
      // Usually this is the same state, and nothing more is reported.
      let isOvertaken = early != nil && !capture.isAtSeenState
      if isOvertaken { count.overtaken += 1 }
      let forms = followed.mapValues { capture.form(ofTable: $0) }
      let former = schema
      let tick = early != nil && !isOvertaken ? early! : try advance(db)
      count.ticks += 1
      var wrong: [String] = []
      let reservedBefore = reserved
      reserved = readReserved()
      hasOtherPages = reserved != reservedBefore
      if hasOtherPages { count.reserves += 1 }
      for (number, name) in followed {
        let table = schema.table(name)
        let now = try table.map { try TableContents(raw, $0, encoding: encoding) } ?? TableContents()
        let delta = tick.deltas.first { $0.table == number }?.delta ?? ChangedRows()
        let before = before[number] ?? TableContents()
        if isOvertaken {
          let first = early!.deltas.first { $0.table == number }?.delta ?? ChangedRows()
          wrong += compare([first, delta], before, now).prefix(3).map { "\(name): \($0), overtaken" }
          if history != nil { follow(first, number, now) }
        } else if !delta.isUnknown {
          let errors = compare(delta, number, before, now, table ?? former.table(name))
          let records = decoded.compare(delta, table?.storage, now, encoding: encoding) { key(of: $0, in: delta) }
          wrong += (errors.prefix(3) + records.prefix(3)).map {
            "\(name): \($0), compared: \(tick.comparison?.rawValue ?? "no")"
          }
        } else if !tick.hasSchemaChanged {
          if tick.comparison == nil { count.unknown += 1 } else { count.unknownCompared += 1 }
          if forms[number] != .reading, options.memoryLimit > 0 {
            wrong.append(
              "\(name): unknown without a reason, was \(forms[number]!), compared: \(tick.comparison?.rawValue ?? "no") \(capture.statistics.comparisons)"
            )
          }
        }
        self.before[number] = now
        if history != nil { follow(delta, number, now) }
        if tick.hasSchemaChanged, options.remembers, let storage = table?.storage {
          _ = capture.follow(storage.table, remembering: remembered(storage), keeping: .all)
        }
      }
      readOn()
      if let history { try note(db, isQuiet, in: history) }
      return wrong
    }
  }

  /// Compares two consecutive ticks without reading the state between them: no row may be missing.
  private func compare(_ deltas: [ChangedRows], _ before: TableContents, _ now: TableContents) -> [String] {
    if deltas.contains(where: \.isUnknown) { return [] }
    let reported = Set(deltas.flatMap { delta in delta.rows.map { key(of: $0, in: delta) } })
    return Set(before.rows.keys).union(now.rows.keys)
      .filter { before.rows[$0] != now.rows[$0] && !reported.contains($0) }
      .map { "\($0.storage) changed, and was not told" }
  }

  private func follow(_ delta: ChangedRows, _ number: Int, _ now: TableContents) {
    if delta.isUnknown { return list[number] = now.rows }
    for row in delta.rows {
      let key = key(of: row, in: delta)
      list[number]?[key] = now.rows[key]
    }
  }

  /// Notes the list's rows, the rows of SELECT, and the state of both in the history.
  private func note(_ db: Database, _ isQuiet: Bool, in history: HostileHistory) throws {
    let digest = String(list.hashValue)
    history.add(
      "follower", "list",
      ["list": "rows", "quiet": true, "digest": digest, "expected": String(before.mapValues(\.rows).hashValue)])
    var message: [String: Any] = ["list": "rows", "epoch": "run", "commit": number.commit, "digest": digest]
    if number.isExact { message["version"] = String(number.commit) }
    history.add("follower", "message", message)
    if isQuiet, history.hasLedger {
      history.add("follower", "file", ["ids": try Int.fetchAll(db, sql: "SELECT id FROM written")])
    }
  }

  private func compare(
    _ delta: ChangedRows, _ number: Int, _ before: TableContents, _ now: TableContents, _ table: DatabaseSchema.Table?
  ) -> [String] {
    var wrong: [String] = []
    var reported: [TableContents.Bytes: ChangedRows.Row] = [:]
    var replaced: Set<TableContents.Bytes> = []
    for row in delta.rows {
      let key = key(of: row, in: delta)
      if let other = reported.updateValue(row, forKey: key) {
        // A key with other bytes and the same value: the row is reported as deleted and inserted.
        if Set([other.kind, row.kind]) == [.insert, .delete], before.rows[key] != nil, now.rows[key] != nil {
          replaced.insert(key)
        } else {
          wrong.append("\(key.storage) was told twice")
        }
      }
    }
    count.rewritten += replaced.count
    for key in replaced { reported[key] = nil }
    count.rows += delta.rows.count
    for (key, row) in before.rows {
      let expected: ChangedRows.Kind? = now.rows[key].map { $0 == row ? nil : .update } ?? .delete
      if reported[key]?.kind != expected, !replaced.contains(key) {
        if expected == nil, reported[key]?.kind == .update {
          // VACUUM rewrites every row that overflows when it reserves more bytes of each page.
          if !hasOtherPages { count.rewritten += 1 }
          continue
        }
        wrong.append("\(key.storage) is \(name(expected)), told \(name(reported[key]?.kind))")
      }
    }
    for (key, row) in reported {
      if before.rows[key] == nil, now.rows[key] == nil || row.kind != .insert {
        wrong.append("\(key.storage) was not there, told \(row.kind)")
      }
      wrong += compareColumns(delta, row, number, before.rows[key], now.rows[key], table)
    }
    for key in now.rows.keys where before.rows[key] == nil && reported[key] == nil {
      wrong.append("\(key.storage) is new, and was not told")
    }
    return wrong
  }

  private func key(of row: ChangedRows.Row, in delta: ChangedRows) -> TableContents.Bytes {
    var key = TableContents.Bytes()
    delta.forEachKeyField(of: row) { key.append($1, encoding: encoding) }
    return key
  }

  private func name(_ kind: ChangedRows.Kind?) -> String { kind.map { "\($0)" } ?? "as it was" }

  /// Checks that the mask has every column that differs, and that old and new values are right.
  private func compareColumns(
    _ delta: ChangedRows, _ row: ChangedRows.Row, _ number: Int, _ before: TableContents.Row?,
    _ now: TableContents.Row?,
    _ table: DatabaseSchema.Table?
  ) -> [String] {
    var wrong: [String] = []
    if row.kind == .update, let before, let now, before.columns.count == now.columns.count {
      if row.columns != -1 { count.masks += 1 }
      for index in now.columns.indices where before.columns[index] != now.columns[index] {
        if row.columns & ColumnMask.bit(index) == 0 { wrong.append("column \(index) changed, and is not told") }
      }
    }
    guard let storage = table?.storage else { return wrong }
    let fields = delta.fields
    for (range, values, what) in [(row.old, before, "old"), (row.new, now, "new")] where values != nil {
      let told = delta.withFields(range) { fields in fields.map { self.bytes($0) } }
      if told.count != fields.count { wrong.append("\(what) values: \(told.count) instead of \(fields.count)") }
      for (field, value) in zip(fields, told) {
        guard let column = storage.column(ofField: field), column != storage.rowidColumn, let value,
          values!.columns.indices.contains(column)
        else { continue }
        if !isSame(value, values!.columns[column]) { wrong.append("\(what) value of column \(column) is another one") }
      }
    }
    return wrong
  }

  /// The bytes of a value; nil if it is not stored, but is the column's default.
  private func bytes(_ value: StoredValue) -> TableContents.Bytes? {
    if case .missing = value { return nil }
    var bytes = TableContents.Bytes()
    bytes.append(value, encoding: encoding)
    return bytes
  }

  /// Whole reals may be stored as integers.
  private func isSame(_ stored: TableContents.Bytes, _ selected: TableContents.Bytes) -> Bool {
    if stored == selected { return true }
    guard stored.storage.first == 1, selected.storage.first == 2 else { return false }
    func number(_ bytes: TableContents.Bytes) -> UInt64 {
      bytes.storage.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 1, as: UInt64.self) }
    }
    return Double(Int64(bitPattern: number(stored))) == Double(bitPattern: number(selected))
  }
}
