import Following
import Ground
import TestSupport
import Testing

@testable import Controllers
@testable import Replication
@testable import Store

@Suite("When the log says what rows are")
struct ContentsPassTests {
  private let clock = ManualClock()
  private let tables = ["a", "empty", "b"].map { LogTable(name: $0, columns: ["rowid"], keyCount: 1) }
  /// How many rows a table has; each takes a millisecond.
  private let rows = ["a": 12, "empty": 0, "b": 5]

  /// Reads the rows that a pass requests. A key is the number of rows up to it.
  private func advance(_ pass: inout ContentsPass) -> [String] {
    var read: [String] = []
    pass.advance(over: tables) { table, key, isEnough in
      let first = Int(key.first ?? 0)
      for number in first..<(rows[table.name] ?? 0) {
        clock.advance(by: .milliseconds(1))
        read.append("\(table.name)\(number)")
        if isEnough() { return [UInt8(number + 1)] }
      }
      return []
    }
    return read
  }

  /// Waits until the pass is due, and continues it.
  ///
  /// - Returns: the rows that it read, and how long the wait was.
  private func next(_ pass: inout ContentsPass) -> (rows: [String], wait: Nanoseconds) {
    let start = clock.clock.now
    while !pass.isDue(clock.clock.now) { clock.advance(by: .milliseconds(1)) }
    let wait = clock.clock.now - start
    return (advance(&pass), wait)
  }

  private let all = (0..<12).map { "a\($0)" } + (0..<5).map { "b\($0)" }

  @Test func `Each row is read once, in parts, for a small share of the time`() {
    var pass = ContentsPass(.idle, clock.clock)
    let parts = (0..<4).map { _ in next(&pass) }
    #expect(parts.flatMap(\.rows) == all)
    #expect(parts.map(\.rows.count) == [5, 5, 5, 2])
    #expect(parts[0].wait < .milliseconds(1))
    for part in parts.dropFirst() { #expect(part.wait >= .milliseconds(245)) }
  }

  @Test func `The next pass comes soon where something has changed`() {
    var pass = ContentsPass(.idle, clock.clock)
    for _ in 0..<4 { _ = next(&pass) }
    pass.note(.init(commits: 1, contents: []))
    let second = next(&pass)
    #expect(second.rows.first == "a0")
    #expect(second.wait > .milliseconds(9_000) && second.wait < .milliseconds(10_000))
    for _ in 0..<3 { _ = next(&pass) }
    pass.note(.init(contents: []))
    let third = next(&pass)
    #expect(third.wait > .milliseconds(3_590_000))
  }

  @Test func `A pass begins anew when tables may be other ones`() {
    var pass = ContentsPass(.idle, clock.clock)
    _ = next(&pass)
    pass.note(.init(commits: 1, contents: [1], hasSchemaChanged: true))
    #expect(next(&pass).rows.first == "a0")
  }

  @Test func `Always is all of it at each change, and off is nothing`() {
    var pass = ContentsPass(.always, clock.clock)
    #expect(advance(&pass) == all)
    #expect(!pass.isDue(clock.clock.now))
    pass.note(.init(commits: 1, contents: []))
    #expect(pass.isDue(clock.clock.now))
    var none = ContentsPass(.off, clock.clock)
    none.note(.init(commits: 1, contents: []))
    #expect(!none.isDue(clock.clock.now))
  }
}
