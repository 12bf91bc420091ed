import Foundation
import Freshet
import Observation
import Synchronization
import TestSupport
import Testing

@MainActor struct ControllerTests {
  @Test func `A controller has sections, objects and index paths, and follows another process`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    let controller = database.results(Banks.byState, as: Bank.self)
    #expect(controller.sections.isEmpty)
    try await controller.performFetch()
    #expect(controller.results.outline(\.name) == ["K: Almena Barton", "N: Ericson", "O: Resolute"])
    #expect(controller.results.count == 4)
    #expect(controller.sections[0].name == "Kansas" && controller.sections[0].count == 2)
    #expect(controller.sectionIndexTitles == ["K", "N", "O"] && controller.section(forSectionIndexTitle: "O") == 2)
    #expect(controller.object(at: .init(item: 1, section: 0)).name == "Barton")
    #expect(controller.objectIfLoaded(at: .init(item: 2, section: 0)) == nil)
    #expect(try await controller.indexPath(forKey: 4) == .init(item: 0, section: 2))
    #expect(try await controller.indexPath(forKey: 5) == nil)
    let error = await #expect(throws: FreshetError.self) { try await controller.indexPath(forKey: 1, 2) }
    #expect(error?.code == .badQuery)

    try banks.write("UPDATE bank SET state = 'Ohio' WHERE id = 1; DELETE FROM bank WHERE id = 2")
    #expect(await eventually { controller.results.outline(\.name) == ["K: Barton", "O: Almena Resolute"] })
  }

  @Test func `A published query is refused with a word on where it is known`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    let controller = database.results(Query(published: "failed"))
    let error = await #expect(throws: FreshetError.self) { try await controller.performFetch() }
    #expect(error?.code == .badQuery && error?.message.contains("RemoteDatabase") == true)

    let following = database.results(Banks.byState, as: Bank.self)
    try await following.performFetch()
    following.requery(Query(published: "failed"))
    #expect(await eventually { following.query == Banks.byState })
    #expect(following.results.count == 4 && following.failure == nil)
  }

  /// Records what a table view would do.
  private final class Recorder: FetchedResultsControllerDelegate {
    typealias Element = Bank
    var calls: [String] = []

    func controllerWillChangeContent(_ controller: FetchedResultsController<Bank>) { calls.append("will") }
    func controllerDidChangeContent(_ controller: FetchedResultsController<Bank>) { calls.append("did") }
    func controllerDidReplaceContent(_ controller: FetchedResultsController<Bank>) { calls.append("replaced") }

    func controller(
      _ controller: FetchedResultsController<Bank>, didChange section: SectionedResults<Bank>.Section?,
      atSectionIndex index: Int, for type: ResultsChangeType
    ) { calls.append("\(type) section \(index) \(section?.indexTitle ?? "")") }

    func controller(
      _ controller: FetchedResultsController<Bank>, didChange object: Bank?, at indexPath: IndexPath?,
      for type: ResultsChangeType, newIndexPath: IndexPath?
    ) {
      let path = { (path: IndexPath?) in path.map { "\($0.section).\($0.item)" } ?? "-" }
      calls.append("\(type) \(object?.name ?? "") \(path(indexPath)) \(path(newIndexPath))")
    }

    func controller(
      _ controller: FetchedResultsController<Bank>, didRefuse query: Query, because error: FreshetError
    ) { calls.append("refused \(error.code.rawValue)") }

    func controller(_ controller: FetchedResultsController<Bank>, didFailWith error: FreshetError) {
      calls.append("failed \(error.code.rawValue)")
    }
  }

  @Test func `A row that comes into the window is an update at its former index path`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    let controller = database.results(Query(from: "bank", orderBy: ["name"]), as: Bank.self, window: 0..<2)
    let recorder = Recorder()
    controller.delegate = recorder
    try await controller.performFetch()
    recorder.calls = []
    try banks.write("DELETE FROM bank WHERE id = 1")
    #expect(await eventually { recorder.calls.last == "did" })
    #expect(recorder.calls == ["will", "delete  0.0 -", "update Ericson 0.2 0.1", "did"])
  }

  @Test func `A delegate hears of changes in Core Data's order`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    let controller = database.results(Banks.byState, as: Bank.self)
    let recorder = Recorder()
    controller.delegate = recorder
    try await controller.performFetch()
    #expect(recorder.calls == ["replaced"])
    recorder.calls = []
    try banks.write(
      """
      BEGIN; DELETE FROM bank WHERE id = 4; UPDATE bank SET closed = '2021-01-01' WHERE id = 3;
      UPDATE bank SET state = 'Kansas' WHERE id = 2; INSERT INTO bank VALUES (9, 'Zion', 'Iowa', NULL); COMMIT
      """)
    #expect(await eventually { recorder.calls.last == "did" })
    // Ericson moves to Kansas from a section that is deleted. As UIKit requires, this is not a move.
    #expect(
      recorder.calls == [
        "will", "delete section 1 ", "delete section 2 ", "insert section 0 I", "insert Ericson - 1.2",
        "update Barton 0.1 1.1", "did",
      ])
    recorder.calls = []
    try banks.write("UPDATE bank SET name = 'Zurich' WHERE id = 1")
    #expect(await eventually { recorder.calls.last == "did" })
    #expect(recorder.calls == ["will", "move Zurich 1.0 1.2", "did"])
  }

  @Test func `Another query moves the rows, and a wrong one changes nothing`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    let controller = database.results(Query(from: "bank", orderBy: ["name"]), as: Bank.self)
    let recorder = Recorder()
    controller.delegate = recorder
    try await controller.performFetch()
    recorder.calls = []
    controller.requery(Query(from: "bank", orderBy: ["name DESC"]))
    #expect(await eventually { controller.results.outline(\.name) == [": Resolute Ericson Barton Almena"] })
    #expect(recorder.calls.filter { $0.hasPrefix("move") }.count == 3 && !recorder.calls.contains("replaced"))
    recorder.calls = []
    controller.requery(Query(from: "bank", orderBy: ["nosuch"]))
    #expect(await eventually { recorder.calls == ["refused no_such_column"] })
    #expect(controller.query.orderBy == ["name DESC"])
    try banks.write("DELETE FROM bank WHERE id = 3")
    #expect(await eventually { controller.results.outline(\.name) == [": Resolute Ericson Almena"] })
  }

  @Test func `With a window the list is whole and its contents are those that are seen`() async throws {
    let banks = try Banks(
      "CREATE TABLE n(i INTEGER PRIMARY KEY); INSERT INTO n SELECT value FROM generate_series(0, 9999)")
    let database = try LiveDatabase(path: banks.path)
    let controller = database.results(Query(from: "n", orderBy: ["i"]), window: 0..<20) { $0.values[0] }
    try await controller.performFetch()
    #expect(controller.results.count == 10_000 && controller.results.window == 0..<20)
    #expect(controller.objectIfLoaded(at: .init(item: 19, section: 0)) == 19)
    #expect(controller.objectIfLoaded(at: .init(item: 20, section: 0)) == nil)
    controller.moveWindow(to: 5_000..<5_010)
    #expect(await eventually { controller.objectIfLoaded(at: .init(item: 5_009, section: 0)) == 5_009 })
    #expect(controller.objectIfLoaded(at: .init(item: 0, section: 0)) == nil)
    // A window stays on its content.
    try banks.write("DELETE FROM n WHERE i < 100")
    #expect(await eventually { controller.results.window == 4_900..<4_910 })
    #expect(controller.objectIfLoaded(at: .init(item: 4_900, section: 0)) == 5_000)
    #expect(try await controller.indexPath(forKey: 9_999) == .init(item: 9_899, section: 0))
  }

  @Test func `A view that observes the results is notified of changes`() async throws {
    let banks = try Banks()
    let controller = try LiveDatabase(path: banks.path).results(Banks.byState)
    try await controller.performFetch()
    let changes = Atomic<Int>(0)
    withObservationTracking {
      _ = controller.results
    } onChange: {
      changes.add(1, ordering: .relaxed)
    }
    try banks.write("DELETE FROM bank WHERE id = 1")
    #expect(await eventually { changes.load(ordering: .relaxed) == 1 })
  }

  @Test func `What cannot be followed is an error with a code`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    for (query, code) in [
      (Query(from: "nosuch"), ErrorCode.noSuchTable), (Query(from: "bank", where: "("), .badQuery),
      (Query(from: "bank", key: ["state"]), .duplicateKey), (Query(from: "bank", select: ["nosuch"]), .noSuchColumn),
    ] {
      let controller = database.results(query)
      let error = await #expect(throws: FreshetError.self) { try await controller.performFetch() }
      #expect(error?.code == code && controller.failure?.code == code)
    }
    struct Wrong: Decodable { var name: Int }
    let controller = database.results(Query(from: "bank"), as: Wrong.self)
    let error = await #expect(throws: FreshetError.self) { try await controller.performFetch() }
    #expect(error?.code == .badValue && error?.message.contains("Almena") == true)
    try "no database".write(toFile: banks.folder.path("text"), atomically: true, encoding: .utf8)
    #expect(throws: FreshetError.self) { try LiveDatabase(path: banks.folder.path("text")) }
  }

  @Test func `A list ends with its controller, with stop, and with the database`() async throws {
    let banks = try Banks()
    let database = try LiveDatabase(path: banks.path)
    weak var forgotten: FetchedResultsController<ResultRow>?
    do {
      let controller = database.results(Banks.byState)
      try await controller.performFetch()
      forgotten = controller
    }
    #expect(await eventually { forgotten == nil })

    let stopped = database.results(Banks.byState, as: Bank.self)
    try await stopped.performFetch()
    stopped.stop()
    try banks.write("DELETE FROM bank WHERE id = 1")
    let other = database.results(Banks.byState, as: Bank.self)
    try await other.performFetch()
    #expect(other.results.count == 3 && stopped.results.count == 4)
    try await stopped.performFetch()
    #expect(stopped.results.count == 3)

    let recorder = Recorder()
    other.delegate = recorder
    database.close()
    #expect(await eventually { recorder.calls.last == "failed shutting_down" })
    #expect(other.failure?.code == .shuttingDown && other.results.count == 3)
  }

  @Test func `A file that is not there yet is waited for`() async throws {
    let banks = try Banks()
    let path = banks.folder.path("later.sqlite")
    let database = try LiveDatabase(path: path)
    let early = database.results(Banks.byState)
    let error = await #expect(throws: FreshetError.self) { try await early.performFetch() }
    #expect(error?.code.isRetryable == true)
    try Banks.make(path)
    let controller = database.results(Banks.byState)
    while (try? await controller.performFetch()) == nil { try await Task.sleep(for: .milliseconds(20)) }
    #expect(controller.results.count == 4)
  }
}
