import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Random commits of another process; a comparison of the whole tables before and after is the oracle.
///
/// `FRESHET_SEED=n swift test --filter ChangeLogPropertyTests` repeats a failure.
@Suite struct ChangeLogPropertyTests {
  private static let commits = 150
  private static let seed =
    ProcessInfo.processInfo.environment["FRESHET_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)

  @Test(arguments: RandomSchema.all)
  func everyDifferenceIsInTheLog(_ schema: RandomSchema) throws {
    let fixture = try ChangeLogFixture(schema.sql)
    let session = try SQLiteSession(path: fixture.path)
    var generator = StatementGenerator(schema: schema, seed: Self.seed)
    try session.run(generator.pragmas())
    var before = try contents(fixture)
    for _ in 0..<Self.commits {
      let commit = generator.commit()
      try session.run(commit)
      let after = try contents(fixture)
      let changes = try fixture.changes()
      let missed =
        missing(from: changes, between: before, and: after, fixture.tables)
        + wrongOldValues(in: changes, between: before, and: after, fixture.tables)
      #expect(missed == [], "FRESHET_SEED=\(Self.seed), \(schema), after:\n\(commit)")
      if !missed.isEmpty { return }
      before = after
    }
    #expect(try fixture.isCurrent())
  }

  /// Rows as SQL literals by `table:key`; keys with NULLs can have several.
  private typealias Contents = [String: [[String]]]

  private func contents(_ fixture: ChangeLogFixture) throws -> Contents {
    try fixture.queue.read { db in
      var contents: Contents = [:]
      for table in fixture.tables {
        let literals = (table.key.names + table.columns).map { "quote(\(quotedIdentifier($0)))" }
        let sql = "SELECT \(literals.joined(separator: ", ")) FROM \(quotedIdentifier(table.name))"
        for row in try Row.fetchAll(db, sql: sql) {
          let values = row.databaseValues.compactMap(String.fromDatabaseValue)
          let count = table.key.names.count
          contents["\(table.name):\(values.prefix(count).joined(separator: ","))", default: []]
            .append(Array(values.dropFirst(count)))
        }
      }
      return contents.mapValues { $0.sorted { $0.lexicographicallyPrecedes($1) } }
    }
  }

  /// Keys whose row differs and that the log does not have, or not with every column that differs.
  private func missing(
    from changes: [LoggedChange], between before: Contents, and after: Contents, _ tables: [TrackedTable]
  ) -> [String] {
    var masks: [String: Int64] = [:]
    for change in changes {
      masks["\(change.table):\(change.key.joined(separator: ","))", default: 0] |= change.mask.rawValue
    }
    var missing: [String] = []
    for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
      guard let mask = masks[key].map(ColumnMask.init(rawValue:)) else {
        missing.append("\(key): \(before[key] ?? []) became \(after[key] ?? [])")
        continue
      }
      guard let old = before[key], let new = after[key], old.count == 1, new.count == 1 else {
        continue
      }
      for index in old[0].indices where old[0][index] != new[0][index] && !mask.contains(index) {
        missing.append("\(key): column \(index), \(old[0][index]) became \(new[0][index])")
      }
    }
    return missing.sorted()
  }

  /// Rows of before whose captured values are no more and that no change of their key reports; and keys of which the
  /// first report is not what they had before.
  private func wrongOldValues(
    in changes: [LoggedChange], between before: Contents, and after: Contents, _ tables: [TrackedTable]
  ) -> [String] {
    var wrong: [String] = []
    let reports = Dictionary(grouping: changes.filter { $0.old != nil }) { change in
      "\(change.table):\(change.key.joined(separator: ","))"
    }
    for (key, rows) in before {
      let captured = tables.first { key.hasPrefix("\($0.name):") }?.captured ?? []
      if captured.isEmpty { continue }
      func values(_ rows: [[String]]?) -> [[String]] { (rows ?? []).map { row in captured.map { row[$0] } } }
      let reported = (reports[key] ?? []).compactMap(\.old)
      let (old, new) = (values(rows), values(after[key]))
      for row in old where old.count(where: { $0 == row }) > new.count(where: { $0 == row }) && !reported.contains(row)
      {
        wrong.append("\(key): had \(row), reported \(reported)")
      }
      if !key.contains("NULL"), let first = reported.first, old != [first] {
        wrong.append("\(key): had \(old), reported first \(first)")
      }
    }
    return wrong.sorted()
  }
}
