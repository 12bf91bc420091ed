import CSQLite
import Foundation
import Testing

@testable import Store

/// The worst case of one call of a function or operator, with values as long as clients may have. Target: 250 ms of
/// processor time on a quiet machine. The test allows four times that, for busy machines; `FRESHET_CALL_TIMES=1` prints
/// calls that take more than 50 ms.
@Suite(.serialized) struct CallTimeTests {
  private static let aim = Duration.milliseconds(250)

  /// Calls, with a letter for the value of each parameter: see `bytes`.
  private static let calls: [(sql: String, values: String)] = [
    ("hex(?1)", "h"), ("quote(?1)", "a"), ("quote(?1)", "Q"), ("upper(?1)", "a"), ("lower(?1)", "u"),
    ("lower(?1)", "c"), ("unicode(?1)", "u"), ("length(?1)", "c"), ("length(?1)", "u"), ("soundex(?1)", "9"),
    ("format('%q', ?1)", "a"), ("format('%w', ?1)", "Q"), ("format('%999s', ?1)", "u"), ("?1 || ?2", "hh"),
    ("group_concat(?1)", "a"), ("substr(?1, 2)", "u"), ("substr(?1, -2)", "c"), ("substr(?1, ?2, ?3)", "999"),
    ("?1 % ?2", "99"), ("?1 + ?2", "99"), ("?1 * 1.5", "9"), ("abs(?1)", "9"), ("round(?1)", "9"),
    ("pow(?1, ?2)", "99"),
    ("CAST(?1 AS REAL)", "9"), ("CAST(?1 AS INTEGER)", "s"), ("CAST(?1 AS NUMERIC)", "9"), ("sum(?1)", "9"),
    ("date('2000-01-01', ?1)", "9"), ("strftime('%Y', ?1)", "s"), ("instr(?1, ?2)", "ae"), ("instr(?1, ?2)", "ue"),
    ("instr(?1, ?2)", "aa"), ("replace(?1, 'a', 'b')", "a"), ("replace(?1, 'aaaab', 'b')", "a"),
    ("replace(?1, ?2, '')", "ae"), ("trim(?1)", "s"), ("trim(?1, ?2)", "aa"), ("rtrim(?1, ?2)", "cc"),
    ("ltrim(?1, 'bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789a')", "a"),
    ("?1 REGEXP '%aaaaaaaaaaaaaaaaaab%'", "a"), ("?1 REGEXP '%_b%_b%_c'", "u"), ("?1 LIKE 'aaaaaaaaa%'", "a"),
    ("?1 GLOB 'aaaaaaaaaaaa*'", "a"), ("?1 = ?2", "aa"), ("?1 < ?2 COLLATE NOCASE", "aa"),
    ("?1 = ?2 COLLATE RTRIM", "ss"), ("max(?1, ?2) COLLATE NOCASE", "aa"), ("nullif(?1, ?2)", "aa"),
    ("?1 COLLATE NOCASE IN (SELECT ?1)", "a"), ("first_value(?1) OVER ()", "a"), ("json_quote(?1)", "s"),
    ("json('[' || replace(?1, 'aaa', '1,') || '1]')", "t"),
    ("json_extract('[' || replace(?1, 'aaa', '1,') || '1]', '$[#-1]')", "t"),
    ("randomblob(16777216)", ""), ("?1 GLOB '*\(String(repeating: "a", count: 200))b'", "a"),
    ("?1 GLOB '*\(String(repeating: "[a-z]", count: 48))b'", "a"), ("strftime(?1, '2000-01-01')", "J"),
  ]

  /// The value of `length` bytes that a letter stands for.
  private func bytes(_ letter: Character, _ length: Int) -> [UInt8] {
    let pieces: [Character: String] = ["u": "ä", "Q": "'", "s": " ", "J": "%J"]
    switch letter {
    case "c": return [UInt8](repeating: 0x80, count: length)
    case "h", "Q": return [UInt8](repeating: letter == "Q" ? 0x27 : 0x61, count: length / 2 - 8)
    case "e": return [UInt8](repeating: 0x61, count: 999) + [0x62]
    case "t": return [UInt8](repeating: 0x61, count: length - 8)
    case "a", "9": return [UInt8](repeating: letter.asciiValue!, count: length)
    default:
      let piece = pieces[letter] ?? String(letter)
      return Array(String(repeating: piece, count: length / piece.utf8.count).utf8)
    }
  }

  private func connection(_ encoding: String) throws -> OpaquePointer {
    var handle: OpaquePointer?
    sqlite3_open(":memory:", &handle)
    let connection = try #require(handle)
    try PreparedStatement.run(connection, "PRAGMA encoding = '\(encoding)'; CREATE TABLE t(x)")
    try ConnectionLimits.apply(to: connection)
    return connection
  }

  /// Processor time of one step.
  private func time(_ call: (sql: String, values: String), _ encoding: String) throws -> Duration {
    let connection = try connection(encoding)
    defer { sqlite3_close(connection) }
    let audit = WriteAudit()
    sqlite3_set_authorizer(connection, authorizeWrite, Unmanaged.passUnretained(audit).toOpaque())
    let checked = try? WriteStatement("SELECT \(call.sql)", place: "statement")
    let statement = try PreparedStatement(connection, checked?.sql ?? "SELECT \(call.sql)", isPersistent: false)
    audit.weight.isCostly = checked?.isCostly ?? false
    let longest = audit.weight.longestValue
    ConnectionLimits.setValue(longest, of: connection)
    for (index, letter) in call.values.enumerated() {
      // A character of one byte takes two in UTF-16.
      let bytes = bytes(letter, encoding == "UTF-8" || letter == "u" ? Int(longest) : Int(longest) / 2)
      let code = bytes.withUnsafeBytes { buffer in
        sqlite3_bind_text64(
          statement.handle, Int32(index + 1), buffer.bindMemory(to: CChar.self).baseAddress,
          sqlite3_uint64(buffer.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self), UInt8(SQLITE_UTF8))
      }
      #expect(code == SQLITE_OK)
    }
    var (start, end) = (timespec(), timespec())
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    _ = try? statement.step()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
    return .seconds(end.tv_sec - start.tv_sec) + .nanoseconds(end.tv_nsec - start.tv_nsec)
  }

  @Test(arguments: ["UTF-8", "UTF-16le"]) func noCallTakesLong(encoding: String) throws {
    let prints = ProcessInfo.processInfo.environment["FRESHET_CALL_TIMES"] != nil
    for call in Self.calls {
      let time = try time(call, encoding)
      if prints, time > .milliseconds(50) { print("\(encoding) \(call.sql) [\(call.values)]: \(time)") }
      #expect(time < Self.aim * 4, "\(encoding): \(call.sql) of \(call.values)")
    }
  }
}
