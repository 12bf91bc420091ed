import Foundation
import FreshetClient
import FreshetResults
import ServerSupport
import Synchronization
import TestSupport
import Testing

@testable import Server

/// The identity of the Swift client, over real sockets: a token for each connection, renewed on the open one.
@MainActor @Suite(.serialized) struct RemoteTokenTests {
  private static let schema = """
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT);
    INSERT INTO orders VALUES (1, 'ann'), (2, 'bob'), (3, 'ann');
    """
  /// Customers see their own orders, and clerks see all.
  private static let roles = """
    roles:
      customer: { tables: { orders: { rows: "customer = :claims_sub" } }, queries: any, write: any }
      clerk: { tables: { orders: }, queries: any, write: any }
    """
  /// Clocks of client and server agree until a test moves this one.
  private let date = ManualDate(Int64(Date().timeIntervalSince1970))

  private func serve(_ yaml: String = roles) throws -> LiveServer {
    let file = try ConfigurationFile(yaml: yaml, name: "x")
    let tokens = try JWTConfiguration.shared()
    return try LiveServer(Self.schema) {
      $0.authentication = tokens
      $0.clocks.wall = date.clock
      $0.access.roles = file.roles
      $0.access.queries = PublishedQueries(file.queries)
      $0.access.allowsWrites = true
    }
  }

