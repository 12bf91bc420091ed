import Following
import LiveQuery
import QueryCompiler
import RankedCollections
import Store
import Wire

/// Shows a table's changes to readers with the same request and rights: the columns that they requested, of the rows
/// that they may read and requested.
///
/// Owner: the feed's thread.
final class TableView {
  let table: FeedTable
  let asked: ChangesStatement
  private let statement: PreparedStatement
  private let tableName: [UInt8]
  /// The columns' names as JSON, with quotes and colons.
  private let names: [[UInt8]]
  /// For each column, whether it is a part of the rows, and not only of the key.
  private let isShown: [Bool]
  /// The name of the rowid, which distinguishes rows with NULL in their primary key; nil if no row can have NULL there.
  private let rowidName: [UInt8]?

  init(
    _ table: FeedTable, _ asked: ChangesStatement, _ connection: DatabaseConnection
  ) throws(FreshetError) {
    self.table = table
    self.asked = asked
    do throws(SQLiteFailure) {
      statement = try PreparedStatement(bounded: asked.sql, connection.raw)
    } catch { throw FreshetError(queryFailure: error, place: nil) }
    for (index, value) in asked.values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    var writer = JSONWriter()
    writer.string(table.name)
    tableName = writer.bytes
    names = asked.columns.map { JSONWriter.encodedName($0) }
    let storage = table.row.storage
    let rowid = TableKey.rowidNames.first { !table.row.table.hasColumn($0) }
    rowidName = storage.keyFields == nil || storage.isWithoutRowid ? nil : rowid.map { JSONWriter.encodedName($0) }
    isShown = asked.columns.indices.map { $0 >= asked.keyCount || asked.isKeyAsked[$0] }
  }

  /// The form in which a reader of the table gets a change.
  enum Sight {
    case nothing
    case delete(former: PackedValues?, key: [SQLValue])
    case insert(PackedValues)
    case update(former: PackedValues?, PackedValues)
    /// It is unknown whether the reader had the row, and the row must not be revealed if it did not.
    case unclear
  }

  func sight(of change: LoggedChange) throws(FreshetError) -> Sight {
    let former = try change.former.flatMap { row throws(FreshetError) in try seen(row, change.rowid) }
    let present = try change.present.flatMap { row throws(FreshetError) in try seen(row, change.rowid) }
    if change.operation == .insert { return present.map { .insert($0) } ?? .nothing }
    if change.former == nil {
      if let present { return .update(former: nil, present) }
      return asked.isFilteredByRole ? .unclear : .delete(former: nil, key: change.key)
    }
    switch (former, present) {
    case (nil, nil): return .nothing
    case (let former?, nil): return .delete(former: former, key: change.key)
    case (nil, let present?): return .insert(present)
    case (let former?, let present?): return former == present ? .nothing : .update(former: former, present)
    }
  }

  /// The columns of a row that readers get; nil if they do not get the row.
  private func seen(_ row: PackedValues, _ rowid: Int64) throws(FreshetError) -> PackedValues? {
    try table.row.withRow(row, rowid: rowid) { () throws(FreshetError) in
      defer { statement.reset() }
      do throws(SQLiteFailure) {
        guard try statement.step() else { return nil }
      } catch { throw FreshetError(queryFailure: error, place: nil) }
      var values = PackedValues()
      for index in names.indices { values.append(statement.value(index)) }
      return values
    }
  }

  // MARK: - JSON

  /// - Parameter rowid: the row's rowid.
  func write(_ sight: Sight, rowid: Int64, to writer: inout JSONWriter) {
    switch sight {
    case .nothing, .unclear: break
    case .insert(let present):
      write(to: &writer, "insert") {
        writeKey(of: present, rowid, to: &$0)
        write(present, "new", to: &$0)
      }
    case .update(let former, let present):
      write(to: &writer, "update") {
        writeKey(of: present, rowid, to: &$0)
        if let former { write(former, "old", butThoseOf: present, to: &$0) }
        write(present, "new", to: &$0)
      }
    case .delete(let former, let key):
      write(to: &writer, "delete") { object in
        if let former {
          writeKey(of: former, rowid, to: &object)
          write(former, "old", to: &object)
        } else {
          object.name("key")
          object.object {
            for (name, value) in zip(names, key) { $0.member(encoded: name, value) }
            if let rowidName, key.contains(.null) { $0.member(encoded: rowidName, SQLValue.integer(rowid)) }
          }
        }
      }
    }
  }

  private func write(to writer: inout JSONWriter, _ operation: StaticString, _ body: (inout JSONWriter) -> Void) {
    writer.object {
      $0.member("table", encoded: tableName)
      $0.member("op", operation)
      body(&$0)
    }
  }

  private func writeKey(of row: PackedValues, _ rowid: Int64, to writer: inout JSONWriter) {
    writer.name("key")
    writer.object { object in
      row.bytes.withUnsafeBytes { bytes in
        var reader = PackedValueReader(bytes)
        var hasNull = false
        for name in names.prefix(asked.keyCount) {
          let value = reader.next()
          if case .null = value { hasNull = true }
          object.member(encoded: name, value)
        }
        if hasNull, let rowidName { object.member(encoded: rowidName, SQLValue.integer(rowid)) }
      }
    }
  }

  /// - Parameter other: a row to compare with. Columns that are equal in both rows are left out.
  private func write(
    _ row: PackedValues, _ member: StaticString, butThoseOf other: PackedValues? = nil, to writer: inout JSONWriter
  ) {
    writer.name(member)
    writer.object { object in
      row.bytes.withUnsafeBytes { bytes in
        (other?.bytes ?? []).withUnsafeBytes { otherBytes in
          var reader = PackedValueReader(bytes)
          var otherReader = PackedValueReader(otherBytes)
          for (index, name) in names.enumerated() {
            var ahead = reader
            let isSame = other != nil && ahead.skipEqual(&otherReader)
            let value = reader.next()
            if isShown[index], !isSame { object.member(encoded: name, value) }
          }
        }
      }
    }
  }
}
