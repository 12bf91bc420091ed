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

  /// A member's name; its value is written next.
  package mutating func name(_ name: String) {
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

  package mutating func member(_ name: String, _ value: Int) {
    self.name(name)
    integer(value)
  }

  package mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: String, _ value: Bool) {
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
    var rest = value
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  package mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { text(UnsafeRawBufferPointer($0)) }
  }

  /// Text as SQLite holds it; bytes that are not UTF-8 become U+FFFD.
  package mutating func text(_ text: UnsafeRawBufferPointer) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    if text.allSatisfy({ $0 < 0x80 }) || String(validating: text, as: UTF8.self) != nil {
      escaped(text)
    } else {
      var mended = String(decoding: text, as: UTF8.self)
      mended.withUTF8 { escaped(UnsafeRawBufferPointer($0)) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escaped(_ text: UnsafeRawBufferPointer) {
    var start = 0
    for index in text.indices {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
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
    var packed = PackedValues()
    packed.append(value)
    packed.bytes.withUnsafeBytes { bytes in
      var reader = PackedValueReader(bytes)
      self.value(reader.next())
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
