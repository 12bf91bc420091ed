import CSQLite
import LiveQuery
import RankedCollections

/// Computes each total of a list separately. A total that cannot be computed is NULL, with SQLite's message, and does
/// not affect the others. O(totals × rows of the list).
struct TotalsOneByOne {
  let reader: ResultReader

  func setTotals(_ totals: ResultPlan.Totals, of editor: inout SectionedTreeEditor) throws(SQLiteFailure) {
    var whole: [Value] = []
    var bySection: [[UInt8]: [Int: SQLValue]] = [:]
    var errors: [String?] = []
    for (index, sql) in totals.alone.enumerated() {
      var value = Value()
      try read(sql.wholeSQL, error: &value.error) { value.value = $0.value(0).value }
      whole.append(value)
      var error: String?
      if let sql = sql.sectionsSQL {
        try read(sql, error: &error) { bySection[section($0), default: [:]][index] = $0.value(1).value }
      }
      errors.append(error)
    }
    let packedWhole = packed(whole, totals.names)
    editor.setTotals(packedWhole)
    if reader.plan.section == nil { return editor.setTotals(packedWhole, ofSection: ReadRow.keyOfOnlySection) }
    for (section, values) in bySection {
      // The error may concern any section, so no section has this total.
      let list = errors.enumerated().map { Value(value: $1 == nil ? values[$0] ?? .null : .null, error: $1) }
      section.withUnsafeBytes { editor.setTotals(packed(list, totals.names), ofSection: $0) }
    }
  }

  private struct Value {
    var value = SQLValue.null
    var error: String?
  }

  /// - Parameter error: set to SQLite's message if it cannot compute the total.
  private func read(
    _ sql: String, error: inout String?, _ body: (PreparedStatement) -> Void
  ) throws(SQLiteFailure) {
    let statement = try reader.prepared(sql)
    do throws(SQLiteFailure) {
      while try statement.step() { body(statement) }
    } catch let failure {
      guard failure.primaryCode == SQLITE_ERROR else { throw failure }
      error = failure.message
    }
  }

  /// The encoded value of a section, which is the first column of a row.
  private func section(_ statement: PreparedStatement) -> [UInt8] {
    var key: [UInt8] = []
    guard let order = reader.plan.section else { return key }
    PreparedStatement.appendKey(statement.handle, 0, order, reader.statements.encoding, to: &key)
    return key
  }

  private func packed(_ list: [Value], _ names: [String]) -> [UInt8] {
    var values = PackedValues()
    for (name, value) in zip(names, list) { values.appendTotal(name, value.value, error: value.error) }
    return values.bytes
  }
}
