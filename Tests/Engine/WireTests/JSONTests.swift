import LiveQuery
import Testing
import Wire

@Suite struct JSONTests {
  @Test(arguments: [
    ("null", JSONValue.null), (" true ", .bool(true)), ("-0", .real(-0.0)), ("12", .integer(12)),
    ("9223372036854775807", .integer(.max)), ("9223372036854775808", .real(9.223372036854775808e18)),
    ("1.50", .real(1.5)), ("1e3", .real(1000)), ("-2.5E-1", .real(-0.25)), ("1e999", .real(.infinity)),
    ("[]", .array([])), ("{}", .object([:])),
    ("[1,[2]]", .array([.integer(1), .array([.integer(2)])])),
    ("{\"a\":1,\"a\":2}", .object(["a": .integer(2)])),
    ("\"\\u00e9\\n\\\"\\\\\\/\\ud83d\\ude00\"", .string("é\n\"\\/😀")),
  ])
  func reads(text: String, value: JSONValue) throws { #expect(try JSONParser.parse(text) == value) }

  @Test(arguments: [
    "", " ", "nul", "tru", "01", "1.", ".5", "+1", "1e", "--1", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{a:1}",
    "{\"a\":1,}", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"a\nb\"", "1 2",
    "[1]]", "NaN", "Infinity", "'a'", "// c", "{\"a\":}",
  ])
  func refuses(text: String) { #expect(throws: JSONError.self) { try JSONParser.parse(text) } }

  @Test func refusesWhatIsNotUTF8() {
    #expect(throws: JSONError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
    #expect(throws: JSONError.self) { try JSONParser.parse([0x22, 0xC0, 0x80, 0x22]) }
  }

  @Test func refusesDeepNesting() throws {
    _ = try JSONParser.parse(String(repeating: "[", count: 64) + String(repeating: "]", count: 64))
    #expect(throws: JSONError.self) { try JSONParser.parse(String(repeating: "[", count: 100_000)) }
    #expect(throws: JSONError.self) { try JSONParser.parse(String(repeating: "{\"a\":", count: 100_000)) }
  }

  private func written(_ value: SQLValue) -> String {
    var writer = JSONWriter()
    writer.value(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test(arguments: [
    (SQLValue.null, "null"), (.integer(0), "0"), (.integer(-12), "-12"),
    (.integer(9_007_199_254_740_991), "9007199254740991"),
    (.integer(9_007_199_254_740_992), "{\"$int\":\"9007199254740992\"}"),
    (.integer(-9_007_199_254_740_992), "{\"$int\":\"-9007199254740992\"}"),
    (.integer(.min), "{\"$int\":\"-9223372036854775808\"}"),
    (.real(1.5), "1.5"), (.real(100), "100.0"), (.real(1e300), "1e+300"), (.real(.infinity), "1e999"),
    (.real(-.infinity), "-1e999"), (.real(-0.0), "-0.0"), (.real(.nan), "null"),
    (.real(0.1), "0.1"), (.text("a\"b\\c\n\u{1}é😀"), "\"a\\\"b\\\\c\\n\\u0001é😀\""), (.text("\u{0}"), "\"\\u0000\""),
    (.blob([]), "{\"$blob\":\"\"}"), (.blob([1]), "{\"$blob\":\"AQ==\"}"), (.blob([1, 2]), "{\"$blob\":\"AQI=\"}"),
    (.blob([255, 254, 253]), "{\"$blob\":\"//79\"}"),
  ])
  func writesSQLValues(value: SQLValue, text: String) { #expect(written(value) == text) }

  @Test(arguments: [
    SQLValue.null, .integer(5), .integer(.max), .integer(.min), .real(2.5), .text("x"), .blob([]),
    .blob([0, 1, 2, 3, 4]), .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude), .real(0x1p53),
    .text("\u{0}\u{FEFF}é"),
  ])
  func whatIsWrittenIsReadBack(value: SQLValue) throws {
    #expect(try SQLValue(json: JSONParser.parse(written(value)), what: "x") == value)
  }

  @Test func textThatIsNotUTF8IsMended() {
    var writer = JSONWriter()
    [UInt8(ascii: "a"), 0xFF, UInt8(ascii: "b")].withUnsafeBytes { writer.text($0) }
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"a\u{FFFD}b\"")
  }

  /// Writing checks eight bytes at once: characters to escape are found at every position.
  @Test(arguments: [1, 7, 8, 9, 16, 23])
  func everyByteIsWrittenSoThatItIsReadBack(length: Int) throws {
    for position in 0..<length {
      var texts: [SQLValue] = []
      for byte in UInt8(0)...0x7F {
        var text = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        text[position] = byte
        texts.append(.text(String(decoding: text, as: UTF8.self)))
      }
      let read = try texts.map { try SQLValue(json: JSONParser.parse(written($0)), what: "x") }
      #expect(read == texts)
    }
  }

  @Test(arguments: 0..<20) func textThatIsNotUTF8IsMendedAnywhere(position: Int) {
    var text = [UInt8](repeating: 0x7F, count: 20)
    text[position] = 0x9F
    var writer = JSONWriter()
    text.withUnsafeBytes { writer.text($0) }
    let mended = text.map { $0 == 0x9F ? "\u{FFFD}" : "\u{7F}" }.joined()
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(mended)\"")
  }

  @Test(arguments: ["[1]", "{\"$int\": 5}", "{\"$int\": \"x\"}", "{\"$blob\": \"a\"}", "{\"$blob\": \"!!!!\"}", "{}"])
  func refusesWhatIsNoSQLValue(text: String) throws {
    let json = try JSONParser.parse(text)
    #expect(throws: FreshetError.self) { try SQLValue(json: json, what: "params.x") }
  }
}
