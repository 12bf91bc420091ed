import LiveQuery
import RankedCollections
import Store

// A commit as bytes: a sequence of packed values, none of which are believed when they are read back.
extension LoggedCommit {
  var encoded: [UInt8] {
    var values = PackedValues()
    values.append(Int64(bitPattern: number))
    values.append(commit)
    values.append(commits)
    values.append(Int64(changes.count))
    for change in changes { change.append(to: &values) }
    return values.bytes
  }

  /// The commit of an entry that `encoded` made.
  static func commit(of bytes: [UInt8]) -> Int64? {
    bytes.withUnsafeBytes { bytes in
      var reader = CheckedValueReader(bytes)
      return reader.integer() == nil ? nil : reader.integer()
    }
  }

  /// - Parameter table: the table of a name and a version; nil: it is another one now.
  /// - Returns: nil for anything but what `encoded` made. Changes of tables that are other ones now are `unknown`, or left out where the
  ///   table is gone.
  init?(
    _ bytes: UnsafeRawBufferPointer, table: (_ name: String, _ version: Int64) -> (table: FeedTable?, isSame: Bool)
  ) {
    var reader = CheckedValueReader(bytes)
    guard let number = reader.integer(), let commit = reader.integer(), let commits = reader.integer(),
      let count = reader.integer(), count >= 0, count <= Int64(bytes.count)
    else { return nil }
    var changes: [LoggedChange] = []
    for _ in 0..<count {
      guard let change = LoggedChange.read(&reader, table) else { return nil }
      if let change { changes.append(change) }
    }
    if !reader.isAtEnd { return nil }
    self.init(number: UInt64(bitPattern: number), commit: commit, commits: commits, changes: changes)
  }
}

extension LoggedChange {
  private static let operations: [Operation] = [.insert, .update, .delete, .schema, .unknown]

  fileprivate func append(to values: inout PackedValues) {
    values.append(.text(table.name))
    values.append(table.version)
    values.append(Int64(Self.operations.firstIndex(of: operation)!))
    values.append(rowid)
    values.append(Int64(key.count))
    for value in key { values.append(value) }
    for row in [former, present] {
      if let row { row.bytes.withUnsafeBytes { values.append(blob: $0) } } else { values.appendNull() }
    }
  }

  /// Reads a change.
  ///
  /// - Returns: nil for anything but what `append` wrote; `.some(nil)` where its table is gone.
  fileprivate static func read(
    _ reader: inout CheckedValueReader, _ find: (String, Int64) -> (table: FeedTable?, isSame: Bool)
  ) -> LoggedChange?? {
    guard case .text(let name)? = reader.next(), let version = reader.integer(), let operation = reader.integer(),
      operation >= 0, operation < Int64(operations.count), let rowid = reader.integer(),
      let keyCount = reader.integer(), keyCount >= 0, keyCount <= 2_000
    else { return nil }
    var key: [SQLValue] = []
    for _ in 0..<keyCount {
      guard let value = reader.next() else { return nil }
      key.append(value)
    }
    guard let former = reader.row(), let present = reader.row() else { return nil }
    let (table, isSame) = find(name, version)
    guard let table else { return .some(nil) }
    if !isSame { return LoggedChange(table: table, operation: .unknown) }
    for row in [former, present] {
      if let row, !CheckedValueReader.isRow(row, of: table.row.table.columns.count) { return nil }
    }
    return LoggedChange(
      table: table, operation: operations[Int(operation)], rowid: rowid, key: key, former: former, present: present)
  }
}

/// Reads packed values that may be anything.
struct CheckedValueReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func integer() -> Int64? {
    guard case .integer(let value)? = next() else { return nil }
    return value
  }

  /// Nil: there is no value.
  mutating func next() -> SQLValue? {
    guard position < bytes.count else { return nil }
    // A tag, and eight bytes or a length.
    let size: Int
    switch bytes[position] {
    case 0: size = 1
    case 1, 2: size = 9
    case 3, 4:
      guard bytes.count - position >= 5 else { return nil }
      size = 5 + Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position + 1, as: UInt32.self)))
    default: return nil
    }
    guard bytes.count - position >= size else { return nil }
    var reader = PackedValueReader(bytes, at: position)
    position += size
    return reader.next().value
  }

  /// A row's values, or none; nil: neither.
  mutating func row() -> PackedValues?? {
    switch next() {
    case .null: .some(nil)
    case .blob(let bytes): PackedValues(bytes: bytes)
    default: nil
    }
  }

  static func isRow(_ row: PackedValues, of columnCount: Int) -> Bool {
    row.bytes.withUnsafeBytes { bytes in
      var reader = CheckedValueReader(bytes)
      for _ in 0..<columnCount where reader.next() == nil { return false }
      return reader.isAtEnd
    }
  }
}
