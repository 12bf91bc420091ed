package import LiveQuery

/// Writes JSON directly into a byte buffer, without a tree of objects and without strings.
///
/// The writer adds commas: one before each element or member except the first of a list.
///
/// The buffer is one block of memory with free bytes before the text. `take` hands it over, so that a message becomes a
/// frame without being copied.
package struct JSONWriter: ~Copyable {
  private var block: UnsafeMutableRawPointer
  /// The number of free bytes in the block before the text.
  private let headroom: Int
  /// The bytes of the text written so far.
  package private(set) var count = 0
  private var capacity: Int
  private var needsComma = false

  /// - Parameter count: the number of bytes that are likely to be written.
  /// - Parameter headroom: the number of bytes to leave free before the text.
  package init(reserving count: Int = 0, headroom: Int = 0) {
    self.headroom = headroom
    capacity = max(count, 256)
    block = .allocate(byteCount: headroom + capacity, alignment: 1)
  }

  deinit { block.deallocate() }

  /// The text so far.
  package var bytes: [UInt8] { withText { Array($0) } }

  package func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(start: block + headroom, count: count))
  }

  /// Hands the memory over: `headroom` bytes, then the text. The caller deallocates it.
  package consuming func take() -> (block: UnsafeMutableRawPointer, length: Int) {
    let taken = (block, count)
    discard self
    return taken
  }

  private mutating func grow(by more: Int) {
    capacity = max(capacity * 2, count + more)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: headroom + capacity, alignment: 1)
    (larger + headroom).copyMemory(from: block + headroom, byteCount: count)
    block.deallocate()
    block = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    if count == capacity { grow(by: 1) }
    block.storeBytes(of: byte, toByteOffset: headroom + count, as: UInt8.self)
    count += 1
  }

  /// Writes bytes as they are.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    if capacity - count < bytes.count { grow(by: bytes.count) }
    (block + headroom + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

  package mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Ends a JSON text with its line. The next text begins on the next line.
  mutating func endLine() {
    append(UInt8(ascii: "\n"))
    needsComma = false
  }

  private mutating func separate() {
    if needsComma { append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    append(bracket)
    needsComma = true
  }

  package mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "["))
    try body(&self)
    close(UInt8(ascii: "]"))
  }

  package mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "{"))
    try body(&self)
    close(UInt8(ascii: "}"))
  }

  /// Writes the name of a member, whose value must be written next. The name must not need escaping.
  package mutating func name(_ name: StaticString) {
    separate()
    append("\"")
    append(name)
    append("\":")
    needsComma = false
  }

  /// Writes the name of a member that a user chose, and escapes it.
  package mutating func name(escaping name: String) {
    string(name)
    append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a name that is JSON already, quotes and colon included.
  package mutating func name(encoded name: [UInt8]) {
    separate()
    append(name)
    needsComma = false
  }

  /// Writes a value that is JSON already.
  mutating func value(encoded value: [UInt8]) {
    separate()
    append(value)
  }

  /// Writes members that are JSON already, with the commas between them.
  mutating func members(encoded members: [UInt8]) {
    if members.isEmpty { return }
    separate()
    append(members)
  }

  /// Writes a member whose value must not need escaping.
  package mutating func member(_ name: StaticString, _ value: StaticString) {
    self.name(name)
    separate()
    append("\"")
    append(value)
    append("\"")
  }

  package mutating func member(_ name: StaticString, _ value: Int) {
    self.name(name)
    integer(value)
  }

  package mutating func member(_ name: StaticString, _ value: Double) {
    self.name(name)
    real(value)
  }

  package mutating func member(_ name: StaticString, _ value: String) {
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: StaticString, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  /// Writes a member whose name is JSON already, with quotes and colon.
  package mutating func member(encoded name: [UInt8], _ value: PackedValue) {
    self.name(encoded: name)
    self.value(value)
  }

  package mutating func member(encoded name: [UInt8], _ value: SQLValue) {
    self.name(encoded: name)
    self.value(value)
  }

  /// Writes a member whose value is JSON already.
  package mutating func member(_ name: StaticString, encoded value: [UInt8]) {
    self.name(name)
    self.value(encoded: value)
  }

  package mutating func null() { literal("null") }
  package mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

  private mutating func literal(_ text: StaticString) {
    separate()
    append(text)
  }

  package mutating func integer(_ value: some BinaryInteger) {
    separate()
    if value < 0 { append(UInt8(ascii: "-")) }
    digits(UInt64(value.magnitude))
  }

  private mutating func digits(_ value: UInt64) {
    if value < 10 { return append(UInt8(ascii: "0") + UInt8(value)) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      var rest = value
      repeat {
        start -= 1
        digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      } while rest > 0
      append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(digits)[start...]))
    }
  }

  package mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { text(UnsafeRawBufferPointer($0)) }
  }

  /// Writes a text with the bytes that SQLite has. Bytes that are not valid UTF-8 become U+FFFD.
  package mutating func text(_ text: UnsafeRawBufferPointer) {
    separate()
    append(UInt8(ascii: "\""))
    if JSONWriter.isPlain(text) {
      append(text)
    } else if String(validating: text, as: UTF8.self) != nil {
      escaped(text)
    } else {
      var mended = String(decoding: text, as: UTF8.self)
      mended.withUTF8 { escaped(UnsafeRawBufferPointer($0)) }
    }
    append(UInt8(ascii: "\""))
  }

  /// Whether the text is ASCII without characters that JSON escapes. Checks eight bytes at a time.
  private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
    var position = 0
    while position + 8 <= text.count {
      let word = text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      // The top bit of a byte is set if the byte is below 0x20, a quote or a backslash. It may also be set in the byte
      // after such a byte, which does no harm.
      let odd = (word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)
      // Bytes from 0x80 on are not ASCII, and may hide others.
      if (odd | word) & tops != 0 { return false }
      position += 8
    }
    return text[position...].allSatisfy { !needsEscape($0) && $0 < 0x80 }
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func escaped(_ text: UnsafeRawBufferPointer) {
    var start = 0
    for index in text.indices {
      let byte = text[index]
      guard JSONWriter.needsEscape(byte) else { continue }
      append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
      start = index + 1
      append(UInt8(ascii: "\\"))
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
      case 0x0A: append(UInt8(ascii: "n"))
      case 0x0D: append(UInt8(ascii: "r"))
      case 0x09: append(UInt8(ascii: "t"))
      default:
        append("u00")
        append(JSONWriter.hexadecimal[Int(byte >> 4)])
        append(JSONWriter.hexadecimal[Int(byte & 15)])
      }
    }
    append(UnsafeRawBufferPointer(rebasing: text[start...]))
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)
}

