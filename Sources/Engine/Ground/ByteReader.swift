/// Reads bytes that may be anything, such as those of a `ByteWriter` that have been on a disk or a network.
///
/// No input is trusted: each method throws if its bytes are missing or malformed. A count may not exceed the number of
/// bytes left, so callers may allocate as much as it says.
///
/// Public, with its methods, so that they are inlined in other modules.
public struct ByteReader {
  /// The bytes are missing or malformed.
  public struct Malformed: Error {
    @inlinable
    public init() {}
  }

  @usableFromInline var cursor: UnsafeRawPointer
  @usableFromInline let end: UnsafeRawPointer

  /// - Parameter bytes: must outlive the reader.
  @inlinable
  public init(_ bytes: Bytes) {
    cursor = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
    end = cursor + bytes.count
  }

  @inlinable public var left: Int { end - cursor }
  @inlinable public var isAtEnd: Bool { cursor == end }

  @inlinable
  public mutating func byte() throws(Malformed) -> UInt8 {
    if cursor == end { throw Malformed() }
    defer { cursor += 1 }
    return cursor.load(as: UInt8.self)
  }

  @inlinable
  public mutating func packed() throws(Malformed) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while shift < 70 {
      let byte = try byte()
      // The tenth byte has one bit.
      if shift == 63, byte > 1 { break }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw Malformed()
  }

  @inlinable
  public mutating func packed(upTo limit: UInt64) throws(Malformed) -> UInt64 {
    let value = try packed()
    if value > limit { throw Malformed() }
    return value
  }

  @inlinable
  public mutating func number() throws(Malformed) -> Int { Int(try packed(upTo: UInt64(Int.max))) }

  @inlinable
  public mutating func signed() throws(Malformed) -> Int64 { unzigzag(try packed()) }

  @inlinable
  public mutating func flag() throws(Malformed) -> Bool { try packed(upTo: 1) == 1 }

  @inlinable
  public mutating func word() throws(Malformed) -> UInt64 {
    UInt64(littleEndian: try bytes(8).loadUnaligned(as: UInt64.self))
  }

  /// Reads the number of items that follow. Throws if the bytes left cannot hold that many items of `size` bytes each.
  @inlinable
  public mutating func count(ofAtLeast size: Int = 1) throws(Malformed) -> Int {
    let count = try packed()
    if count > UInt64(left / size) { throw Malformed() }
    return Int(count)
  }

  @inlinable
  public mutating func bytes(_ count: Int) throws(Malformed) -> Bytes {
    if count < 0 || count > left { throw Malformed() }
    defer { cursor += count }
    return Bytes(start: cursor, count: count)
  }

  /// Reads a length and then as many bytes.
  @inlinable
  public mutating func counted() throws(Malformed) -> Bytes { try bytes(try count()) }

  @inlinable
  public mutating func text() throws(Malformed) -> String {
    guard let text = String(validating: try counted(), as: UTF8.self) else { throw Malformed() }
    return text
  }

  @inlinable
  public mutating func rest() -> Bytes {
    defer { cursor = end }
    return Bytes(start: cursor, count: left)
  }

  @inlinable
  public func mustEnd() throws(Malformed) { if !isAtEnd { throw Malformed() } }
}
