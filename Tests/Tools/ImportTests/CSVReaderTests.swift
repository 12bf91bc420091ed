import TestSupport
import Testing

@testable import Import

/// RFC 4180, and what people write besides.
@Suite struct CSVReaderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The fields of every record; those in quotes in ‹›.
  private func records(
    _ bytes: [UInt8], delimiter: String = ",", encoding: CSVEncoding = .utf8, chunk: Int = 1 << 18
  ) throws -> [[String]] {
    var reader = try CSVReader(
      try folder.csv(bytes), delimiter: Array(delimiter.utf8)[0], encoding: encoding, chunk: chunk)
    var record = CSVRecord()
    var records: [[String]] = []
    while try reader.next(&record) {
      records.append((0..<record.count).map { record.isQuoted($0) ? "‹\(record.text($0))›" : record.text($0) })
    }
    return records
  }

  @Test(
    arguments: [
      ("", []), ("a", [["a"]]), ("a\n", [["a"]]), ("a\r\n", [["a"]]), ("\n", [[""]]), ("\r\n", [[""]]),
      ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]), ("a,b\r\n1,2", [["a", "b"], ["1", "2"]]),
      ("a,\n,b\n,\n", [["a", ""], ["", "b"], ["", ""]]), (",", [["", ""]]), ("a,b,\n", [["a", "b", ""]]),
      ("\"a\",\"b\"\n", [["‹a›", "‹b›"]]), ("\"\"\n", [["‹›"]]), ("\"\",\n", [["‹›", ""]]), ("\"\"", [["‹›"]]),
      ("\"a,b\"\n", [["‹a,b›"]]), ("\"a\nb\r\nc\"\nd", [["‹a\nb\r\nc›"], ["d"]]),
      ("\"a\"\"b\"", [["‹a\"b›"]]), ("\"\"\"\"", [["‹\"›"]]), ("\"\"\"a\"\"\"\r\n", [["‹\"a\"›"]]),
      ("a\"b,c\"\"d\n", [["a\"b", "c\"\"d"]]), (" \"a\" \n", [[" \"a\" "]]), (" a , b \n", [[" a ", " b "]]),
      ("a\rb,c\n", [["a\rb", "c"]]), ("a\n\nb\n", [["a"], [""], ["b"]]),
      ("Zürich,東京,😀\n\"Zürich, Ost\"\n", [["Zürich", "東京", "😀"], ["‹Zürich, Ost›"]]),
      ("\u{FEFF}a,b\n", [["a", "b"]]), ("\u{FEFF}\"a\"\n", [["‹a›"]]), ("a;b\tc\n", [["a;b\tc"]]),
    ] as [(String, [[String]])])
  func `Records are cut as they are written`(text: String, expected: [[String]]) throws {
    for chunk in [4, 5, 7, 1 << 18] {
      #expect(try records(Array(text.utf8), chunk: chunk) == expected, "read \(chunk) bytes at once")
    }
  }

  @Test(arguments: [
    ("a\n\"b", "2: a quote that is opened here is never closed"),
    ("a\n\n\"b\n\n", "3: a quote that is opened here is never closed"),
    ("\"a\"b\n", "1: something follows the closing quote of a field; a quote within quotes is written twice"),
    ("x\n\"a\n\"b\n", "3: something follows the closing quote of a field; a quote within quotes is written twice"),
    ("\"a\"\rb", "1: something follows the closing quote of a field; a quote within quotes is written twice"),
    ("a\nb\0\n", "2: a NUL character: this is no text file"),
  ])
  func `What is no CSV is told with its line`(text: String, expected: String) {
    for chunk in [4, 1 << 18] {
      #expect(folder.message { _ = try records(Array(text.utf8), chunk: chunk) } == "list.csv:\(expected)")
    }
  }

  @Test func `Bytes that are not UTF-8 are told with their line, and with what they may be`() {
    let advice = "not UTF-8; if it is Windows-1252, say --encoding windows-1252"
    let latin = Array("a\n\"b\n".utf8) + [0xFC] + Array("\"\n".utf8)
    #expect(folder.message { _ = try records(latin) } == "list.csv:3: \(advice)")
    #expect(folder.message { _ = try records([0x61, 0x0A, 0x81, 0x0A]) } == "list.csv:2: not UTF-8")
    // Surrogates, more bytes than needed, half a character.
    for bytes: [UInt8] in [[0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xE2, 0x82]] {
      #expect(folder.message { _ = try records(bytes) }.hasPrefix("list.csv:1: not UTF-8"))
    }
  }

  @Test func `Windows-1252 becomes UTF-8`() throws {
    let bytes: [UInt8] = [0x80, 0x2C, 0x22, 0xFC, 0x93, 0x22, 0x2C, 0x61, 0xFF, 0x0D, 0x0A, 0xE9]
    #expect(try records(bytes, encoding: .windows1252) == [["€", "‹ü“›", "aÿ"], ["é"]])
    let message = folder.message { _ = try records([0x61, 0x0A, 0x81], encoding: .windows1252) }
    #expect(message == "list.csv:2: the byte 0x81 is not Windows-1252")
  }

  @Test(arguments: [[0xFF, 0xFE, 0x61, 0x00], [0xFE, 0xFF, 0x00, 0x61]] as [[UInt8]])
  func `UTF-16 is named as such`(bytes: [UInt8]) {
    #expect(folder.message { _ = try records(bytes) } == "list.csv is UTF-16: convert it with iconv -f UTF-16 -t UTF-8")
  }

  @Test func `A record has an end somewhere`() throws {
    let bytes = Array("a\n\"b\n".utf8) + [UInt8](repeating: 0x78, count: CSVReader.recordLimit + 1)
    #expect(
      folder.message { _ = try records(bytes) } == "list.csv:2: more than 64 MiB in one record: is a quote not closed?")
  }

  @Test(arguments: [
    ("a,b\n1;2;3\n", ","), ("a;b\n1,2,3\n", ";"), ("a\tb\tc,d\n", "\t"), ("a\n", ","), ("", ","),
    ("\"a;b;c\",d\n", ","), ("\"a,b,c\";d\n", ";"), ("a,b;c\n", ","), ("\u{FEFF}a;b\n", ";"),
  ])
  func `The delimiter is that of the first line`(text: String, delimiter: String) throws {
    #expect(try Delimiter.guess(folder.csv(text), encoding: .utf8) == Array(delimiter.utf8)[0])
  }

  @Test(
    arguments: [
      (",", 0x2C), ("|", 0x7C), ("tab", 0x09), ("\\t", 0x09), ("\t", 0x09), ("", nil), ("ab", nil), ("é", nil),
      ("\"", nil), ("\n", nil), ("\r", nil),
    ] as [(String, UInt8?)])
  func `A delimiter is one ASCII character`(text: String, expected: UInt8?) {
    #expect(Delimiter.parse(text) == expected)
  }

  @Test func `A file that is not there, or no file`() {
    #expect(
      folder.message { _ = try CSVFile(folder.path("nosuch")) } == "cannot read nosuch: No such file or directory")
    #expect(folder.message { _ = try CSVFile(folder.path("")) }.hasSuffix("is a directory"))
  }
}
