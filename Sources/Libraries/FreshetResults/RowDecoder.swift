import Foundation
import LiveQuery

/// Decodes rows into Swift types: a property for each column of the same name.
///
/// | Swift | SQLite |
/// |---|---|
/// | integers | INTEGER that fits |
/// | `Double`, `Float`, `CGFloat` | REAL, INTEGER |
/// | `Bool` | INTEGER: 0 is false |
/// | `String`, `URL`, `Decimal` | TEXT |
/// | `Data` | BLOB |
/// | `SQLValue` | anything |
/// | `UUID` | TEXT, or BLOB of 16 bytes |
/// | `Date` | TEXT in ISO 8601 as SQLite writes it (UTC), or a number: seconds since 1970 |
/// | optionals | NULL, or no such column |
/// | arrays, dictionaries and structures | TEXT with JSON |
public struct RowDecoder: Sendable {
  public init() {}

  /// - Throws: `DecodingError`, with the column in its path.
  public func decode<Value: Decodable>(_ type: Value.Type, from row: ResultRow) throws -> Value {
    try Value(from: WholeRow(row: row))
  }
}

/// A row as a dictionary of its columns.
private struct WholeRow: Decoder {
  let row: ResultRow
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Cells(row: row))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw DecodingError.typeMismatch([Any].self, .init(codingPath: [], debugDescription: "a row is no array"))
  }

  /// A list of one column is a list of its values.
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    guard row.values.count == 1 else {
      let context = DecodingError.Context(codingPath: [], debugDescription: "\(row.values.count) columns are no value")
      throw DecodingError.typeMismatch(SQLValue.self, context)
    }
    return Cell(value: row.values[0], codingPath: [])
  }

  private struct Cells<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: ResultRow
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columns.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try cell(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try cell(key).decode(type)
    }

    func superDecoder() throws -> any Decoder { WholeRow(row: row) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try cell(key).decoder }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try cell(key).decoder.container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try cell(key).decoder.unkeyedContainer()
    }

    private func cell(_ key: Key) throws -> Cell {
      guard let value = row[key.stringValue] else {
        let context = DecodingError.Context(
          codingPath: [key], debugDescription: "there is no column \(key.stringValue)")
        throw DecodingError.keyNotFound(key, context)
      }
      return Cell(value: value, codingPath: [key])
    }
  }
}

/// The value of one column.
private struct Cell: SingleValueDecodingContainer {
  let value: SQLValue
  let codingPath: [any CodingKey]

  var decoder: any Decoder { CellDecoder(cell: self) }

  func decodeNil() -> Bool { value == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let converted = try converted(to: type) { return converted as! Value }
    return try Value(from: decoder)
  }

  /// Nil for types that decode themselves.
  private func converted(to type: any Decodable.Type) throws -> Any? {
    switch type {
    case let type as any (FixedWidthInteger & Decodable).Type: return try integer(type)
    case is Bool.Type: return try integer(Int64.self) != 0
    case is Double.Type: return try real()
    case is Float.Type: return Float(try real())
    case is CGFloat.Type: return CGFloat(try real())
    case is String.Type: return try text()
    case is Data.Type: return Data(try blob())
    case is Date.Type: return try date()
    case is UUID.Type: return try uuid()
    case is URL.Type: return try required(URL(string: text()), "a URL")
    case is Decimal.Type: return try decimal()
    case is SQLValue.Type: return value
    default: return nil
    }
  }

  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
    guard case .integer(let number) = value else { throw mismatch("an integer") }
    return try required(Integer(exactly: number), "a \(type)")
  }

  private func real() throws -> Double {
    switch value {
    case .real(let number): return number
    case .integer(let number): return Double(number)
    default: throw mismatch("a number")
    }
  }

  private func text() throws -> String {
    guard case .text(let text) = value else { throw mismatch("text") }
    return text
  }

  private func blob() throws -> [UInt8] {
    guard case .blob(let bytes) = value else { throw mismatch("a blob") }
    return bytes
  }

  private func uuid() throws -> UUID {
    if case .blob(let bytes) = value, bytes.count == 16 {
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
    return try required(UUID(uuidString: text()), "a UUID")
  }

  private func decimal() throws -> Decimal {
    switch value {
    case .integer(let number): return Decimal(number)
    case .real(let number): return Decimal(number)
    default: return try required(Decimal(string: text(), locale: Locale(identifier: "en_US_POSIX")), "a decimal number")
    }
  }

  private func date() throws -> Date {
    if case .text(let text) = value { return try required(Date(sqlite: text), "a date") }
    return Date(timeIntervalSince1970: try real())
  }

  private func required<Value>(_ converted: Value?, _ what: String) throws -> Value {
    guard let converted else { throw mismatch(what) }
    return converted
  }

  private func mismatch(_ what: String) -> DecodingError {
    let context = DecodingError.Context(codingPath: codingPath, debugDescription: "\(value) is not \(what)")
    return value == .null ? .valueNotFound(SQLValue.self, context) : .typeMismatch(SQLValue.self, context)
  }
}

