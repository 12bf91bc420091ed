import LiveQuery
import Testing
import Wire

@testable import Server

/// A transaction on its way from a replica to the writer, and its outcome on the way back: both arrive unchanged.
@Suite struct ForwardedTransactionTests {
  private static let values: [SQLValue] = [
    nil, 0, -1, .integer(1 << 53), .integer(.max), .integer(.min), 0.1, -0.0, 100.0, 1e300,
    .real(.leastNonzeroMagnitude),
    .real(0x1p53), .real(.infinity), .real(-.infinity), "", "é\u{0}\"\\\n\u{2028}😀", .blob([]), .blob([0, 255, 10]),
  ]
  private static let named = Dictionary(uniqueKeysWithValues: values.enumerated().map { ("v\($0)", $1) })
  private static let member = Identity(subject: "ann", role: "clerk", claims: ["iss": "a", "org": 7], expires: 9)
  private static let visitor = Identity(subject: nil, role: "guest", claims: named, expires: nil)

  private func sent(_ transaction: ForwardedTransaction) throws -> ForwardedTransaction {
    try ForwardedTransaction(JSONParser.parse(transaction.json))
  }

  private func sent(_ outcome: TransactionMemory.Outcome) throws -> ForwardedOutcome {
    try ForwardedOutcome(JSONParser.parse(ForwardedOutcome(outcome, epoch: "e\"1").json))
  }

  /// The values as texts, which distinguish -0.0 from 0.0.
  private func exactly(_ values: [SQLValue]) -> [String] { values.map { "\($0)" } }

  private func write(_ subject: LogSubject? = nil) -> AuditLog.Write {
    AuditLog.Write(actor: LogActor(address: "::1", subject: "ann", role: "clerk"), subject: subject)
  }

  @Test func `Statements arrive with every kind of value`() throws {
    let transaction = Transaction([
      .init(sql: "SELECT ?", parameters: .positional(Self.values)),
      .init(sql: "SELECT \":v1\"\n", parameters: .named(Self.named), expectedChanges: 0),
      .init(sql: "DELETE FROM t", parameters: .none, expectedChanges: 3),
    ])
    let arrived = try sent(ForwardedTransaction(transaction, as: write(), once: nil)).transaction
    #expect(arrived.statements.map(\.sql) == transaction.statements.map(\.sql))
    #expect(arrived.statements.map(\.expectedChanges) == [nil, 0, 3])
    #expect(arrived.statements.map(\.parameters) == transaction.statements.map(\.parameters))
    guard case .positional(let values) = arrived.statements[0].parameters else { return #expect(Bool(false)) }
    #expect(exactly(values) == exactly(Self.values))
  }

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func `What it may do arrives with it`(isPublished: Bool, mayReturnRows: Bool) throws {
    var transaction = Transaction([.init(sql: "SELECT 1", parameters: .none)], claims: Self.named)
    transaction.isPublished = isPublished
    transaction.mayReturnRows = mayReturnRows
    let arrived = try sent(ForwardedTransaction(transaction, as: write(), once: nil)).transaction
    #expect(arrived.isPublished == isPublished && arrived.mayReturnRows == mayReturnRows)
    #expect(arrived.claims == Self.named)
  }

  @Test(arguments: [
    nil, TransactionMemory.Key("one", of: .anonymous), .init("\"é", of: member), .init("one", of: visitor),
  ])
  func `The client that may repeat it is the same one`(key: TransactionMemory.Key?) throws {
    let transaction = Transaction([.init(sql: "SELECT 1", parameters: .none)])
    #expect(try sent(ForwardedTransaction(transaction, as: write(), once: key)).key == key)
  }

  @Test func `The writer's audit log names the client and the statement`() throws {
    let transaction = Transaction([.init(sql: "SELECT 1", parameters: .none)])
    let arrived = try sent(ForwardedTransaction(transaction, as: write(.published("add")), once: nil)).write
    #expect(arrived.actor.address == "::1" && arrived.actor.subject == "ann" && arrived.actor.role == "clerk")
    #expect(arrived.subject == .published("add"))
    let nameless = AuditLog.Write(actor: LogActor(address: "", subject: nil, role: nil), subject: nil)
    let other = try sent(ForwardedTransaction(transaction, as: nameless, once: nil)).write
    #expect(other.actor.address == "" && other.actor.subject == nil && other.actor.role == nil && other.subject == nil)
  }

  @Test func `What was committed comes back with every kind of value`() throws {
    var rows = StatementResult(changes: 0, lastInsertRowid: .min)
    rows.columns = Self.values.indices.map { "c\"\($0)" }
    rows.rows = [Self.values, Self.values.reversed()]
    let results = [rows, StatementResult(changes: 2, lastInsertRowid: .max), .init(changes: 0, lastInsertRowid: nil)]
    var committed = CommittedTransaction(results, commit: 1 << 60)
    committed.changes = 7
    let arrived = try sent(.success(committed))
    let known = try arrived.outcome.get()
    #expect(arrived.epoch == "e\"1" && known.changes == 7 && known.commit == 1 << 60)
    let back = try #require(known.results)
    #expect(back.map(\.changes) == [0, 2, 0] && back.map(\.lastInsertRowid) == [.min, .max, nil])
    #expect(back[0].columns == rows.columns && back[1].columns.isEmpty)
    #expect(back[0].rows.map(exactly) == rows.rows.map(exactly))
    committed.results = nil
    #expect(try sent(.success(committed)).outcome.get().results == nil)
  }

  @Test(arguments: [FreshetError(.constraint, "UNIQUE: \"a\""), .init(ErrorCode(rawValue: "new"), "é\n")])
  func `What failed comes back with its code and message`(error: FreshetError) throws {
    let arrived = try sent(.failure(error))
    #expect(throws: error) { try arrived.outcome.get() }
    #expect(arrived.epoch == "e\"1")
  }

  @Test(arguments: [
    "null", "[]", "{}", #"{"statements":[{"sql":"SELECT 1"}]}"#, #"{"epoch":"e","changes":1}"#, #"{"code":"internal"}"#,
  ])
  func `Anything else is refused`(text: String) throws {
    let json = try JSONParser.parse(text)
    #expect(throws: FreshetError.self) { try ForwardedTransaction(json) }
    #expect(throws: FreshetError.self) { try ForwardedOutcome(json) }
  }
}
