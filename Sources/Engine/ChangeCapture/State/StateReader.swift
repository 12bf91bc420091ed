/// Reads the bytes of a state, none of which are believed.
///
/// Every read says by throwing that what it should read is not there. Counts are bounded by the bytes that are left, so what is allocated
/// for them is bounded by the size of the file.
struct StateReader {
  /// It is not a state, or one of which something does not agree with the rest.
  struct Malformed: Error {}

  private(set) var cursor: UnsafeRawPointer
  let end: UnsafeRawPointer

  /// - Parameter bytes: must outlive the reader.
  init(_ bytes: UnsafeRawBufferPointer) {
    cursor = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
    end = cursor + bytes.count
  }

  var left: Int { end - cursor }
  var isAtEnd: Bool { cursor == end }

  mutating func packed() throws(Malformed) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while cursor < end, shift < 64 {
      let byte = cursor.byte(0)
      cursor += 1
      // The tenth byte has one bit.
      if shift == 63, byte > 1 { throw Malformed() }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw Malformed()
  }

  mutating func packed(upTo limit: UInt64) throws(Malformed) -> UInt64 {
    let value = try packed()
    if value > limit { throw Malformed() }
    return value
  }

  mutating func word() throws(Malformed) -> UInt64 {
    try bytes(8).loadUnaligned(as: UInt64.self)
  }

  mutating func bytes(_ count: Int) throws(Malformed) -> UnsafeRawBufferPointer {
    if count < 0 || count > left { throw Malformed() }
    defer { cursor += count }
    return UnsafeRawBufferPointer(start: cursor, count: count)
  }

  /// How many things of at least so many bytes follow.
  mutating func count(ofAtLeast size: Int = 1) throws(Malformed) -> Int {
    Int(try packed(upTo: UInt64(left / size)))
  }

  mutating func flag() throws(Malformed) -> Bool { try packed(upTo: 1) == 1 }
  mutating func page() throws(Malformed) -> UInt32 { UInt32(try packed(upTo: UInt64(UInt32.max))) }

  mutating func pages() throws(Malformed) -> [UInt32] {
    let count = try count()
    if count == 0 { return [] }
    var pages: [UInt32] = []
    pages.reserveCapacity(count)
    for _ in 0..<count { pages.append(try page()) }
    return pages
  }

  mutating func text() throws(Malformed) -> String {
    guard let text = String(validating: try bytes(try count()), as: UTF8.self) else { throw Malformed() }
    return text
  }
}
