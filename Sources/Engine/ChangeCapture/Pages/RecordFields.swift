/// The fields of one record: https://sqlite.org/fileformat2.html#record_format.
struct RecordFields {
  /// Stands for a field that the record does not have, because its column was added later. SQLite never writes this
  /// serial type.
  static let missing: UInt64 = 10

  private var header: UnsafeRawPointer
  private let headerEnd: UnsafeRawPointer
  /// Where the next field's body starts, counted from the record's start.
  private(set) var offset: Int

  /// - Parameters:
  ///   - available: the number of bytes of the record from `start` on that may be read.
  /// - Throws: `page` if the record's header is longer than these bytes.
  init(_ start: UnsafeRawPointer, available: Int) throws(Doubt) {
    var size: UInt64 = 0
    let length = readVarint(start, start + available, &size)
    if length == 0 || size > UInt64(available) || size < UInt64(length) { throw Doubt(.page) }
    header = start + length
    headerEnd = start + Int(size)
    offset = Int(size)
  }

  /// Reads the next field: its serial type, and where its body is. Nil after the last field.
  @inline(__always)
  mutating func next() throws(Doubt) -> (type: UInt64, body: Range<Int>)? {
    if header >= headerEnd { return nil }
    var type: UInt64 = 0
    let length = readVarint(header, headerEnd, &type)
    if length == 0 { throw Doubt(.page) }
    header += length
    let size = RecordFields.size(of: type)
    if size > Int(Int32.max) { throw Doubt(.page) }
    defer { offset += size }
    return (type, offset..<offset + size)
  }

  /// The number of bytes of a body.
  @inline(__always)
  static func size(of type: UInt64) -> Int {
    switch type {
    case 0, 8, 9, 10, 11: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    default: Int(truncatingIfNeeded: min((type - 12) / 2, UInt64(Int32.max) + 1))
    }
  }
}

/// A value as a record stores it.
package enum StoredValue: Equatable {
  case null
  case integer(Int64)
  case real(Double)
  /// Text in the database's encoding.
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)
  /// The record ends before this column, which was added later: the value is the column's default.
  case missing

  package static func == (left: StoredValue, right: StoredValue) -> Bool {
    switch (left, right) {
    case (.null, .null), (.missing, .missing): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
    case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)): left.elementsEqual(right)
    default: false
    }
  }

  /// - Parameter body: the bytes of the value, as many as its type has.
  init(type: UInt64, body: UnsafeRawPointer) {
    switch type {
    case 0: self = .null
    case 1...6:
      let count = RecordFields.size(of: type)
      var value = Int64(Int8(bitPattern: body.byte(0)))
      for index in 1..<max(count, 1) { value = value << 8 | Int64(body.byte(index)) }
      self = .integer(value)
    case 7: self = .real(Double(bitPattern: UInt64(body.bigEndian32(0)) << 32 | UInt64(body.bigEndian32(4))))
    case 8: self = .integer(0)
    case 9: self = .integer(1)
    case RecordFields.missing: self = .missing
    case 11: self = .null
    default:
      let bytes = UnsafeRawBufferPointer(start: body, count: RecordFields.size(of: type))
      self = type & 1 == 1 ? .text(bytes) : .blob(bytes)
    }
  }
}
