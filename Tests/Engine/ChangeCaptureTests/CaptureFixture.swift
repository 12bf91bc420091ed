import Foundation
import GRDB
import Ground
import TestSupport

@testable import ChangeCapture
@testable import Store

/// A database file that other processes write, followed by a capture; and SQLite's own answer for each of its states.
final class CaptureFixture {
  let path: String
  let queue: DatabaseQueue
  let capture: ChangeCapture
  private let captures: FileCaptures?
  private let raw: OpaquePointer
  private let encoding: String
  private var schema = DatabaseSchema.empty
  /// The contents of each followed table at the last tick, by its number.
  private var before: [Int: Contents] = [:]
  private(set) var followed: [Int: String] = [:]
  /// How many deltas were unknown: zero unless tables are not read whole.
  private(set) var unknown = 0
  /// States that were read since the last tick, with the contents of each table.
  private var readBetween: [(state: StateName, contents: [Int: Contents])] = []
  private var reader: CaptureFixture?
  /// How many of these states ticks passed through, and how many not.
  private(set) var passed = (0, not: 0)
  /// Decoded records, compared with the rows of SELECT.
  private(set) var decoded = DecodedRows()

  /// Rows by rowid or key, as literals.
  typealias Contents = [String: String]

  /// - Parameters:
  ///   - captures: shared with others that follow the file.
  ///   - state: what another capture has kept of the file.
  init(
    path: String, _ settings: ChangeCapture.Settings = .init(), sharing captures: FileCaptures? = nil,
    restoring state: CaptureState? = nil
  ) throws {
    self.path = path
    self.captures = captures
    var configuration = Configuration()
    configuration.readonly = true
    configuration.allowsUnsafeTransactions = true
    configuration.busyMode = .timeout(20)
    queue = try DatabaseQueue(path: path, configuration: configuration)
    (raw, encoding) = try queue.inDatabase { db in
      (db.sqliteConnection!, try String.fetchOne(db, sql: "PRAGMA encoding") ?? "")
    }
    capture = ChangeCapture(raw, settings, sharing: captures, restoring: state)
  }

  deinit { close() }

  func close() { try? queue.close() }

  /// A capture, as in another process, that continues from what this one kept at its last tick.
  func restarted(with state: CaptureState, remembering: (DatabaseSchema.Table) -> [Int] = { _ in [] }) throws
    -> CaptureFixture
  {
    let next = try CaptureFixture(path: path, sharing: captures, restoring: state)
    next.schema = schema
    for (number, name) in followed {
      guard let table = schema.table(name), let storage = table.storage else { continue }
      let again = next.capture.follow(storage.table, remembering: remembering(table), keeping: .all)
      next.followed[again] = name
      next.before[again] = before[number]
    }
    return next
  }

  /// Runs `body` in one read transaction.
  func snapshot<Result>(_ body: (Database) throws -> Result) throws -> Result {
    defer { capture.release() }
    while true {
      capture.prepare()
      try PreparedStatement.run(raw, "BEGIN")
      defer { try? PreparedStatement.run(raw, "COMMIT") }
      try PreparedStatement.run(raw, "SELECT 1 FROM sqlite_schema LIMIT 1")
      if try capture.identify() { return try queue.inDatabase(body) }
    }
  }

  /// Follows all ordinary tables.
  func followAll(remembering: (DatabaseSchema.Table) -> [Int] = { _ in [] }) throws {
    try snapshot { db in
      _ = try advance(db)
      for table in schema.tables {
        guard let storage = table.storage else { continue }
        let number = capture.follow(storage.table, remembering: remembering(table), keeping: .all)
        followed[number] = table.name
        before[number] = try contents(db, table)
      }
      while capture.readOn() {}
    }
  }

  private func advance(_ db: Database) throws -> CapturedTick {
    let tick = capture.advance(through: readBetween.map(\.state).shuffled())
    if tick.hasSchemaChanged {
      schema = try DatabaseSchema.read(db.sqliteConnection!)
      capture.define { schema.table($0)?.storage?.table }
    }
    return tick
  }

  /// Reads the tables by another connection, in a state that perhaps no tick sees.
  func readBetweenTicks() throws {
    let reader = try self.reader ?? CaptureFixture(path: path)
    self.reader = reader
    try reader.snapshot { db in
      let schema = try DatabaseSchema.read(db.sqliteConnection!)
      let contents = try followed.mapValues { name in
        try schema.table(name).map { try reader.contents(db, $0) } ?? [:]
      }
      readBetween.append((reader.capture.state, contents))
    }
  }

