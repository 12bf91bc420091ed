import Foundation
import FreshetResults
import Testing

struct RowDecoderTests {
  private func row(_ cells: KeyValuePairs<String, SQLValue>) -> ResultRow {
    ResultRow(layout: .init(cells.map(\.key)), values: cells.map(\.value))
  }

  private struct Everything: Codable, Equatable {
    enum Status: String, Codable { case open, closed }
    struct Place: Codable, Equatable { var x: Int, y: Double }

    var id: Int
    var small: UInt8
    var depth: Double
    var whole: Double
    var isOpen: Bool
    var name: String
    var status: Status
    var bytes: Data
    var token: UUID
    var site: URL
    var price: Decimal
    var made: Date
    var note: String?
    var absent: Int?
    var tags: [String]
    var place: Place
  }

  @Test func `Each type comes from its column`() throws {
    let token = UUID()
    let decoded = try RowDecoder().decode(
      Everything.self,
      from: row([
        "id": 7, "small": 255, "depth": 2.5, "whole": 3, "isOpen": 1, "name": "Ada", "status": "closed",
        "bytes": .blob([1, 2]), "token": .text(token.uuidString), "site": "https://example.org/a", "price": "19.90",
        "made": "2026-03-01 09:30:00.250", "note": nil, "tags": #"["a","b"]"#, "place": #"{"x":1,"y":0.5}"#,
        "unknown": 1,
      ]))
    let made = try #require(ISO8601DateFormatter().date(from: "2026-03-01T09:30:00Z")) + 0.25
    let expected = Everything(
      id: 7, small: 255, depth: 2.5, whole: 3, isOpen: true, name: "Ada", status: .closed, bytes: Data([1, 2]),
      token: token, site: try #require(URL(string: "https://example.org/a")),
      price: try #require(Decimal(string: "19.90")), made: made, note: nil, absent: nil, tags: ["a", "b"],
      place: .init(x: 1, y: 0.5))
    #expect(decoded == expected)
  }

  @Test(arguments: [.null, 7, 1.5, "text", .blob([1, 2])] as [SQLValue])
  func `A column may be anything`(value: SQLValue) throws {
    struct Anything: Decodable { var value: SQLValue }
    #expect(try RowDecoder().decode(Anything.self, from: row(["value": value])).value == value)
  }

  private struct Small: Decodable { var value: UInt8 }
  private struct Text: Decodable { var value: String }
  private struct When: Decodable { var value: Date }
  private struct List: Decodable { var value: [Int] }

  @Test(arguments: [256, -1, 1.5, "1", .null, .blob([])] as [SQLValue])
  func `What does not fit is an error that names the column`(value: SQLValue) {
    let error = #expect(throws: DecodingError.self) { try RowDecoder().decode(Small.self, from: row(["value": value])) }
    #expect(String(describing: error).contains("value"))
  }

  @Test func `Other mistakes are errors as well`() {
    #expect(throws: DecodingError.self) { try RowDecoder().decode(Text.self, from: row(["value": 1])) }
    #expect(throws: DecodingError.self) { try RowDecoder().decode(Text.self, from: row(["other": "x"])) }
    #expect(throws: DecodingError.self) { try RowDecoder().decode(List.self, from: row(["value": "{}"])) }
    #expect(throws: (any Error).self) { try RowDecoder().decode(List.self, from: row(["value": "["])) }
    for text in ["", "yesterday", "2026-02-30", "2026-03-01 25:00", "2026-03-01 09:61", "2026-03"] {
      #expect(throws: DecodingError.self, "\(text)") {
        try RowDecoder().decode(When.self, from: row(["value": .text(text)]))
      }
    }
  }

  @Test(
    arguments: [
      ("1970-01-02", 86_400), ("1970-01-01 00:01", 60), ("1970-01-01T00:01:30Z", 90), ("1970-01-01 02:00:00+02:00", 0),
      ("1969-12-31 22:00:00.500-02:30", 1_800.5), (1.5, 1.5), (12, 12),
    ] as [(SQLValue, Double)])
  func `Dates are read as SQLite writes them`(value: SQLValue, seconds: Double) throws {
    let decoded = try RowDecoder().decode(When.self, from: row(["value": value]))
    #expect(decoded.value.timeIntervalSince1970 == seconds)
  }

  @Test func `A list of one column may be a list of its values`() throws {
    #expect(try RowDecoder().decode(String.self, from: row(["name": "Ada"])) == "Ada")
    #expect(try RowDecoder().decode([String: Int].self, from: row(["a": 1, "b": 2])) == ["a": 1, "b": 2])
  }
}
