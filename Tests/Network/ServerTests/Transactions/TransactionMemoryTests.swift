import Ground
import LiveQuery
import Store
import Synchronization
import Testing

@testable import Server

/// Which outcomes of repeatable transactions are remembered, and for how long.
@Suite struct TransactionMemoryTests {
  private final class Answers: Sendable {
    let commits = Mutex<[Int64]>([])
  }

  private let start = Instant(nanoseconds: 1)

  private func key(_ once: String, _ identity: Identity = .anonymous) -> TransactionMemory.Key {
    .init(once, of: identity)
  }

  private func committed(_ commit: Int64, text: String? = nil) -> TransactionMemory.Outcome {
    var result = StatementResult(changes: 1, lastInsertRowid: nil)
    if let text { (result.columns, result.rows) = (["a"], [[.text(text)]]) }
    return .success(CommittedTransaction([result], commit: commit))
  }

  /// The answer to a repeat as text: run, wait, the commit's number, or the error's code.
  private func answer(_ memory: inout TransactionMemory, _ key: TransactionMemory.Key) -> String {
    switch memory.admit(key, { _ in }) {
    case .run: "run"
    case .wait: "wait"
    case .known(.success(let committed)): "\(committed.commit)\(committed.results == nil ? " without results" : "")"
    case .known(.failure(let error)): error.code.rawValue
    }
  }

  private func run(
    _ memory: inout TransactionMemory, _ key: TransactionMemory.Key, _ outcome: TransactionMemory.Outcome
  ) {
    #expect(answer(&memory, key) == "run")
    #expect(memory.finished(key, outcome, at: start).isEmpty)
  }

  @Test func `Repeats wait for the first one, and all get its outcome`() {
    var memory = TransactionMemory(limit: 1 << 20)
    let got = Answers()
    #expect(answer(&memory, key("a")) == "run")
    for _ in 0..<2 {
      let admission = memory.admit(key("a")) { outcome in
        got.commits.withLock { $0.append((try? outcome.get())?.commit ?? -1) }
      }
      guard case .wait = admission else {
        Issue.record("it does not wait")
        continue
      }
    }
    for reply in memory.finished(key("a"), committed(7), at: start) { reply(committed(7)) }
    #expect(got.commits.withLock { $0 } == [7, 7])
    #expect(answer(&memory, key("a")) == "7" && answer(&memory, key("b")) == "run")
  }

  @Test(arguments: [
    (ErrorCode.constraint, "constraint"), (.notAllowed, "not_allowed"), (.badQuery, "bad_query"),
    // After this error the transaction may have been written, so it is remembered.
    (.internal, "internal"),
    (.overloaded, "run"), (.timeout, "run"), (.limitExceeded, "run"), (.shuttingDown, "run"),
  ])
  func `A refusal is remembered unless the same may succeed later`(code: ErrorCode, expected: String) {
    var memory = TransactionMemory(limit: 1 << 20)
    run(&memory, key("a"), .failure(FreshetError(code, "")))
    #expect(answer(&memory, key("a")) == expected)
  }

  @Test func `Large results are left out`() {
    var memory = TransactionMemory(limit: 1 << 20)
    run(&memory, key("small"), committed(1, text: String(repeating: "x", count: 1_000)))
    run(&memory, key("large"), committed(2, text: String(repeating: "x", count: 17_000)))
    #expect(answer(&memory, key("small")) == "1" && answer(&memory, key("large")) == "2 without results")
  }

  @Test func `The oldest are forgotten where there is no memory for all`() {
    var memory = TransactionMemory(limit: 10 * (TransactionMemory.bytesPerOutcome + 128))
    for number in 0..<100 { run(&memory, key("\(number)"), committed(Int64(number))) }
    #expect((5...12).contains(memory.count) && memory.bytes <= 10 * (TransactionMemory.bytesPerOutcome + 128))
    #expect(answer(&memory, key("99")) == "99" && answer(&memory, key("80")) == "run")
    var none = TransactionMemory(limit: 0)
    run(&none, key("a"), committed(1))
    #expect(none.count == 0 && answer(&none, key("a")) == "run")
  }

  @Test func `Beyond the newest, those that are old are forgotten`() {
    var memory = TransactionMemory(limit: .max)
    let newest = TransactionMemory.newest
    for number in 0..<(newest + 5) { run(&memory, key("\(number)"), committed(Int64(number))) }
    #expect(memory.count == newest + 5)
    #expect(answer(&memory, key("late")) == "run")
    _ = memory.finished(key("late"), committed(1), at: start + TransactionMemory.age)
    #expect(memory.count == newest && answer(&memory, key("late")) == "1")
    #expect(answer(&memory, key("5")) == "run" && answer(&memory, key("6")) == "6")
  }

  @Test func `Each asker has names of its own, from token to token`() {
    func token(_ subject: String?, role: String = "clerk", _ claims: [String: SQLValue] = [:]) -> Identity {
      Identity(subject: subject, role: role, claims: claims, expires: nil)
    }
    var memory = TransactionMemory(limit: 1 << 20)
    run(&memory, key("a", token("ann", ["iat": .integer(1), "sid": .text("x")])), committed(1))
    #expect(answer(&memory, key("a", token("ann", role: "chief", ["iat": .integer(2), "sid": .text("y")]))) == "1")
    #expect(answer(&memory, key("a", token("bob"))) == "run")
    #expect(answer(&memory, key("a", token("ann", ["iss": .text("other")]))) == "run")
    #expect(answer(&memory, key("a")) == "run")
    run(&memory, key("a", token(nil, ["iat": .integer(1), "team": .text("x")])), committed(2))
    #expect(answer(&memory, key("a", token(nil, ["iat": .integer(2), "team": .text("x")]))) == "2")
    #expect(answer(&memory, key("a", token(nil, ["team": .text("y")]))) == "run")
  }

  @Test func `With another file all is forgotten but what runs`() {
    var memory = TransactionMemory(limit: 1 << 20)
    run(&memory, key("a"), committed(1))
    #expect(answer(&memory, key("b")) == "run")
    memory.forget()
    #expect(memory.count == 0 && memory.bytes == 0)
    #expect(answer(&memory, key("a")) == "run" && answer(&memory, key("b")) == "wait")
  }
}