  /// Follows what others have committed.
  ///
  /// - Returns: the capture's errors, and the tick.
  func tick() throws -> (wrong: [String], tick: CapturedTick) {
    try snapshot { db in
      let tick = try advance(db)
      var wrong: [String] = []
      let stops = readBetween.filter { capture.hasPassed($0.state) }
      passed = (passed.0 + stops.count, passed.not + readBetween.count - stops.count)
      readBetween = []
      for (number, name) in followed {
        let now = try schema.table(name).map { try contents(db, $0) } ?? [:]
        let deltas = tick.deltas.filter { $0.table == number }.map(\.delta)
        if deltas.contains(where: \.isUnknown) {
          unknown += 1
        } else {
          wrong += try compareRecords(deltas, tick, name)
          wrong += compare(deltas, [before[number] ?? [:]] + stops.map { $0.contents[number] ?? [:] } + [now], name)
        }
        before[number] = now
      }
      while capture.readOn() {}
      return (wrong, tick)
    }
  }

  private func compareRecords(_ deltas: [ChangedRows], _ tick: CapturedTick, _ name: String) throws -> [String] {
    guard let delta = deltas.first, deltas.count == 1, !tick.hasStopped, let table = schema.table(name) else {
      return []
    }
    let now = try TableContents(raw, table, encoding: encoding)
    return decoded.compare(delta, table.storage, now, encoding: encoding) { row in
      var key = TableContents.Bytes()
      delta.forEachKeyField(of: row) { key.append($1, encoding: encoding) }
      return key
    }
  }

  private func contents(_ db: Database, _ table: DatabaseSchema.Table) throws -> Contents {
    let columns = table.columnNames.filter { _ in true }.map { "quote(\(quotedIdentifier($0)))" }
    var key = "rowid"
    if let storage = table.storage, storage.table.layout.isWithoutRowid {
      key = (table.key?.names ?? []).map { "typeof(\(quotedIdentifier($0))) || quote(\(quotedIdentifier($0)))" }
        .joined(separator: " || ',' || ")
    } else if case .rowid(let alias) = table.key {
      key = quotedIdentifier(alias)
    }
    let rows = try Row.fetchAll(
      db,
      sql:
        "SELECT '' || (\(key)), \(columns.joined(separator: " || char(31) || ")) FROM \(quotedIdentifier(table.name))")
    return Dictionary(rows.map { ($0[0] as String? ?? "NULL", $0[1] as String? ?? "NULL") }) { $0 + "|" + $1 }
  }

  /// - Parameters:
  ///   - deltas: the reports on a table, the oldest first.
  ///   - states: the table's contents in the states that the tick passed through.
  private func compare(_ deltas: [ChangedRows], _ states: [Contents], _ name: String) -> [String] {
    let steps = zip(states, states.dropFirst()).filter { $0 != $1 }
    if steps.count != deltas.count, deltas.count > 1 {
      return ["\(name) changed \(steps.count) times, told were \(deltas.count)"]
    }
    if steps.isEmpty { return compare(deltas.first ?? ChangedRows(), states[0], states[0], name) }
    return steps.enumerated().flatMap { index, step in
      compare(index < deltas.count ? deltas[index] : ChangedRows(), step.0, step.1, name)
    }
  }

  private func compare(_ delta: ChangedRows, _ before: Contents, _ after: Contents, _ name: String) -> [String] {
    var reported: [String: ChangedRows.Kind] = [:]
    var wrong: [String] = []
    for row in delta.rows {
      let key = row.key.isEmpty ? String(row.rowid) : self.key(row, delta)
      if reported.updateValue(row.kind, forKey: key) != nil { wrong.append("\(name) \(key): told twice") }
    }
    for key in Set(before.keys).union(after.keys).union(reported.keys) {
      let expected: ChangedRows.Kind? =
        before[key] == nil
        ? (after[key] == nil ? nil : .insert) : after[key] == nil ? .delete : before[key] == after[key] ? nil : .update
      if reported[key] != expected {
        wrong.append(
          "\(name) \(key): \(before[key] ?? "-") became \(after[key] ?? "-"), reported \(reported[key].map { "\($0)" } ?? "nothing")"
        )
      }
    }
    return wrong
  }

  private func key(_ row: ChangedRows.Row, _ delta: ChangedRows) -> String {
    delta.withFields(row.key) { fields in
      fields.map { value -> String in
        switch value {
        case .null, .missing: "nullNULL"
        case .integer(let value): "integer\(value)"
        case .real(let value): "real" + literal(value)
        case .text(let bytes): "text'" + text(bytes).replacingOccurrences(of: "'", with: "''") + "'"
        case .blob(let bytes): "blobX'" + bytes.map { String(format: "%02X", $0) }.joined() + "'"
        }
      }.joined(separator: ",")
    }
  }

  private func text(_ bytes: UnsafeRawBufferPointer) -> String {
    switch encoding {
    case "UTF-16le": return String(data: Data(bytes), encoding: .utf16LittleEndian) ?? ""
    case "UTF-16be": return String(data: Data(bytes), encoding: .utf16BigEndian) ?? ""
    default: return String(decoding: bytes, as: UTF8.self)
    }
  }

  private func literal(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? String(format: "%.1f", value) : "\(value)"
  }
}
