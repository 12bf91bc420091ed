import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Store

/// Functions that replace SQLite's own return the same results.
@Suite struct FunctionTests {
  private final class Connection {
    let handle: OpaquePointer

    init(encoding: String, isOurs: Bool) throws {
      var handle: OpaquePointer?
      sqlite3_open(":memory:", &handle)
      self.handle = try #require(handle)
      sqlite3_exec(handle, "PRAGMA encoding = '\(encoding)'; CREATE TABLE t(x)", nil, nil, nil)
      if isOurs { try ConnectionLimits.apply(to: self.handle) }
    }

    deinit { sqlite3_close(handle) }

    func value(_ sql: String) -> String {
      do throws(SQLiteFailure) {
        let statement = try PreparedStatement(handle, "SELECT \(sql)", isPersistent: false)
        return try statement.step() ? statement.text(0) ?? "NULL" : "no row"
      } catch { return "error: \(error.message)" }
    }
  }

  /// Bytes of letters, wildcards, multi-byte characters, NUL, and invalid UTF-8.
  private static let pieces = [
    "61", "41", "62", "25", "5f", "25", "61", "c3a4", "c384", "00", "20", "e282ac", "80", "ff", "2e", "f09f9880", "c0",
  ]

  private func literal(_ generator: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: return "NULL"
    case 1: return "\(Int.random(in: -100..<100, using: &generator))"
    case 2: return "\(Int.random(in: 0..<100, using: &generator)).5"
    case let kind:
      let few = Self.pieces.prefix(Int.random(in: 2...Self.pieces.count, using: &generator))
      let count = Int.random(in: 0..<14, using: &generator)
      let bytes = "x'\((0..<count).map { _ in few.randomElement(using: &generator)! }.joined())'"
      return kind == 3 ? bytes : "CAST(\(bytes) AS TEXT)"
    }
  }

  private func calls(_ generator: inout SeededGenerator) -> (sql: String, ours: String) {
    let (x, y, z) = (literal(&generator), literal(&generator), literal(&generator))
    switch Int.random(in: 0..<9, using: &generator) {
    case 0, 1: return ("instr(\(x), \(y))", "instr(\(x), \(y))")
    case 2, 3: return ("replace(\(x), \(y), \(z))", "replace(\(x), \(y), \(z))")
    case 4: return ("trim(\(x), \(y))", "trim(\(x), \(y))")
    case 5: return ("ltrim(\(x), \(y)) || rtrim(\(z))", "ltrim(\(x), \(y)) || rtrim(\(z))")
    case 6: return ("rtrim(\(x), \(y))", "rtrim(\(x), \(y))")
    case 7: return ("\(x) LIKE \(y) ESCAPE \(z)", "\(x) REGEXP \(y) ESCAPE \(z)")
    default: return ("\(x) LIKE \(y)", "\(x) REGEXP \(y)")
    }
  }

  @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"]) func giveWhatSQLiteGives(encoding: String) throws {
    let seed = PropertySeeds.repeated ?? .random(in: 0...9_999)
    var generator = SeededGenerator(seed: seed)
    let sqlite = try Connection(encoding: encoding, isOurs: false)
    let ours = try Connection(encoding: encoding, isOurs: true)
    for _ in 0..<20_000 {
      let (theirs, own) = calls(&generator)
      let expected = sqlite.value("typeof(\(theirs)) || hex(\(theirs))")
      let value = ours.value("typeof(\(own)) || hex(\(own))")
      if value != expected { Issue.record("seed \(seed): \(own) is \(value), not \(expected)") }
    }
  }

  @Test(arguments: [
    #"json_patch('{"a":1,"b":{"c":2}}', '{"b":{"c":null,"d":[1]}}')"#, "json_patch(NULL, '{}')",
    "json_patch('{}', '[1]')",
    "json_patch('{', '{}')", "json_patch('1', 'x')", "json_array(json_patch('{}', '{}'))", "json_patch(x'00', '{}')",
    "json_type(json_patch('{}', '{\"a\":1.50}'), '$.a')", "typeof(json_patch('[]', '{}'))", "trim()", "replace(1, 2)",
    "instr('a')", "length(randomblob(0))", "length(randomblob(NULL))", "typeof(randomblob(7))", "length(randomblob(7))",
  ])
  func giveWhatSQLiteGives(sql: String) throws {
    let theirs = try Connection(encoding: "UTF-8", isOurs: false).value(sql)
    #expect(try Connection(encoding: "UTF-8", isOurs: true).value(sql) == theirs)
  }

  @Test func findLongNeedlesOfEveryPeriod() throws {
    let sqlite = try Connection(encoding: "UTF-8", isOurs: false)
    let ours = try Connection(encoding: "UTF-8", isOurs: true)
    for period in 1...9 {
      let piece = String("abacabadabacabae".prefix(period))
      for length in 1...40 {
        let needle = String(String(repeating: piece, count: 40).prefix(length))
        let text = String(String(repeating: piece, count: 6).dropLast()) + "b" + needle.dropLast() + "c" + needle + "x"
        let sql = "instr('\(text)', '\(needle)') || replace('\(text)', '\(needle)', '-')"
        #expect(ours.value(sql) == sqlite.value(sql))
      }
    }
  }
}
