import Foundation
import FreshetClient
import FreshetResults
import GRDB
import Gateway
import Server
import ServerSupport
import Synchronization
import TestSupport
import Testing

/// The Swift client, over real sockets.
@MainActor @Suite(.serialized) struct RemoteDatabaseTests {
  private static let schema = """
    CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL);
    INSERT INTO bank VALUES (1, 'Almena', 'Kansas'), (2, 'Ericson', 'Nebraska'), (3, 'Barton', 'Kansas');
    """

  private struct Bank: Decodable, Equatable, Sendable { var id: Int, name: String, state: String }

  private static let byState = Query(from: "bank", orderBy: ["name"], sectionBy: "state")

  private func remote(_ live: LiveServer, _ transport: any LiveTransport = defaultTransport) throws -> RemoteDatabase {
    try RemoteDatabase("http://127.0.0.1:\(live.server.port)", transport: transport)
  }

  private func outline(_ controller: FetchedResultsController<Bank>) -> [String] {
    controller.sections.map { "\($0.indexTitle): " + $0.objects.map { $0?.name ?? "-" }.joined(separator: " ") }
  }

  @Test func `A list over the network is as one in the process`() async throws {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let database = try remote(live)
    let controller = database.results(Self.byState, as: Bank.self)
    try await controller.performFetch()
    #expect(outline(controller) == ["K: Almena Barton", "N: Ericson"])
    #expect(try await controller.indexPath(forKey: 2) == .init(item: 0, section: 1))
    #expect(try await controller.indexPath(forKey: 9) == nil)

    try live.writer.run("UPDATE bank SET state = 'Kansas' WHERE id = 2")
    #expect(await eventually { outline(controller) == ["K: Almena Barton Ericson"] })
    controller.requery(.init(from: "bank", orderBy: ["name DESC"]))
    #expect(await eventually { outline(controller) == [": Ericson Barton Almena"] })

    let outcome = try await database.transact(
      SQLStatement("INSERT INTO bank VALUES (:id, :name, 'Ohio') RETURNING name", ["id": 7, "name": "Zion"]),
      "DELETE FROM bank WHERE id = 1")
    #expect(outcome.statements.map(\.changes) == [1, 1] && outcome.statements[0].lastInsertRowid == 7)
    #expect(outcome.statements[0].rows.map(\.values) == [["Zion"]])
    #expect(await eventually { controller.results.commit >= outcome.commit })
    #expect(outline(controller) == [": Zion Ericson Barton"])
    let error = await #expect(throws: FreshetError.self) {
      try await database.transact("INSERT INTO bank VALUES (7, 'again', 'Ohio')")
    }
    #expect(error?.code == .constraint)

