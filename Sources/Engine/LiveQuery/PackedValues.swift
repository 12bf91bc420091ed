package import Ground
import RankedCollections

/// SQLite values laid end to end as bytes. Row contents go from a statement to a frame in this form, without an object
/// for each value.
///
/// A value is a tag byte, followed by nothing (null), eight bytes (integer, real), or a four-byte length and that many
/// bytes (text, blob), all little-endian. Text is the bytes that SQLite has; `Wire` replaces bytes that are not valid
/// UTF-8.
package struct PackedValues: Equatable, Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}
  package init(bytes: [UInt8]) { self.bytes = bytes }

  fileprivate enum Tag: UInt8 {
    case null, integer, real, text, blob
  }

  fileprivate mutating func append(packed: ArraySlice<UInt8>) { bytes.append(contentsOf: packed) }

  /// Frees memory that was reserved for more values.
  package mutating func trim() {
    if bytes.capacity > bytes.count * 9 / 8 { bytes = bytes.withUnsafeBufferPointer { Array($0) } }
  }

  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
  package mutating func appendNull() { bytes.append(Tag.null.rawValue) }

  package mutating func append(_ value: Int64) { append(.integer, UInt64(bitPattern: value), size: 8) }
  package mutating func append(_ value: Double) { append(.real, value.bitPattern, size: 8) }
  package mutating func append(text: Bytes) { append(.text, text) }
  package mutating func append(blob: Bytes) { append(.blob, blob) }

  private mutating func append(_ tag: Tag, _ content: Bytes) {
    append(tag, UInt64(UInt32(content.count)), size: 4)
    bytes.append(contentsOf: content)
  }

  /// Appends the tag and the lower `size` bytes of a word at once, because appending nine bytes to an array takes about
  /// as long as appending one.
  private mutating func append(_ tag: Tag, _ word: UInt64, size: Int) {
    let head = ((word << 8 | UInt64(tag.rawValue)).littleEndian, (word >> 56).littleEndian)
    withUnsafeBytes(of: head) { bytes.append(contentsOf: Bytes(rebasing: $0[...size])) }
  }

  package mutating func append(_ value: SQLValue) {
    switch value {
    case .null: appendNull()
    case .integer(let value): append(value)
    case .real(let value): append(value)
    case .text(let value):
      var value = value
      value.withUTF8 { append(text: Bytes($0)) }
    case .blob(let value): value.withUnsafeBytes { append(blob: $0) }
    }
  }
}

extension PackedValues {
  package mutating func append(_ value: PackedValue) {
    switch value {
    case .null: appendNull()
    case .integer(let value): append(value)
    case .real(let value): append(value)
    case .text(let bytes): append(text: bytes)
    case .blob(let bytes): append(blob: bytes)
    }
  }

  /// The default index title of a section: its name's first character in upper case.
  package mutating func appendIndexTitle(of name: PackedValue) {
    if case .text(let bytes) = name, let first = bytes.first, first < 0x80, bytes.count < 2 || bytes[1] < 0x80 {
      // The character is ASCII, and the next one cannot combine with it.
      let upper = first >= UInt8(ascii: "a") && first <= UInt8(ascii: "z") ? first & ~0x20 : first
      withUnsafeBytes(of: upper) { append(text: $0) }
    } else {
      append(.text(name.indexTitleText.first.map { $0.uppercased() } ?? ""))
    }
  }
}

extension PackedValue {
  /// The value as an index of sections shows it.
  package var indexTitleText: String {
    switch self {
    case .null, .blob: ""
    case .integer(let value): String(value)
    case .real(let value): value.description
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// A hash that distinguishes all values, including 1 from 1.0.
  package func hash(seed: UInt64) -> UInt64 {
    switch self {
    case .null: Bytes.mix(seed ^ 1, 0x9FB2_1C65_1E98_DF25)
    case .integer(let value): Bytes.mix(seed ^ UInt64(bitPattern: value), 0xD6E8_FEB8_6659_FD93)
    case .real(let value): Bytes.mix(seed ^ value.bitPattern, 0xA24B_AED4_963E_E407)
    case .text(let bytes): bytes.hash(seed: seed ^ 2)
    case .blob(let bytes): bytes.hash(seed: seed ^ 3)
    }
  }
}

/// A value in packed bytes. Text and blobs are borrowed from them.
package enum PackedValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(Bytes)
  case blob(Bytes)

  package var value: SQLValue {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): .blob(Array(bytes))
    }
  }
}

