import Ground
import LiveQuery
import Store

// Encodes a commit as bytes.
extension LoggedCommit {
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.add(number)
    writer.add(commit)
    writer.add(commits)
    writer.add(changes.count)
    for change in changes { change.add(to: &writer) }
    return writer.bytes
  }

  /// Reads the commit of an entry that `encoded` made.
  static func commit(of bytes: [UInt8]) -> Int64? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      return (try? reader.packed()) == nil ? nil : try? reader.signed()
    }
  }

  /// Reads the output of `encoded`. Changes of altered tables are `unknown`; those of deleted tables are left out.
  ///
  /// - Parameter table: returns the table with a name and a version; nil if it has changed since.
  init(
    _ bytes: Bytes, table: (_ name: String, _ version: Int64) -> (table: FeedTable?, isSame: Bool)
  ) throws(ByteReader.Malformed) {
    var reader = ByteReader(bytes)
    let (number, commit, commits) = (try reader.packed(), try reader.signed(), try reader.signed())
    var changes: [LoggedChange] = []
    for _ in 0..<(try reader.count()) {
      if let change = try LoggedChange(&reader, table) { changes.append(change) }
    }
    try reader.mustEnd()
    self.init(number: number, commit: commit, commits: commits, changes: changes)
  }
}

extension LoggedChange {
  fileprivate func add(to writer: inout ByteWriter) {
    var key = PackedValues()
    for value in self.key { key.append(value) }
    writer.add(table.name)
    writer.add(table.version)
    writer.add(operation.rawValue)
    writer.add(rowid)
    writer.add(self.key.count)
    writer.add(key.bytes)
    for row in [former, present] {
      writer.add(row != nil)
      if let row { writer.add(row.bytes) }
    }
  }

  /// - Returns: nil if its table does not exist any more.
  fileprivate init?(
    _ reader: inout ByteReader, _ find: (String, Int64) -> (table: FeedTable?, isSame: Bool)
  ) throws(ByteReader.Malformed) {
    let (name, version) = (try reader.text(), try reader.signed())
    guard let operation = Operation(rawValue: try reader.packed()) else { throw ByteReader.Malformed() }
    let (rowid, keyCount) = (try reader.signed(), try reader.count())
    let key = try PackedValues(checking: try reader.counted(), count: keyCount)
    let former = try reader.flag() ? try reader.counted() : nil
    let present = try reader.flag() ? try reader.counted() : nil
    let (found, isSame) = find(name, version)
    guard let found else { return nil }
    self.init(table: found, operation: isSame ? operation : .unknown)
    if !isSame { return }
    let columnCount = found.row.table.columns.count
    self.rowid = rowid
    self.key = key.values
    if let former { self.former = try PackedValues(checking: former, count: columnCount) }
    if let present { self.present = try PackedValues(checking: present, count: columnCount) }
  }
}
