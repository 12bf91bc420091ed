import Testing

@testable import Import

/// What texts are taken for.
@Suite struct ValueTests {
  private func with<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(text.utf8).withUnsafeBytes(body)
  }

  @Test(
    arguments: [
      ("0", 0), ("7", 7), ("-7", -7), ("10", 10), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9223372036854775808", nil), ("-9223372036854775809", nil), ("99999999999999999999", nil), ("01", nil),
      ("00", nil),
      ("-0", nil), ("-01", nil), ("+1", nil), ("1.0", nil), ("", nil), ("-", nil), (" 1", nil), ("1 ", nil),
      ("1,000", nil),
      ("0x10", nil), ("1e3", nil), ("١", nil),
    ] as [(String, Int64?)])
  func `Integers lose nothing`(text: String, expected: Int64?) {
    #expect(with(text, NumberSyntax.integer) == expected)
  }

  @Test(arguments: [
    ("1.5", true), ("-1.5", true), ("0.5", true), (".5", true), ("-.5", true), ("0", true), ("42", true),
    ("-0.0", true),
    ("1.5e9", true), ("1.5E-9", true), ("1e+09", true), ("1e-7", true), ("9007199254740992", true), ("1.7e308", true),
    ("9007199254740993", false), ("1e5", false), ("12E4", false), ("01.5", false), ("00.5", false), ("1.", false),
    (".", false), ("-", false), ("", false), ("1.5.2", false), ("1.5e", false), ("1.5e+", false), ("e5", false),
    ("+1.5", false), ("1,5", false), ("1.5 ", false), ("nan", false), ("inf", false), ("1e+400", false),
    ("0x1p3", false),
    ("01234", false), ("99999999999999999999", false),
  ])
  func `Reals are decimal fractions`(text: String, isReal: Bool) {
    #expect(with(text, NumberSyntax.isReal) == isReal)
  }

  @Test(arguments: [
    ("2012-05-18", "iso 2012-05-18"), ("18-May-12", "monthName 2012-05-18"), ("1-JAN-2000", "monthName 2000-01-01"),
    ("01-feb-68", "monthName 2068-02-01"), ("1-Feb-69", "monthName 1969-02-01"), ("1-Feb-99", "monthName 1999-02-01"),
    ("5/18/2012", "monthFirst 2012-05-18"), ("18/5/2012", "dayFirst 2012-05-18"),
    ("05/04/2012", "monthFirst 2012-05-04, dayFirst 2012-04-05"), ("2/29/2012", "monthFirst 2012-02-29"),
    ("2012-02-29", "iso 2012-02-29"), ("2000-02-29", "iso 2000-02-29"),
  ])
  func `Days of the calendar`(text: String, expected: String) {
    let days = DateFormat.allCases.compactMap { format in
      with(text, format.iso).map { "\(format) \(String(decoding: $0, as: UTF8.self))" }
    }
    #expect(days.joined(separator: ", ") == expected)
  }

  @Test(arguments: [
    "2011-02-29", "1900-02-29", "2012-13-01", "2012-00-10", "2012-01-00", "2012-1-1", "12-05-18", "0000-01-01",
    "31-Apr-12",
    "18-Mai-12", "18-May-1", "18-May-123", "18 May 12", "5/18/12", "13/13/2012", "0/1/2012", "2012/05/18",
    "2012-05-18 ",
    "2012-05-18T10:00", "5-18-2012", "", "--", "//", "1-1", "a-b-c",
  ])
  func `No days`(text: String) {
    #expect(DateFormat.allCases.filter { with(text, $0.iso) != nil } == [])
  }

  @Test(arguments: [
    (["a", "b"], ["a", "b"]), ([" a ", "\tb\u{A0}"], ["a", "b"]), (["", "x", " "], ["column1", "x", "column3"]),
    (["a", "A", "a"], ["a", "A2", "a3"]), (["a", "a", "a2"], ["a", "a3", "a2"]), (["é", "É"], ["é", "É"]),
    (["column2", ""], ["column2", "column22"]), (["a b", "select", "x\"y"], ["a b", "select", "x\"y"]),
  ])
  func `Names of columns`(header: [String], expected: [String]) {
    #expect(ColumnNames.cleaned(header) == expected)
  }
}