// SQLite's values.
extension JSONWriter {
  /// Integers beyond this limit are sent as `{"$int": "…"}`, because a double cannot hold all of them exactly.
  private static let exactLimit: Int64 = (1 << 53) - 1

  package mutating func value(_ value: PackedValue) {
    switch value {
    case .null: null()
    case .integer(let value) where value.magnitude <= UInt64(JSONWriter.exactLimit): integer(value)
    case .integer(let value): object { $0.member("$int", String(value)) }
    case .real(let value): real(value)
    case .text(let bytes): text(bytes)
    case .blob(let content):
      object {
        $0.name("$blob")
        $0.separate()
        $0.append(UInt8(ascii: "\""))
        Base64.encode(content, into: &$0)
        $0.append(UInt8(ascii: "\""))
      }
    }
  }

  package mutating func value(_ value: SQLValue) {
    switch value {
    case .null: null()
    case .integer(let value): self.value(PackedValue.integer(value))
    case .real(let value): real(value)
    case .text(let value): string(value)
    case .blob(let value): value.withUnsafeBytes { self.value(PackedValue.blob($0)) }
    }
  }

  /// Writes the shortest text that is read back as the same double. JSON has no infinity, but all parsers read 1e999 as
  /// infinity. NaN is written as null, because SQLite reads NaN as NULL.
  private mutating func real(_ value: Double) {
    if value.isNaN { return null() }
    separate()
    if value.isInfinite {
      append(value < 0 ? "-1e999" : "1e999")
    } else {
      var text = value.description
      text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
  }
}
