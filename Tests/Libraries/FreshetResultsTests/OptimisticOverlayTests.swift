import Foundation
import LiveQuery
import TestSupport
import Testing
import Wire

@testable import FreshetResults

private typealias IndexPath = Foundation.IndexPath

/// Random messages of a server and random changes over them, against a model that sorts all rows anew.
struct OptimisticOverlayTests {
  private typealias Row = OverlayWorld.Row

  static let orders: [RowOrder] = [
    .init([]), .init([.by("name")]), .init([.by("name", isDescending: true)], section: .by("state")),
    .init([.by("name", .nocase, areNullsFirst: false)], section: .by("state", isDescending: true)),
    .init([.by("name", .rtrim, isDescending: true, areNullsFirst: true), .by("state")]),
    .init([.by("name", .rtrim)], section: .by("state")),
  ]

  @Test(arguments: orders, 1...6 as ClosedRange<UInt64>)
  func `What is shown is sorted, and each patch leads there`(order: RowOrder, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var server: [Int64: Row] = [:]
    for id in 0..<12 as Range<Int64> { server[id] = OverlayWorld.row(id, &generator) }
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    var window: Window?
    var (changes, lastID, commit): ([LaidChange], Int, Int64) = ([], 0, 1)
    var shown = SectionedResults<ResultRow>()
    for step in 0..<150 {
      var message = ListMessage.laid
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...3:
        lastID += 1
        let own = (0..<Int.random(in: 1...3, using: &generator)).map { _ in OverlayWorld.change(&generator) }
        changes.append(LaidChange(id: lastID, changes: own, newKeys: own.map { _ in 0 }))
      case 4: if !changes.isEmpty { changes.remove(at: Int.random(in: 0..<changes.count, using: &generator)) }
      default:
        let before = server
        commit += 1
        OverlayWorld.write(&changes, to: &server, commit: commit, &generator)
        message = OverlayWorld.message(before, server, order, commit: commit, from: model.version, &window, &generator)
      }
      if step == 0 { message = OverlayWorld.snapshot(server, order, commit: commit, nil) }
      let update = try model.apply(message, changes)
      let pending = changes.filter { ($0.commit ?? .max) > commit }
      var expected = server
      for change in pending { OverlayWorld.apply(change.changes, to: &expected) }
      let sections = OverlayWorld.sections(expected.values, order)
      let context = "seed \(seed), step \(step), \(order.terms)"
      #expect(model.results.sections.map(\.value) == sections.map(\.name), "\(context)")
      #expect(model.results.sections.map { $0.rows.map { $0!.row.values } } == sections.map(\.rows), "\(context)")
      #expect(model.results.count == expected.count)
      let touched = Set(pending.flatMap { $0.changes.map { $0.row["id"]! } })
      for (path, row) in model.results.allRows where model.results.isPending(at: path) {
        #expect(touched.contains(row.values[0]) && model.results.pendingState(at: path)!.isPlaced, "\(context)")
      }
      if pending.isEmpty { #expect(model.results.allRows.allSatisfy { !model.results.isPending(at: $0.0) }) }
      if case .patched(let patch)? = update?.change {
        #expect(patch.problem(from: shown, to: model.results) == nil, "\(context): \(patch)")
      }
      if update == nil { #expect(Self.outline(shown) == Self.outline(model.results), "\(context)") }
      shown = model.results
    }
  }

  @Test func `A row whose order is not known stays, and a new one is the last`() throws {
    let order = RowOrder([.by(nil)], section: .by("state"))
    let server: [Int64: Row] = [1: [1, "aa", "x"], 2: [2, "b", "x"], 3: [3, "c", "y"]]
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    _ = try model.apply(OverlayWorld.snapshot(server, order, commit: 1, nil), [])
    let change = LaidChange(
      id: 1, changes: [.update(["id": 1, "name": "zzz"]), .insert(["id": 0, "name": "", "state": "x"])],
      newKeys: [0, 0])
    let update = try #require(try model.apply(.laid, [change]))
    #expect(update.results.sections.map { $0.rows.map { $0!.row.values[0] } } == [[1, 2, 0], [3]])
    for item in [0, 2] {
      #expect(update.results.pendingState(at: IndexPath(item: item, section: 0)) == PendingState(isPlaced: false))
    }
    guard case .patched(let patch) = update.change else { Issue.record("no patch"); return }
    #expect(patch.insertions == [IndexPath(item: 2, section: 0)] && patch.updates.count == 1 && patch.moves.isEmpty)
  }

  @Test func `Rows move only where they have to`() throws {
    let order = RowOrder([.by("name")])
    let server: [Int64: Row] = [1: [1, "b", "x"], 2: [2, "d", "x"], 3: [3, "f", "x"]]
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    _ = try model.apply(OverlayWorld.snapshot(server, order, commit: 1, nil), [])
    func patch(_ change: OptimisticChange) throws -> ResultsPatch? {
      let update = try model.apply(.laid, [LaidChange(id: 1, changes: [change], newKeys: [0])])
      if case .patched(let patch)? = update?.change { return patch }
      return nil
    }
    let path = IndexPath(item: 1, section: 0)
    #expect(try patch(.update(["id": 2, "name": "e"]))?.updates == [.init(from: path, to: path)])
    let moved = try patch(.update(["id": 2, "name": "a"]))
    #expect(moved?.moves == [.init(from: path, to: IndexPath(item: 0, section: 0))] && moved?.updates == [])
    #expect(try patch(.delete(["id": 2]))?.deletions == [IndexPath(item: 0, section: 0)])
  }

  @Test func `Totals are the server's, in the sections that are shown`() throws {
    var reader = ServerMessageReader()
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    func apply(_ json: String, _ changes: [LaidChange]) throws -> ResultsUpdate<ResultRow>? {
      let message = try reader.read(try JSONParser.parse(json)).flatMap(ListMessage.init)
      return try model.apply(#require(message), changes)
    }
    _ = try apply(
      """
      {"type":"snapshot","version":"1","commit":1,"columns":["id","name","state"],"key":["id"],"total":2,
       "sections":[{"name":"x","indexTitle":"X","count":1,"totals":{"n":1}},{"name":"y","indexTitle":"Y","count":1,"totals":{"n":1}}],
       "offset":0,"rows":[[1,"a","x"],[2,"b","y"]],"complete":true,"totals":{"n":2}}
      """, [])
    // The only row of the first section is deleted, and one is inserted into a new section.
    let change = LaidChange(
      id: 1, changes: [.delete(["id": 1]), .insert(["id": 3, "name": "c", "state": "z"])], newKeys: [0, 3])
    let laid = try #require(try model.apply(.laid, [change]))
    #expect(laid.results.totals == ["n": 2] && laid.results.sections.first?.totals == ["n": 1])
    let update = try #require(
      try apply(
        #"{"type":"patch","from":"1","to":"2","commit":2,"total":2,"totals":{"n":7},"sectionTotals":[[0,{"n":3}],[1,{"n":4}]]}"#,
        [change]))
    #expect(update.results.totals == ["n": 7] && update.results.sections.map(\.name).first == "y")
    #expect(update.results.sections.first?.totals == ["n": 4])
    guard case .patched(let patch) = update.change else { Issue.record("no patch"); return }
    #expect(patch.totals == ["n"] && patch.sectionTotals == [0] && !patch.changesStructure)
    let shown = try #require(try model.apply(.laid, []))
    #expect(shown.results.sections.map(\.totals) == [["n": 3], ["n": 4]])
  }

  private static func outline(_ results: SectionedResults<ResultRow>) -> [String] {
    results.sections.map { "\($0.name)" } + results.allRows.map { "\($0.1) \(results.isPending(at: $0.0))" }
  }
}

extension SectionedResults {
  fileprivate var allRows: [(IndexPath, ResultRow)] {
    (0..<count).map { offset in
      let path = indexPath(atOffset: offset)!
      return (path, rowIfLoaded(at: path)!)
    }
  }
}