/// Reads packed values one after the other.
package struct PackedValueReader {
  private let bytes: Bytes
  private var position: Int

  package init(_ bytes: Bytes, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  package var isAtEnd: Bool { position == bytes.count }

  /// - Precondition: a value is left.
  package mutating func next() -> PackedValue {
    let tag = PackedValues.Tag(rawValue: bytes[position])!
    position += 1
    switch tag {
    case .null: return .null
    case .integer: return .integer(load())
    case .real: return .real(Double(bitPattern: load()))
    case .text: return .text(content())
    case .blob: return .blob(content())
    }
  }

  /// Skips one value in both readers, and returns whether the values are equal bit by bit.
  package mutating func skipEqual(_ other: inout PackedValueReader) -> Bool {
    let start = position
    let otherStart = other.position
    _ = next()
    _ = other.next()
    return Bytes(rebasing: bytes[start..<position]).equals(Bytes(rebasing: other.bytes[otherStart..<other.position]))
  }

  private mutating func load<Value: FixedWidthInteger & BitwiseCopyable>() -> Value {
    defer { position += MemoryLayout<Value>.size }
    return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Value.self))
  }

  private mutating func content() -> Bytes {
    let count = Int(load() as UInt32)
    defer { position += count }
    return Bytes(rebasing: bytes[position..<position + count])
  }
}

extension PackedValues {
  /// Reads values from untrusted bytes.
  ///
  /// - Parameter count: the number of values that the bytes must have.
  package init(checking bytes: Bytes, count: Int) throws(ByteReader.Malformed) {
    var reader = ByteReader(bytes)
    for _ in 0..<count {
      switch Tag(rawValue: try reader.byte()) {
      case .null: break
      case .integer, .real: _ = try reader.word()
      case .text, .blob:
        let length = try reader.bytes(4).loadUnaligned(as: UInt32.self)
        _ = try reader.bytes(Int(UInt32(littleEndian: length)))
      case nil: throw ByteReader.Malformed()
      }
    }
    try reader.mustEnd()
    self.init(bytes: Array(bytes))
  }

  package var values: [SQLValue] {
    bytes.withUnsafeBytes { bytes in
      var reader = PackedValueReader(bytes)
      var values: [SQLValue] = []
      while !reader.isAtEnd { values.append(reader.next().value) }
      return values
    }
  }
}

/// The contents of rows, each `columnCount` packed values.
package struct PackedRows: Sendable {
  package let columnCount: Int
  private(set) var values = PackedValues()
  /// The range of each row's bytes in `values`.
  private var ranges: [Range<Int>] = []

  package init(columnCount: Int) { self.columnCount = columnCount }

  /// Creates rows that `setRow` sets later, in any order.
  package init(columnCount: Int, count: Int) {
    self.columnCount = columnCount
    ranges = Array(repeating: 0..<0, count: count)
  }

  /// Frees unused capacity if it is large, because growing arrays have up to twice the memory that they use. O(bytes).
  package mutating func trim() {
    if ranges.capacity > ranges.count * 9 / 8 { ranges = ranges.withUnsafeBufferPointer { Array($0) } }
    values.trim()
  }

  /// Removes all rows, and keeps their memory for new ones.
  package mutating func removeAll() {
    values.removeAll()
    ranges.removeAll(keepingCapacity: true)
  }

  package var count: Int { ranges.count }
  package var byteCount: Int { values.bytes.count }

  /// The end of the rows from `start` on that take about `byteLimit` bytes. They include at least one row, if any is
  /// left.
  package func end(from start: Int, byteLimit: Int) -> Int {
    var end = start
    var bytes = 0
    while end < count, bytes < byteLimit || end == start {
      bytes += ranges[end].count
      end += 1
    }
    return end
  }

  /// Adds a row; `body` appends exactly `columnCount` values.
  package mutating func appendRow(_ body: (inout PackedValues) throws -> Void) rethrows {
    let start = values.bytes.count
    try body(&values)
    ranges.append(start..<values.bytes.count)
  }

  /// Sets a row; `body` appends exactly `columnCount` values.
  package mutating func setRow(_ index: Int, _ body: (inout PackedValues) throws -> Void) rethrows {
    let start = values.bytes.count
    try body(&values)
    ranges[index] = start..<values.bytes.count
  }

  /// Appends a copy of a row of other rows, which have the same number of columns.
  package mutating func appendRow(copying index: Int, of other: PackedRows) {
    let start = values.bytes.count
    values.append(packed: other.values.bytes[other.ranges[index]])
    ranges.append(start..<values.bytes.count)
  }

  /// Calls `body` with a reader that is at a row's first value.
  package func withRow(_ index: Int, _ body: (inout PackedValueReader) throws -> Void) rethrows {
    try values.bytes.withUnsafeBytes { bytes in
      var reader = PackedValueReader(bytes, at: ranges[index].lowerBound)
      try body(&reader)
    }
  }

  /// The values of rows in a range.
  package func values(_ range: Range<Int>) -> [[SQLValue]] {
    var rows: [[SQLValue]] = []
    rows.reserveCapacity(range.count)
    forEachRow(in: range) { reader in
      var row: [SQLValue] = []
      row.reserveCapacity(columnCount)
      for _ in 0..<columnCount { row.append(reader.next().value) }
      rows.append(row)
    }
    return rows
  }

  /// Calls `body` for each row in a range, with a reader that is at the row's first value.
  package func forEachRow(in range: Range<Int>, _ body: (inout PackedValueReader) -> Void) {
    values.bytes.withUnsafeBytes { bytes in
      for index in range {
        var reader = PackedValueReader(bytes, at: ranges[index].lowerBound)
        body(&reader)
      }
    }
  }
}