    let wrong = database.results(.init(from: "nosuch"))
    let refused = await #expect(throws: FreshetError.self) { try await wrong.performFetch() }
    #expect(refused?.code == .noSuchTable)
    database.close()
    #expect(await eventually { controller.failure?.code == .shuttingDown })
    await #expect(throws: FreshetError.self) { try await database.transact("DELETE FROM bank") }
  }

  @Test func `A window has contents where it is`() async throws {
    let live = try LiveServer(
      "CREATE TABLE n(i INTEGER PRIMARY KEY); INSERT INTO n SELECT value FROM generate_series(0, 4999)")
    let controller = try remote(live).results(.init(from: "n"), window: 0..<10) { $0.values[0] }
    try await controller.performFetch()
    #expect(controller.results.count == 5_000)
    controller.moveWindow(to: 4_000..<4_010)
    #expect(await eventually { controller.objectIfLoaded(at: .init(item: 4_009, section: 0)) == 4_009 })
    #expect(controller.objectIfLoaded(at: .init(item: 0, section: 0)) == nil)
  }

  /// The rows come faster than they are decoded, in more messages than may wait for a list.
  @Test(.timeLimit(.minutes(3)))
  func `A long list opens, whatever is written meanwhile`() async throws {
    let live = try LiveServer(
      "CREATE TABLE n(i INTEGER PRIMARY KEY, a); INSERT INTO n SELECT value, hex(randomblob(20)) FROM generate_series(1, 80000)"
    )
    let controller = try remote(live).results(.init(from: "n")) { $0.values[0] }
    let writing = Task {
      for row in 1...20 {
        try live.writer.run("DELETE FROM n WHERE i = \(row)")
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    try await controller.performFetch()
    try await writing.value
    #expect(await eventually { controller.results.count == 79_980 })
    #expect(controller.objectIfLoaded(at: .init(item: 79_979, section: 0)) == 80_000)
  }

  @Test func `A window that moves while there is no connection has contents afterwards`() async throws {
    let live = try LiveServer(
      "CREATE TABLE n(i INTEGER PRIMARY KEY); INSERT INTO n SELECT value FROM generate_series(0, 4999)")
    let transport = BreakableTransport()
    let controller = try remote(live, transport).results(.init(from: "n"), window: 0..<10) { $0.values[0] }
    try await controller.performFetch()
    transport.closeGate()
    await transport.breakConnections()
    #expect(await eventually { controller.delay != nil })
    controller.moveWindow(to: 100..<110)
    controller.moveWindow(to: 4_000..<4_010)
    try live.writer.run("DELETE FROM n WHERE i = 2000")
    transport.openGate()
    #expect(await eventually { controller.objectIfLoaded(at: .init(item: 4_009, section: 0)) == 4_010 })
    #expect(controller.window == 4_000..<4_010 && controller.delay == nil)
  }

  @Test func `A query that is asked for while there is no connection is not taken for refused`() async throws {
    let live = try LiveServer(Self.schema)
    let transport = BreakableTransport()
    let controller = try remote(live, transport).results(Self.byState, as: Bank.self)
    try await controller.performFetch()
    transport.closeGate()
    let next = Query(from: "bank", orderBy: ["name DESC"])
    // The server gets the message, but its answer is lost.
    transport.breakAfterSending("requery")
    controller.requery(next)
    #expect(await eventually { controller.delay?.code == .disconnected })
    #expect(controller.query == next && outline(controller) == ["K: Almena Barton", "N: Ericson"])
    transport.openGate()
    #expect(await eventually { outline(controller) == [": Ericson Barton Almena"] })
    #expect(controller.query == next && controller.delay == nil)
    controller.requery(.init(from: "nosuch"))
    #expect(await eventually { controller.query == next })
    #expect(controller.delay == nil && outline(controller) == [": Ericson Barton Almena"])
  }

  @Test func `A list goes on where it was when its connection breaks`() async throws {
    let live = try LiveServer(Self.schema)
    let transport = BreakableTransport()
    let database = try remote(live, transport)
    let controller = database.results(Self.byState, as: Bank.self)
    try await controller.performFetch()
    let iterator = controller.updates.makeAsyncIterator()
    _ = try await iterator.next()
    transport.closeGate()
    await transport.breakConnections()
    #expect(await eventually { controller.delay?.code == .disconnected })
    #expect(outline(controller) == ["K: Almena Barton", "N: Ericson"])
    try live.writer.run("DELETE FROM bank WHERE id = 3")
    transport.openGate()
    #expect(await eventually { outline(controller) == ["K: Almena", "N: Ericson"] })
    #expect(controller.delay == nil && transport.connections.load(ordering: .relaxed) == 2)
    // The list gets only the changes since then, and not a snapshot.
    guard case .patched(let patch)? = try await iterator.next()?.change else {
      Issue.record("no patch")
      return
    }
    #expect(patch.deletions == [.init(item: 1, section: 0)])
  }

  @Test(arguments: 1...5)
  func `A transaction is run once, also when the connection breaks before the answer`(run: Int) async throws {
    let live = try LiveServer(Self.schema) { $0.access.allowsWrites = true }
    let transport = BreakableTransport()
    let database = try remote(live, transport)
    try await database.transact("INSERT INTO bank VALUES (10, 'first', 'Ohio')")
    transport.breakAfterSending("transact")
    let outcome = try await database.transact("INSERT INTO bank(name, state) VALUES ('second', 'Ohio') RETURNING name")
    #expect(outcome.statements.map(\.changes) == [1])
    #expect(transport.connections.load(ordering: .relaxed) == 2)
    let count = try await live.queue.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM bank WHERE name = 'second'")
    }
    #expect(count == 1)
  }

  @Test func `A list waits for its server, over a restart as well`() async throws {
    let live = try LiveServer(Self.schema)
    let port = live.server.port
    let database = try remote(live)
    let controller = database.results(Self.byState, as: Bank.self)
    try await controller.performFetch()
    live.stop()
    #expect(await eventually { controller.delay != nil })
    try live.writer.run("UPDATE bank SET name = 'Zion' WHERE id = 1")
    let again = try Program(["serve", live.path, "--port", "\(port)"])
    #expect(await eventually { outline(controller) == ["K: Barton Zion", "N: Ericson"] })
    #expect(controller.delay == nil)
    again.signal(SIGTERM)
  }

  @Test func `TLS is checked`() async throws {
    let files = try TemporaryFolder()
    let pair = try TestCertificate(in: files)
    let live = try LiveServer(Self.schema) {
      $0.listening.certificate = .init(certificate: pair.certificate, key: pair.key)
    }
    let address = "https://localhost:\(live.server.port)"
    let transport = try WebSocketTransport(trusting: pair.certificate)
    let trusting = try RemoteDatabase(address, transport: transport).results(Self.byState)
    try await trusting.performFetch()
    #expect(trusting.results.count == 3)

    let distrusting = try RemoteDatabase(address, transport: WebSocketTransport()).results(Self.byState)
    let fetch = Task { try? await distrusting.performFetch() }
    #expect(await eventually { distrusting.delay?.message.contains("certificate of localhost is not trusted") == true })
    distrusting.stop()
    _ = await fetch.value
  }

  @Test func `An address that is none is refused`() {
    for address in ["ftp://example.org", "http://", "http://h:0", ""] {
      #expect(throws: FreshetError.self, "\(address)") { try RemoteDatabase(address) }
    }
  }
}
