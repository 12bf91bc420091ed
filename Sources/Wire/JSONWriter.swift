package import LiveQuery

/// Writes JSON into a byte buffer: no tree of objects, no strings in between.
///
/// Commas are the writer's business: it puts one in front of whatever follows something in the same list.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init(reserving count: Int = 0) { bytes.reserveCapacity(count) }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
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

  /// A member's name, in which there is nothing that JSON escapes; its value is written next.
  package mutating func name(_ name: StaticString) {
    let count = name.utf8CodeUnitCount
    withUnsafeTemporaryAllocation(byteCount: count + 4, alignment: 1) { buffer in
      // A comma, quotes and colon around it, in one go: an array takes about as long for one byte as for all.
      buffer[0] = UInt8(ascii: ",")
      buffer[1] = UInt8(ascii: "\"")
      buffer.baseAddress!.advanced(by: 2).copyMemory(from: name.utf8Start, byteCount: count)
      buffer[count + 2] = UInt8(ascii: "\"")
      buffer[count + 3] = UInt8(ascii: ":")
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[(needsComma ? 0 : 1)...]))
    }
    needsComma = false
  }

  /// A name that somebody else chose.
  package mutating func name(escaping name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A name that is laid out as JSON already, quotes and colon included.
  package mutating func name(encoded name: [UInt8]) {
    separate()
    bytes.append(contentsOf: name)
    needsComma = false
  }

  /// A value that is laid out as JSON already.
  mutating func value(encoded value: [UInt8]) {
    separate()
    bytes.append(contentsOf: value)
  }

  package mutating func member(_ name: StaticString, _ value: Int) {
    self.name(name)
    integer(value)
  }

  package mutating func member(_ name: StaticString, _ value: String) {
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: StaticString, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  package mutating func null() { literal("null") }
  package mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

  private mutating func literal(_ text: StaticString) {
    separate()
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package mutating func integer(_ value: some BinaryInteger) {
    separate()
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    digits(UInt64(value.magnitude))
  }

  private mutating func digits(_ value: UInt64) {
    if value < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(value)) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      var rest = value
      repeat {
        start -= 1
        digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      } while rest > 0
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }

  package mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { text(UnsafeRawBufferPointer($0)) }
  }

  /// Text as SQLite holds it; bytes that are not UTF-8 become U+FFFD.
  package mutating func text(_ text: UnsafeRawBufferPointer) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    if JSONWriter.isPlain(text) {
      bytes.append(contentsOf: text)
    } else if String(validating: text, as: UTF8.self) != nil {
      escaped(text)
    } else {
      var mended = String(decoding: text, as: UTF8.self)
      mended.withUTF8 { escaped(UnsafeRawBufferPointer($0)) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether the text is ASCII without anything that JSON escapes; eight bytes a step.
  private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
    var position = 0
    while position + 8 <= text.count {
      let word = text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      // A byte's top bit is set where it is below 0x20, or was made zero above; or, harmlessly, behind such a byte.
      let odd = (word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)
      // Bytes from 0x80 on are odd themselves, and may hide others.
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
      bytes.append(contentsOf: text[start..<index])
      start = index + 1
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
      case 0x0A: bytes.append(UInt8(ascii: "n"))
      case 0x0D: bytes.append(UInt8(ascii: "r"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      default:
        bytes.append(contentsOf: Array("u00".utf8))
        bytes.append(JSONWriter.hexadecimal[Int(byte >> 4)])
        bytes.append(JSONWriter.hexadecimal[Int(byte & 15)])
      }
    }
    bytes.append(contentsOf: text[start...])
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)
}

// SQLite's values.
extension JSONWriter {
  /// Integers beyond this are sent as `{"$int": "…"}`: a double cannot tell them apart.
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
        $0.bytes.append(UInt8(ascii: "\""))
        Base64.encode(content, into: &$0.bytes)
        $0.bytes.append(UInt8(ascii: "\""))
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

  /// The shortest text that reads back as the same double. JSON has no infinity; 1e999 is read as one everywhere.
  private mutating func real(_ value: Double) {
    separate()
    if value.isInfinite {
      bytes.append(contentsOf: Array((value < 0 ? "-1e999" : "1e999").utf8))
    } else {
      bytes.append(contentsOf: value.description.utf8)
    }
  }
}