  /// - Parameter seconds: until it expires, from the start of the test.
  private func token(_ subject: String, role: String = "customer", seconds: Int64 = 6_000) async throws -> String {
    try TokenMaker.shared().token(#"{"sub":"\#(subject)","role":"\#(role)","exp":\#(date.now + seconds)}"#)
  }

  private func remote(
    _ live: LiveServer, _ source: TokenSource, _ transport: any LiveTransport = defaultTransport
  ) throws -> RemoteDatabase {
    try RemoteDatabase("http://127.0.0.1:\(live.server.port)", token: source.next, transport: transport)
  }

  private func orders(_ database: RemoteDatabase) -> FetchedResultsController<SQLValue> {
    database.results(.init(from: "orders", orderBy: ["id"])) { $0.values[0] }
  }

  private func ids(_ controller: FetchedResultsController<SQLValue>) -> [SQLValue?] {
    Array(controller.results.objects)
  }

  @Test func `Each connection begins with a token of its own`() async throws {
    let live = try serve()
    let source = TokenSource(try await token("ann"), try await token("ann", seconds: 7_000))
    let transport = BreakableTransport()
    let database = try remote(live, source, transport)
    let controller = orders(database)
    try await controller.performFetch()
    #expect(ids(controller) == [1, 3] && source.asked == 1)
    await transport.breakConnections()
    #expect(await eventually { transport.connections.load(ordering: .relaxed) == 2 })
    try live.writer.run("INSERT INTO orders VALUES (4, 'ann'), (5, 'bob')")
    #expect(await eventually { ids(controller) == [1, 3, 4] })
    #expect(source.asked == 2 && controller.delay == nil)
    database.close()
    live.stop()
  }

  @Test func `A token is renewed on the open connection before it expires`() async throws {
    let live = try serve()
    let source = TokenSource(try await token("ann", seconds: 2), try await token("ann"))
    let transport = BreakableTransport()
    let database = try remote(live, source, transport)
    let controller = orders(database)
    try await controller.performFetch()
    let iterator = controller.updates.makeAsyncIterator()
    _ = try await iterator.next()
    #expect(await eventually { source.asked == 2 })
    // The transaction is sent after the token, so its answer shows that the server has accepted the token.
    try await database.transact("INSERT INTO orders VALUES (4, 'ann')")
    // Now the first token has expired, and the time to renew it is over.
    date.advance(seconds: 2 + 30 + 61)
    try live.writer.run("INSERT INTO orders VALUES (5, 'ann')")
    #expect(await eventually { ids(controller) == [1, 3, 4, 5] })
    guard case .patched? = try await iterator.next()?.change else {
      Issue.record("the list began anew")
      return
    }
    try await Task.sleep(for: .milliseconds(1_500))
    #expect(controller.delay == nil && transport.connections.load(ordering: .relaxed) == 1 && source.asked == 2)
    database.close()
    live.stop()
  }

  @Test func `A token that has expired by the server's clock alone is renewed`() async throws {
    let live = try serve()
    let source = TokenSource(try await token("ann", seconds: 600), try await token("ann"))
    let transport = BreakableTransport()
    let database = try remote(live, source, transport)
    let controller = orders(database)
    try await controller.performFetch()
    date.advance(seconds: 640)
    #expect(await eventually { source.asked == 2 })
    try live.writer.run("DELETE FROM orders WHERE id = 1")
    #expect(await eventually { ids(controller) == [3] })
    #expect(controller.delay == nil && transport.connections.load(ordering: .relaxed) == 1)
    database.close()
    live.stop()
  }

  @Test func `A list whose token is refused says so, and comes with the next one`() async throws {
    let live = try serve()
    let good = try await token("ann")
    let source = TokenSource(good + "A")
    let database = try remote(live, source)
    let controller = orders(database)
    let fetch = Task { try await controller.performFetch() }
    #expect(await eventually { controller.delay?.code == .unauthenticated })
    #expect(controller.delay?.message == "the token's signature is wrong" && controller.failure == nil)
    source.give(good)
    try await fetch.value
    #expect(ids(controller) == [1, 3] && controller.delay == nil)
    database.close()
    live.stop()
  }

  /// The list continues as the anonymous client's.
  @Test func `A list that anybody may see goes on while a token is refused`() async throws {
    let live = try serve(Self.roles + "\n  anonymous: { tables: { orders: }, queries: any, write: any }")
    let good = try await token("ann", role: "clerk")
    let source = TokenSource(good + "A")
    let database = try remote(live, source)
    let controller = orders(database)
    try await controller.performFetch()
    #expect(await eventually { controller.delay?.code == .unauthenticated })
    #expect(ids(controller) == [1, 2, 3])
    try live.writer.run("DELETE FROM orders WHERE id = 1")
    #expect(await eventually { ids(controller) == [2, 3] })
    #expect(controller.delay?.code == .unauthenticated, "what is new is not this client's either")
    let later = orders(database)
    try await later.performFetch()
    #expect(await eventually { later.delay?.code == .unauthenticated })
    source.give(good)
    #expect(await eventually { controller.delay == nil && later.delay == nil })
    try live.writer.run("DELETE FROM orders WHERE id = 2")
    #expect(await eventually { ids(controller) == [3] && ids(later) == [3] })
    #expect(controller.failure == nil && later.failure == nil)
    database.close()
    live.stop()
  }

  @Test func `Another role on an open connection has other rows`() async throws {
    let live = try serve()
    let source = TokenSource(try await token("ann", seconds: 2), try await token("ann", role: "clerk"))
    let transport = BreakableTransport()
    let database = try remote(live, source, transport)
    let controller = orders(database)
    try await controller.performFetch()
    #expect(ids(controller) == [1, 3])
    #expect(await eventually { ids(controller) == [1, 2, 3] })
    #expect(controller.failure == nil && controller.delay == nil)
    #expect(transport.connections.load(ordering: .relaxed) == 1)
    try live.writer.run("DELETE FROM orders WHERE id = 2")
    #expect(await eventually { ids(controller) == [1, 3] })
    database.close()
    live.stop()
  }

  // MARK: - Writing

  @Test func `A transaction waits until it is known who writes`() async throws {
    let live = try serve()
    let source = TokenSource(try await token("ann", role: "clerk"))
    let transport = BreakableTransport()
    let database = try remote(live, source, transport)
    // The transaction is sent before the first connection. A client without a role may not write.
    let outcome = try await database.transact("INSERT INTO orders VALUES (4, 'cyd')")
    #expect(outcome.statements.map(\.changes) == [1])
    transport.breakAfterSending("authenticate")
    await transport.breakConnections()
    let again = try await database.transact("INSERT INTO orders VALUES (5, 'cyd')")
    #expect(again.commit > outcome.commit && source.asked >= 3)
    database.close()
    live.stop()
  }

  @Test func `Nobody else writes what a refused client asked for`() async throws {
    let live = try serve(Self.roles + "\n  anonymous: { tables: { orders: }, queries: any, write: any }")
    let source = TokenSource(try await token("ann") + "A")
    let database = try remote(live, source)
    let error = await #expect(throws: FreshetError.self) { try await database.transact("DELETE FROM orders") }
    #expect(error?.code == .unauthenticated)
    #expect(try SQLiteShell(path: live.path).run("SELECT count(*) FROM orders;") == "3")
    database.close()
    live.stop()
  }

  // MARK: - Published queries

  @Test func `A published query is followed, with parameters that change`() async throws {
    let live = try serve(
      """
      queries:
        of: { query: { from: orders, where: "customer = :name", orderBy: [id] }, parameters: { name: { default: bob } } }
      """)
    let database = try remote(live, TokenSource(try await token("ann")))
    let controller = database.results(.init(published: "of")) { $0.values[0] }
    try await controller.performFetch()
    #expect(ids(controller) == [2])
    controller.requery(.init(published: "of", parameters: ["name": "ann"]))
    #expect(await eventually { ids(controller) == [1, 3] })
    try live.writer.run("UPDATE orders SET customer = 'ann' WHERE id = 2")
    #expect(await eventually { ids(controller) == [1, 2, 3] })
    for query in [Query(published: "nosuch"), .init(published: "of", parameters: ["nosuch": 1])] {
      let wrong = database.results(query)
      await #expect(throws: FreshetError.self, "\(query)") { try await wrong.performFetch() }
    }
    database.close()
    live.stop()
  }
}
