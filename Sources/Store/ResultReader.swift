import GRDBSQLite
package import LiveQuery
package import RankedCollections

/// Runs a compiled query's statements on a worker's connection, and turns rows into tree entries and contents.
///
/// Owner: the worker's thread; to be used inside its read transaction.
///
/// Mutable state: the row being read (`row`), overwritten by every row; and for queries whose key is not the table's own,
/// the two directions between base keys and keys.
package final class ResultReader {
  private let query: CompiledQuery
  private let scan: PreparedStatement
  private let single: PreparedStatement
  private let encoding: TextEncoding
  private let seed: UInt64
  private var row = ReadRow()
  private var keyOfBase: [[UInt8]: [UInt8]] = [:]
  private var baseOfKey: [[UInt8]: [UInt8]] = [:]

  /// - Parameter seed: of the stamps; another one in every process, so that nobody can make rows that agree.
  package init(
    _ query: CompiledQuery, connection: OpaquePointer, encoding: TextEncoding, seed: UInt64
  ) throws(FreshetError) {
    self.query = query
    self.encoding = encoding
    self.seed = seed
    do throws(SQLiteFailure) {
      scan = try PreparedStatement(connection, query.scanSQL)
      single = try PreparedStatement(connection, query.rowSQL)
    } catch { throw FreshetError(queryFailure: error, place: nil) }
    for (index, value) in query.parameters.enumerated() {
      scan.bind(value, at: Int32(index + 1))
      single.bind(value, at: Int32(index + 1))
    }
  }

  /// The whole result. O(rows).
  ///
  /// - Throws: `duplicate_key`, `timeout`, and what else SQLite reports.
  package func fetch() throws(FreshetError) -> SectionedTreeEditor {
    defer { scan.reset() }
    keyOfBase = [:]
    baseOfKey = [:]
    var builder = SectionedTreeBuilder(onlySection: query.section == nil ? ReadRow.onlySection.bytes : nil)
    do {
      while try scan.step() {
        row.read(scan, query, seed)
        row.withParts { section, label, entry in
          builder.append(section: section, label: label, entry: entry, stamp: row.stamp)
        }
        if !query.isKeyOfTable { remember(row) }
      }
      return try builder.finish()
    } catch { throw failure(error) }
  }

  /// Looks up base keys that may have changed, and makes the editor agree with what is there now.
  ///
  /// Idempotent: a key that has not changed costs the look-up only. O(keys × log n).
  ///
  /// - Throws: `duplicate_key`; the editor is of no use then.
  package func refresh(
    _ baseKeys: some Collection<[UInt8]>, in editor: inout SectionedTreeEditor
  ) throws(FreshetError) {
    do {
      // Keys may have passed from row to row: all old ones have to be out before the first new one comes in.
      if !query.isKeyOfTable { for base in baseKeys { forget(base, in: &editor) } }
      for base in baseKeys { try refresh(base, in: &editor) }
      try editor.refreshLabels { try self.label(identity: $0) }
    } catch { throw failure(error) }
  }

  private func refresh(_ base: [UInt8], in editor: inout SectionedTreeEditor) throws {
    defer { single.reset() }
    bind(base)
    var isFirst = true
    while try single.step() {
      row.read(single, query, seed)
      try row.withParts { section, label, entry in
        let identity = RankedEntry.identity(of: entry)
        if isFirst, query.isKeyOfTable {
          // Under NOCASE a key finds its row also when that is spelled otherwise now, and has been read already.
          let isSpelledSo = base.withUnsafeBytes { $0.equals(identity) }
          if !isSpelledSo { _ = base.withUnsafeBytes { editor.remove($0) } }
          if editor.restamp(section: section, label: label, entry: entry, stamp: row.stamp) { return }
          editor.remove(identity)
        }
        guard editor.insert(section: section, label: label, entry: entry, stamp: row.stamp) else {
          throw SectionedTreeBuilder.DuplicateIdentity(identity: Array(identity))
        }
      }
      if !query.isKeyOfTable { remember(row) }
      isFirst = false
    }
    if isFirst, query.isKeyOfTable { _ = base.withUnsafeBytes { editor.remove($0) } }
  }

  /// Reads the contents of rows of the version that the transaction sees. O(rows × log n).
  package func contents(of rows: some Collection<SectionedTree.Row>) throws(FreshetError) -> PackedRows {
    var packed = PackedRows(columnCount: query.columns.count)
    do {
      for place in rows {
        try place.withIdentity { identity in
          try withRow(identity: identity) { statement in
            packed.appendRow { values in
              for column in query.columns.indices {
                values.append(statement.value(query.firstColumn + column))
              }
            }
          }
        }
      }
    } catch { throw failure(error) }
    return packed
  }

  private func label(identity: Bytes) throws -> [UInt8] {
    try withRow(identity: identity) { statement in
      row.read(statement, query, seed)
      return row.label.bytes
    }
  }

  private func withRow<Result>(identity: Bytes, _ body: (PreparedStatement) throws -> Result) throws -> Result {
    defer { single.reset() }
    if query.isKeyOfTable { bind(identity) } else { bind(baseOfKey[Array(identity)] ?? []) }
    guard try single.step() else {
      throw FreshetError(.internal, "a row of the result is not in the database state it was read from")
    }
    return try body(single)
  }

  private func bind(_ base: [UInt8]) { base.withUnsafeBytes { bind($0) } }

  private func bind(_ base: Bytes) {
    var decoder = KeyDecoder(base)
    var parameter = query.firstKeyParameter
    while !decoder.isAtEnd {
      single.bind(decoder.next(), at: parameter, encoding: encoding)
      parameter += 1
    }
  }

  private func remember(_ row: ReadRow) {
    keyOfBase[row.base] = row.identity
    baseOfKey[row.identity] = row.base
  }

  private func forget(_ base: [UInt8], in editor: inout SectionedTreeEditor) {
    guard let key = keyOfBase.removeValue(forKey: base) else { return }
    baseOfKey[key] = nil
    _ = key.withUnsafeBytes { editor.remove($0) }
  }

  private func failure(_ error: any Error) -> FreshetError {
    switch error {
    case let error as FreshetError: return error
    case let error as SQLiteFailure: return FreshetError(queryFailure: error, place: nil)
    case let error as SectionedTreeBuilder.DuplicateIdentity:
      let key = error.identity.withUnsafeBytes { KeyDecoder.describe($0) }
      return FreshetError(.duplicateKey, "two rows of the result have the key \(key)")
    default: return FreshetError(.internal, "\(error)")
    }
  }
}

