/// Writes numbers and texts as the log has them: numbers in 7 bits a byte, lowest first; texts behind their length.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  mutating func add(byte: UInt8) { bytes.append(byte) }

  mutating func add(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Small for small numbers of either sign.
  mutating func add(_ number: Int64) { add(UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

  mutating func add(_ number: Int) { add(UInt64(number)) }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ counted: UnsafeRawBufferPointer) {
    add(counted.count)
    bytes.append(contentsOf: counted)
  }

  mutating func add(plain: some Sequence<UInt8>) { bytes.append(contentsOf: plain) }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

/// What was read is not what a `ByteWriter` wrote.
struct MalformedBytes: Error {}

/// Reads what a `ByteWriter` wrote.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0

  /// - Parameter bytes: must outlive this.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func byte() throws(MalformedBytes) -> UInt8 {
    guard position < bytes.count else { throw MalformedBytes() }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func number() throws(MalformedBytes) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      let byte = try byte()
      if shift == 63, byte > 1 { throw MalformedBytes() }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    throw MalformedBytes()
  }

  mutating func signed() throws(MalformedBytes) -> Int64 {
    let number = try number()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// A number that is no larger than that of bytes may be.
  mutating func count() throws(MalformedBytes) -> Int {
    guard let count = Int(exactly: try number()) else { throw MalformedBytes() }
    return count
  }

  mutating func plain(_ count: Int) throws(MalformedBytes) -> UnsafeRawBufferPointer {
    guard count >= 0, count <= bytes.count - position else { throw MalformedBytes() }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }

  mutating func counted() throws(MalformedBytes) -> UnsafeRawBufferPointer { try plain(try count()) }

  mutating func text() throws(MalformedBytes) -> String { String(decoding: try counted(), as: UTF8.self) }

  mutating func rest() -> UnsafeRawBufferPointer {
    defer { position = bytes.count }
    return UnsafeRawBufferPointer(rebasing: bytes[position...])
  }
}
