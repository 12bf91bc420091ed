import Foundation
import Freshet
import GRDB
import TestSupport
import Testing

@MainActor struct GRDBTests {
  private struct Record: Codable, FetchableRecord, MutablePersistableRecord, Equatable, Sendable {
    static let databaseTableName = "bank"
    var id: Int64?
    var name: String
    var state: String
    var closed: String?
  }

  @Test func `Requests and records are followed, and GRDB may be the writer`() async throws {
    let banks = try Banks()
    let queue = try DatabaseQueue(path: banks.path)
    let database = try LiveDatabase(path: banks.path)
    let request = Record.filter(Column("state") != "Ohio").order(Column("name").desc).limit(3)
    let controller = try database.results(request)
    try await controller.performFetch()
    #expect(controller.results.outline(\.name) == [": Ericson Barton Almena"])
    try await queue.write { db in
      var record = Record(id: nil, name: "Zion", state: "Iowa", closed: nil)
      try record.insert(db)
    }
    #expect(await eventually { controller.results.outline(\.name) == [": Zion Ericson Barton"] })
    let objects = try await queue.read { try request.fetchAll($0) }
    #expect(controller.results.objects.map { $0! } == objects)
  }

  @Test func `Sections, arguments, groups and other SQL`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    let byState = try database.results(Record.order(Column("name")), sectionBy: "state")
    try await byState.performFetch()
    #expect(byState.results.outline(\.name) == ["K: Almena Barton", "N: Ericson", "O: Resolute"])

    struct Count: Codable, FetchableRecord, Sendable {
      var state: String
      var n: Int
    }
    let counts = try database.results(
      SQLRequest<Count>(
        sql: """
          SELECT state, count(*) AS n FROM bank WHERE name > :name AND id IN (1, 2, 3)
          GROUP BY state HAVING n > 0 ORDER BY n DESC, state
          """, arguments: ["name": "B"]))
    try await counts.performFetch()
    #expect(counts.results.outline { "\($0.state)=\($0.n)" } == [": Kansas=1 Nebraska=1"])
    try banks.write("UPDATE bank SET state = 'Kansas' WHERE id = 2")
    #expect(await eventually { counts.results.outline { "\($0.state)=\($0.n)" } == [": Kansas=2"] })

    let compound = SQLRequest<Record>(sql: "SELECT * FROM bank WHERE id < 2 UNION SELECT * FROM bank WHERE id = 4")
    let all = try database.results(SQLRequest<Record>(sql: "SELECT * FROM bank UNION ALL SELECT * FROM bank"))
    await #expect(throws: FreshetError.self) { try await all.performFetch() }
    let both = try database.results(compound)
    try await both.performFetch()
    #expect(both.results.outline(\.name) == [": Almena Resolute"])
    let mixed = SQLRequest<Record>(sql: "SELECT *, 1 AS one FROM bank")
    let ones = try database.results(mixed)
    try await ones.performFetch()
    #expect(Array(ones.results.objects).count == 4)
    #expect(throws: DatabaseError.self) { try database.results(SQLRequest<Record>(sql: "SELECT * FROM nosuch")) }
  }

  @Test func `A SELECT is taken apart`() async throws {
    let banks = try Banks()
    let queue = try DatabaseQueue(path: banks.path)
    let query = try await queue.read { db in
      try Query(
        SQLRequest<GRDB.Row>(
          sql: "SELECT (SELECT max(id) FROM bank WHERE name = ','), 'FROM' AS a FROM bank b, (SELECT 1 ORDER BY 1) "
            + "WHERE b.id > ? AND (1 OR 'x' = 'WHERE') ORDER BY lower(b.name) DESC, b.id LIMIT 7;",
          arguments: [2]), in: db)
    }
    #expect(query.select == ["(SELECT max(id) FROM bank WHERE name = ',')", "'FROM' AS a"])
    #expect(query.from == "bank b, (SELECT 1 ORDER BY 1)" && query.filter == "b.id > ? AND (1 OR 'x' = 'WHERE')")
    #expect(query.orderBy == ["lower(b.name) DESC", "b.id"] && query.limit == 7 && query.parameters == [2])
  }
}