/// The row that a statement stands on, taken apart; its buffers are used again for every row.
private struct ReadRow {
  var section: [UInt8] = []
  var label = PackedValues()
  var entry = RankedEntry()
  var base: [UInt8] = []
  var stamp = RowStamp(0)

  /// The label of the one section of a query without sections.
  static let onlySection: PackedValues = {
    var label = PackedValues()
    label.append(SQLValue.text(""))
    label.append(SQLValue.text(""))
    return label
  }()

  var identity: [UInt8] { entry.bytes.withUnsafeBytes { Array(RankedEntry.identity(of: $0)) } }

  func withParts<Result>(_ body: (_ section: Bytes, _ label: Bytes, _ entry: Bytes) throws -> Result) rethrows -> Result
  {
    try section.withUnsafeBytes { section in
      try label.bytes.withUnsafeBytes { label in
        try entry.bytes.withUnsafeBytes { try body(section, label, $0) }
      }
    }
  }

  mutating func read(_ statement: PreparedStatement, _ query: CompiledQuery, _ seed: UInt64) {
    let first = query.firstColumn
    var column = 0
    readSection(statement, query, &column)
    entry.removeAll()
    for order in query.sorts {
      entry.append { statement.appendKey(column, order, to: &$0) }
      column += 1
    }
    for (column, order) in query.keyTies {
      entry.append { statement.appendKey(first + column, order, to: &$0) }
    }
    entry.startIdentity()
    for index in query.keyColumns.indices {
      entry.append { statement.appendKey(first + index, .identity, to: &$0) }
    }
    entry.finish()
    base.removeAll(keepingCapacity: true)
    while column < first {
      statement.appendKey(column, .identity, to: &base)
      column += 1
    }
    var hash = seed
    for index in query.columns.indices { hash = statement.value(first + index).hash(seed: hash) }
    stamp = RowStamp(hash)
  }

  private mutating func readSection(_ statement: PreparedStatement, _ query: CompiledQuery, _ column: inout Int) {
    section.removeAll(keepingCapacity: true)
    label.removeAll()
    guard let order = query.section else {
      label = ReadRow.onlySection
      return
    }
    statement.appendKey(column, order, to: &section)
    let name = statement.value(column)
    label.append(name)
    column += 1
    if query.hasIndexTitle {
      label.append(.text(statement.value(column).indexTitleText))
      column += 1
    } else {
      label.appendIndexTitle(of: name)
    }
  }
}

extension PreparedStatement {
  @inline(__always)
  fileprivate func appendKey(_ column: Int, _ order: FieldOrder, to bytes: inout [UInt8]) {
    PreparedStatement.appendKey(handle, Int32(column), order, to: &bytes)
  }
}