/// Decodes a column for a type that decodes itself: a simple value, or the contents of its JSON.
private struct CellDecoder: Decoder {
  let cell: Cell
  var codingPath: [any CodingKey] { cell.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func singleValueContainer() -> any SingleValueDecodingContainer { cell }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try json().container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try json().unkeyedContainer() }

  private func json() throws -> any Decoder {
    let text = try cell.decode(String.self)
    return try JSONDecoder().decode(Captured.self, from: Data(text.utf8)).decoder
  }

  /// Captures the decoder of a JSON text.
  private struct Captured: Decodable {
    let decoder: any Decoder
    init(from decoder: any Decoder) { self.decoder = decoder }
  }
}

extension SQLValue: Decodable {
  /// A null, number, text or data.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .real(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .blob(Array(try container.decode(Data.self)))
    }
  }
}

extension Date {
  /// Parses text that SQLite's date functions accept: `2026-03-01`, `2026-03-01 09:30:00.250`, `2026-03-01T09:30Z`.
  /// Without a zone it is UTC.
  init?(sqlite text: String) {
    let parts = text.replacing("T", with: " ").split(separator: " ", maxSplits: 1)
    let day = parts.first?.split(separator: "-").map { Int($0) } ?? []
    guard day.count == 3, let year = day[0], let month = day[1], let dayOfMonth = day[2] else { return nil }
    var components = DateComponents(year: year, month: month, day: dayOfMonth)
    components.calendar = Calendar(identifier: .gregorian)
    components.timeZone = TimeZone(secondsFromGMT: 0)
    guard components.isValidDate, let midnight = components.date else { return nil }
    guard parts.count == 2 else {
      self = midnight
      return
    }
    guard let seconds = Self.seconds(ofTime: parts[1]) else { return nil }
    self = midnight + seconds
  }

  /// Seconds since midnight, UTC, of `09:30`, `09:30:15` or `09:30:15.250`, each optionally with `Z` or `+02:00`.
  private static func seconds(ofTime text: Substring) -> Double? {
    var clock = text
    var offset = 0.0
    if clock.last == "Z" || clock.last == "z" {
      clock.removeLast()
    } else if let sign = clock.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      guard let zone = seconds(ofClock: clock[clock.index(after: sign)...]) else { return nil }
      offset = clock[sign] == "+" ? zone : -zone
      clock = clock[..<sign]
    }
    return seconds(ofClock: clock.drop(while: { $0 == " " })).map { $0 - offset }
  }

  private static func seconds(ofClock text: Substring) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hours = Int(parts[0]), let minutes = Int(parts[1]),
      let seconds = parts.count == 3 ? Double(parts[2].filter { $0 != " " }) : 0,
      (0...24).contains(hours), (0..<60).contains(minutes), (0..<60).contains(seconds)
    else { return nil }
    return Double(hours * 3_600 + minutes * 60) + seconds
  }
}
