import Following
import Foundation
import GRDB
import LiveQuery
import ServerSupport
import TestSupport
import Testing

/// No client sees another's rows. Random rules, clients, queries of every kind and commits: each client's lists equal
/// those of a database with only what it may read, and other changes send it nothing.
///
/// `FRESHET_SEED=n swift test --filter AccessPropertyTests` repeats a failure; `FRESHET_SEEDS=1000` tries 1,000 fresh
/// seeds. Seeds that failed once are in `Fixtures/access.json`, and run first.
@Suite(.serialized) struct AccessPropertyTests {
  private static let commits = 20
  private static let queriesEach = 6
  private static let seeds =
    PropertySeeds.freshOrKept("access.json")
    + (PropertySeeds.count == nil ? Array(2...UInt64(TestDepth.count(3, long: 12))) : [])

  @Test(arguments: seeds)
  func everybodySeesTheirOwnRowsAlone(seed: UInt64) throws {
    var rules = RandomRules(seed: seed)
    var random = RandomQueries(seed: seed)
    var statements = StatementGenerator(schema: LiveLibrary.schema, seed: seed)
    let folder = try ProgramFolder("PRAGMA journal_mode = WAL;" + LiveLibrary.schema.sql)
    let queue = try DatabaseQueue(path: folder.database)
    var asked: [(query: OracleQuery, access: Query.Access)] = []
    for _ in 0..<(rules.identities.count > 3 ? 2 : Self.queriesEach) {
      let query = rules.query(&random)
      // All clients send the same query: they share its shape, and must share nothing else.
      for access in rules.identities { asked.append((query, access)) }
    }
    let writer = try SQLiteSession(path: folder.database)
    for _ in 0..<12 { try writer.run(statements.commit()) }
    let lists = try SteppedLists(path: folder.database, asked) { configuration in
      configuration.refetchInterval = .zero
      configuration.retryInterval = .zero
      configuration.access = rules.rules
    }
    var before: [OracleQuery.Answer?] = []
    for step in 0...Self.commits {
      let commit = step == 0 ? "" : statements.commit()
      if step > 0 { try writer.run(commit) }
      let messages = lists.output.messages
      for _ in 0..<3 { lists.step() }
      let answers = try queue.read { db in
        let oracles = try rules.identities.map { try AccessOracle(db, rules.rules.roles[$0.role!]!, $0) }
        return asked.indices.map { oracles[$0 % oracles.count].answer(asked[$0].query) }
      }
      for (index, answer) in answers.enumerated() {
        let (query, access) = asked[index]
        let context =
          "FRESHET_SEED=\(seed) step \(step), \(access.claims), \(rules.rules.roles[access.role!]!), \(query.json) after:\n\(commit)"
        if let error = lists.output.ended["\(index)"] {
          let hadDuplicates = answer?.hasDuplicates == true || (step > 0 && before[index]?.hasDuplicates == true)
          #expect(answer == nil || hadDuplicates || error.code == .duplicateKey, "\(error): \(context)")
          continue
        }
        guard let answer else {
          Issue.record("seen, though SQLite says no such thing: \(context)")
          return
        }
        if answer.hasDuplicates { continue }
        let difference = lists.output.models["\(index)"]?.difference(from: answer)
        #expect(
          difference == nil && lists.output.models["\(index)"] != nil,
          "\(difference ?? "nothing: \(lists.output.delays["\(index)"]?.message ?? "no error")"): \(context)")
        if difference != nil || lists.output.models["\(index)"] == nil { return }
        if step > 0, let was = before[index], was.rows == answer.rows, was.names == answer.names,
          was.alongside == answer.alongside, was.totals == answer.totals, was.sectionTotals == answer.sectionTotals
        {
          #expect(
            lists.output.messages["\(index)"] == messages["\(index)"], "nothing changed, yet a message came: \(context)"
          )
        }
      }
      before = answers
    }
  }
}
