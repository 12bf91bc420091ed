/// The reason why a text is not JSON.
package struct JSONError: Error, Equatable {
  package var message: String
  /// The place of the error, in bytes from the start.
  package var offset: Int
}

/// Reads strict JSON (RFC 8259): there may be no text before or after the value, no control characters in strings, and
/// no lone surrogates. A number too large for a double is read as infinity, as `JSONWriter` writes infinity. If a name
/// comes twice, the last member counts.
package struct JSONParser {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var depth = 0
  /// The deepest nesting that is accepted, because the parser recurses.
  private static let depthLimit = 64

  private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  package static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
    var parser = JSONParser(bytes)
    parser.skipSpace()
    let value = try parser.value()
    parser.skipSpace()
    if parser.position < bytes.count { throw parser.error("unexpected text after the value") }
    return value
  }

  package static func parse(_ text: String) throws(JSONError) -> JSONValue {
    try parse(Array(text.utf8))
  }

  package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
    // Typed throws do not pass through withUnsafeBytes on older compilers.
    let result: Result<JSONValue, JSONError> = bytes.withUnsafeBytes { buffer in
      do throws(JSONError) { return .success(try parse(buffer)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func error(_ message: String) -> JSONError { JSONError(message: message, offset: position) }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    switch current {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
    case nil: throw error("the text ends where a value should be")
    default: throw error("a value should be here")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count,
      UnsafeRawBufferPointer(rebasing: bytes[position..<end]).elementsEqual(
        UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    else { throw error("a value should be here") }
    position = end
    return value
  }

  private mutating func enter() throws(JSONError) {
    depth += 1
    if depth > JSONParser.depthLimit { throw error("nested deeper than \(JSONParser.depthLimit) levels") }
    position += 1
    skipSpace()
  }

  private mutating func array() throws(JSONError) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var elements: [JSONValue] = []
    if current == UInt8(ascii: "]") {
      position += 1
      return .array([])
    }
    while true {
      elements.append(try value())
      if try endsList(UInt8(ascii: "]")) { return .array(elements) }
    }
  }

  private mutating func object() throws(JSONError) -> JSONValue {
    try enter()
    defer { depth -= 1 }
    var members: [String: JSONValue] = [:]
    if current == UInt8(ascii: "}") {
      position += 1
      return .object([:])
    }
    while true {
      guard current == UInt8(ascii: "\"") else { throw error("a member's name should be here") }
      let name = try string()
      skipSpace()
      guard current == UInt8(ascii: ":") else { throw error("a colon should be here") }
      position += 1
      skipSpace()
      members[name] = try value()
      if try endsList(UInt8(ascii: "}")) { return .object(members) }
    }
  }

  /// Called after an element. Returns true at the closing bracket, and false after a comma.
  private mutating func endsList(_ closing: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard let byte = current, byte == closing || byte == UInt8(ascii: ",") else {
      throw error("a comma or a closing bracket should be here")
    }
    position += 1
    skipSpace()
    return byte == closing
  }
}

extension JSONParser {
  private mutating func skipDigits() throws(JSONError) {
    let start = position
    while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    if position == start { throw error("a digit should be here") }
  }

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    if current == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
    var isInteger = true
    if current == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      try skipDigits()
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      try skipDigits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let value = Int64(text), text != "-0" { return .integer(value) }
    guard let value = Double(text) else { throw error("a number should be here") }
    return .real(value)
  }

  private mutating func string() throws(JSONError) -> String {
    position += 1
    var content: [UInt8] = []
    while true {
      let start = position
      while let byte = current, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
      content.append(contentsOf: bytes[start..<position])
      switch current {
      case UInt8(ascii: "\""):
        position += 1
        guard let text = String(validating: content, as: UTF8.self) else { throw error("a string that is not UTF-8") }
        return text
      case UInt8(ascii: "\\"): try escape(into: &content)
      case nil: throw error("the text ends within a string")
      default: throw error("a control character within a string")
      }
    }
  }

  private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
    position += 1
    guard let byte = current else { throw error("the text ends within a string") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"): content.append(contentsOf: Array(String(try escapedScalar()).utf8))
    default: throw error("an unknown escape within a string")
    }
  }

  private mutating func escapedScalar() throws(JSONError) -> Character {
    var code = try hexadecimal()
    if code >= 0xD800, code < 0xDC00, current == UInt8(ascii: "\\") {
      position += 1
      guard current == UInt8(ascii: "u") else { throw error("half a surrogate pair within a string") }
      position += 1
      let low = try hexadecimal()
      guard low >= 0xDC00, low < 0xE000 else { throw error("half a surrogate pair within a string") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair within a string") }
    return Character(scalar)
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    var result: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("four hexadecimal digits should be here")
      }
      result = result << 4 | UInt32(digit)
      position += 1
    }
    return result
  }
}
