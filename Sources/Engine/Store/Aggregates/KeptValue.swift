import CSQLite
import Ground
package import LiveQuery
import RankedCollections

/// A copy of an SQLite value, which outlives its row. Text is in UTF-8.
package enum KeptValue: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])

  package init(_ value: PackedValue) {
    self =
      switch value {
      case .null: .null
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .text(let bytes): .text(Array(bytes))
      case .blob(let bytes): .blob(Array(bytes))
      }
  }

  /// Calls `body` with the value, whose bytes do not move during the call.
  func withPacked(_ body: (PackedValue) -> Void) {
    switch self {
    case .null: body(.null)
    case .integer(let value): body(.integer(value))
    case .real(let value): body(.real(value))
    case .text(let bytes): bytes.withUnsafeBytes { body(.text($0)) }
    case .blob(let bytes): bytes.withUnsafeBytes { body(.blob($0)) }
    }
  }

  /// Whether both values are the same to the bit. Values that SQLite considers equal, as 1 and 1.0, need not be.
  func isSame(as other: PackedValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
    case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
      left.withUnsafeBytes { $0.equals(right) }
    default: false
    }
  }
}

/// Rows of values for a virtual table, with the bytes that the values point to.
///
/// Owner: the thread of the connection.
struct ShownRows {
  private(set) var values: [sqlite_row_value] = []
  private(set) var rowids: [Int64] = []
  /// Bytes of text and blobs, each with the index of its value.
  private var bytes: [UInt8] = []
  private var places: [(value: Int, offset: Int)] = []

  mutating func removeAll() {
    values.removeAll(keepingCapacity: true)
    rowids.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  mutating func beginRow() { rowids.append(Int64(rowids.count)) }

  mutating func append(_ value: KeptValue) {
    var shown = sqlite_row_value()
    switch value {
    case .null: shown.type = SQLITE_NULL
    case .integer(let number): (shown.type, shown.number) = (SQLITE_INTEGER, number)
    case .real(let number): (shown.type, shown.number) = (SQLITE_FLOAT, Int64(bitPattern: number.bitPattern))
    case .text(let text): shown = keep(text, SQLITE_TEXT)
    case .blob(let blob): shown = keep(blob, SQLITE_BLOB)
    }
    values.append(shown)
  }

  private mutating func keep(_ content: [UInt8], _ type: Int32) -> sqlite_row_value {
    places.append((values.count, bytes.count))
    bytes += content
    var shown = sqlite_row_value()
    (shown.type, shown.length) = (type, Int32(truncatingIfNeeded: content.count))
    return shown
  }

  /// Calls `body` with the values, whose bytes do not move during the call.
  mutating func withValues<Result>(
    _ body: (UnsafePointer<sqlite_row_value>?, UnsafePointer<Int64>?, Int) throws -> Result
  ) rethrows -> Result {
    if bytes.isEmpty { bytes.append(0) }
    return try bytes.withUnsafeBytes { bytes in
      for place in places { values[place.value].bytes = bytes.baseAddress! + place.offset }
      return try values.withUnsafeBufferPointer { values in
        try rowids.withUnsafeBufferPointer { try body(values.baseAddress, $0.baseAddress, $0.count) }
      }
    }
  }
}
