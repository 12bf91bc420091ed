import GRDB
import Ground
import LiveQuery
import RankedCollections
import Store
import TestSupport
import Testing

/// The encoding must agree with SQLite: in order, in equality, and in the values that are read back.
@Suite struct KeyEncoderTests {
  static let edgeValues: [SQLValue] = {
    let integers: [Int64] = [
      0, 1, -1, 5, 127, 128, 255, 256, 1 << 20, 244_292, 1 << 52, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 53) + 2,
      -(1 << 53), -(1 << 53) - 1, -(1 << 53) - 2, 1 << 62, (1 << 62) + 1, (1 << 62) - 1, .max, .max - 1, .min, .min + 1,
      9_007_199_254_740_993, -9_007_199_254_740_993, 4_611_686_018_427_387_905,
    ]
    let reals: [Double] = [
      0, -0.0, 0.5, -0.5, 1, -1, 1.5, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 2.2250738585072014e-308, 1e300,
      -1e300, .infinity, -.infinity,
      9_007_199_254_740_992, 9_007_199_254_740_994, -9_007_199_254_740_992, 0x1p62, 0x1p63, -0x1p63, 0x1p64,
      9_223_372_036_854_774_784, 1e18, 1e19, 3.141592653589793, 244_292.5, 255.99999999999997,
    ]
    let texts = [
      "", " ", "  ", "a", "A", "b", "B", "ab", "aB", "a ", "a  ", "a b", "a\u{0}", "a\u{0}b", "A\u{0}c", "\u{0}",
      "\u{1}",
      "\u{1}\u{1}", "\u{0}\u{1}", "a\u{1}", "é", "É", "z", "Z", "[", "_", "~", "ab\u{0}", "AB\u{0}zz", "日本", "😀",
    ]
    let blobs: [[UInt8]] = [[], [0], [0, 0], [0, 1], [1], [1, 0], [255], [255, 0], [97], [65]]
    return [.null] + integers.map { .integer($0) } + reals.map { .real($0) } + texts.map { .text($0) }
      + blobs.map { .blob($0) }
  }()

  static func randomValue(_ generator: inout SeededGenerator) -> SQLValue {
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return .integer(Int64(truncatingIfNeeded: Int.random(in: .min ... .max, using: &generator)))
    case 1: return .integer(Int64.random(in: -300...300, using: &generator))
    case 2:
      let value = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator))
      return value.isNaN ? .null : .real(value)
    case 3:
      let integer = Int64.random(in: .min ... .max, using: &generator) >> Int64.random(in: 0..<12, using: &generator)
      return Bool.random(using: &generator) ? .integer(integer) : .real(Double(integer))
    case 4:
      let letters: [Character] = ["a", "A", "b", "B", " ", "\u{0}", "\u{1}", "é"]
      return .text(
        String((0..<length(&generator)).map { _ in letters.randomElement(using: &generator)! }))
    default:
      return .blob(
        (0..<length(&generator)).map { _ in UInt8.random(in: 0...3, using: &generator) })
    }
  }

  /// Lengths are mostly short, so that values are prefixes of each other; some are longer than the words in which bytes
  /// are compared.
  private static func length(_ generator: inout SeededGenerator) -> Int {
    Int.random(in: 0...(Int.random(in: 0..<3, using: &generator) == 0 ? 20 : 4), using: &generator)
  }

  static let orders: [(sql: String, order: FieldOrder)] = {
    var orders: [(String, FieldOrder)] = []
    for collation in [FieldOrder.Collation.binary, .nocase, .rtrim] {
      for isDescending in [false, true] {
        for nullsFirst in [nil, true, false] as [Bool?] {
          let nulls = nullsFirst.map { $0 ? " NULLS FIRST" : " NULLS LAST" } ?? ""
          orders.append(
            (
              "COLLATE \(collation.rawValue) \(isDescending ? "DESC" : "ASC")\(nulls)",
              FieldOrder(collation: collation, isDescending: isDescending, nullsFirst: nullsFirst)
            ))
        }
      }
    }
    return orders
  }()

  @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"], [0, 1, 2, 3] as [UInt64])
  func encodedOrderIsSQLitesOrder(encoding: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let values = seed == 0 ? Self.edgeValues : (0..<150).map { _ in Self.randomValue(&generator) }
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.execute(sql: "PRAGMA encoding = '\(encoding)'; CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
      let insert = try PreparedStatement(db.sqliteConnection!, "INSERT INTO t VALUES (?, ?)")
      for (id, value) in values.enumerated() {
        insert.bind(.integer(Int64(id)), at: 1)
        insert.bind(value, at: 2)
        _ = try insert.step()
        insert.reset()
      }
      for (sql, order) in Self.orders { try compare(db, sql, order, encoding) }
    }
  }

  private func compare(_ db: Database, _ sql: String, _ order: FieldOrder, _ encoding: String) throws {
    let connection = db.sqliteConnection!
    let collation = sql.split(separator: " ")[1]
    let rows = try PreparedStatement(connection, "SELECT id, x FROM t ORDER BY x \(sql), id")
    var keys: [(id: Int64, bytes: [UInt8])] = []
    while try rows.step() {
      var bytes: [UInt8] = []
      PreparedStatement.appendKey(rows.handle, 1, order, TextEncoding(rawValue: encoding)!, to: &bytes)
      // The encoding is the same after the value was read as UTF-8.
      var again: [UInt8] = []
      let isText = if case .text = rows.value(1) { true } else { false }
      PreparedStatement.appendKey(rows.handle, 1, order, TextEncoding(rawValue: encoding)!, to: &again)
      #expect(!isText || again == bytes)
      keys.append((rows.integer(0), bytes))
    }
    let equal = try PreparedStatement(
      connection, "SELECT (SELECT x FROM t WHERE id = ?) COLLATE \(collation) IS (SELECT x FROM t WHERE id = ?)")
    for (left, right) in zip(keys, keys.dropFirst()) {
      equal.bind(.integer(left.id), at: 1)
      equal.bind(.integer(right.id), at: 2)
      _ = try equal.step()
      let isEqual = equal.integer(0) == 1
      equal.reset()
      let order = left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { left.compare($0) } }
      #expect(isEqual ? order == 0 : order < 0, "\(sql) \(encoding): rows \(left.id) and \(right.id)")
    }
  }

  @Test(arguments: ["UTF-8", "UTF-16le"])
  func keysAreReadBack(encoding: String) throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.execute(sql: "PRAGMA encoding = '\(encoding)'; CREATE TABLE t(x)")
      let connection = db.sqliteConnection!
      let insert = try PreparedStatement(connection, "INSERT INTO t VALUES (?)")
      for value in Self.edgeValues {
        insert.bind(value, at: 1)
        _ = try insert.step()
        insert.reset()
      }
      let rows = try PreparedStatement(connection, "SELECT x FROM t")
      let same = try PreparedStatement(connection, "SELECT count(*) FROM t WHERE x IS ?1")
      let reference = try PreparedStatement(connection, "SELECT count(*) FROM t WHERE x IS ?1")
      while try rows.step() {
        var bytes: [UInt8] = []
        PreparedStatement.appendKey(rows.handle, 0, .identity, TextEncoding(rawValue: encoding)!, to: &bytes)
        try bytes.withUnsafeBytes { key in
          var decoder = KeyDecoder(key)
          same.bind(decoder.next(), at: 1, encoding: TextEncoding(rawValue: encoding)!)
          #expect(decoder.isAtEnd)
          reference.bind(rows.value(0).value, at: 1)
          _ = try same.step()
          _ = try reference.step()
          #expect(same.integer(0) > 0 && same.integer(0) == reference.integer(0), "\(rows.value(0).value)")
          same.reset()
          reference.reset()
        }
      }
    }
  }

  @Test func smallIntegersTakeFewBytes() {
    for (value, most) in [(0, 2), (1, 2), (100, 4), (244_292, 5), (1_000_000, 5)] as [(Int64, Int)] {
      var bytes: [UInt8] = []
      KeyEncoder.append(.integer(value), .identity, to: &bytes)
      #expect(bytes.count <= most)
    }
  }
}
