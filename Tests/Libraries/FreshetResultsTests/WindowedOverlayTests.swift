import Foundation
import LiveQuery
import TestSupport
import Testing
import Wire

@testable import FreshetResults

private typealias IndexPath = Foundation.IndexPath

/// Random messages of a server about a window of a list, and random changes over it, against a model that knows all
/// rows.
struct WindowedOverlayTests {
  private typealias Row = OverlayWorld.Row

  @Test(arguments: OptimisticOverlayTests.orders, 1...12 as ClosedRange<UInt64>)
  func `What is shown is the window of the sorted rows`(order: RowOrder, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var run = Run(order, &generator)
    for step in 0..<120 {
      let update = try run.step(step == 0, &generator)
      let context = "seed \(seed), step \(step), \(order.terms), \(order.section != nil), \(run.window!)"
      let shown = run.model.results
      let expected = OverlayWorld.sections(run.expected, order)
      #expect(shown.sections.map(\.value) == expected.map(\.name), "\(context)")
      #expect(shown.sections.map(\.count) == expected.map(\.rows.count), "\(context)")
      #expect(shown.count == expected.reduce(0) { $0 + $1.rows.count }, "\(context)")
      let rows = shown.sections.flatMap { $0.rows.map { $0?.row.values } }
      let all = expected.flatMap(\.rows)
      let window = try #require(shown.window)
      try #require(window.upperBound <= all.count && rows.count == all.count, "\(context)")
      let windowed = all.indices.map { window.contains($0) ? all[$0] : nil }
      #expect(rows == windowed, "\(context)")
      let shownIDs = Set(rows.compactMap { $0?.id })
      #expect(shownIDs.isSuperset(of: run.untouched), "\(context): a row that nothing touches")
      if run.holdsAll { #expect(window == 0..<all.count, "\(context): all rows are held") }
      for offset in window {
        let path = shown.indexPath(atOffset: offset)!
        #expect(shown.isPending(at: path) == run.pendingIDs.contains(all[offset].id), "\(context)")
        #expect(shown.pendingState(at: path)?.isPlaced != false, "\(context)")
        guard run.untouched.contains(all[offset].id), let base = run.basePath(all[offset].id) else { continue }
        #expect(run.model.shownPath(base.path) == path, "\(context)")
        #expect(shown.overlay.base(offset..<offset + 1).lowerBound == base.offset, "\(context)")
      }
      if case .patched(let patch)? = update?.change {
        let problem = patch.problem(from: run.shown, to: shown)
        #expect(problem == nil, "\(context): \(patch)")
      }
      if update == nil { #expect(ResultsPatch().problem(from: run.shown, to: shown) == nil, "\(context)") }
      run.shown = shown
    }
  }

  /// A server, the client, and the rows that the client can know.
  private struct Run {
    let order: RowOrder
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    var shown = SectionedResults<ResultRow>()
    var window: Window?
    private var server: OverlayWorld.Table = [:]
    private var changes: [LaidChange] = []
    private var (lastID, commit): (Int, Int64) = (0, 1)
    /// Pending rows that the client has held since a change was laid over them, with the values that it held last.
    private var known: OverlayWorld.Table = [:]

    init(_ order: RowOrder, _ generator: inout SeededGenerator) {
      self.order = order
      for id in 0..<Int64.random(in: 0..<16, using: &generator) { server[id] = OverlayWorld.row(id, &generator) }
      window = Self.window(&generator)
    }

    private static func window(_ generator: inout SeededGenerator) -> Window {
      let limit = Int.random(in: 0..<9, using: &generator)
      let offset = Int.random(in: 0..<3, using: &generator) == 0 ? 0 : Int.random(in: 0..<14, using: &generator)
      return Window(offset: offset, limit: limit == 8 ? 100 : limit)
    }

    private var sorted: [Row] { OverlayWorld.sections(server.values, order).flatMap(\.rows) }
    private var held: [Row] { Array(sorted[window!.range(total: server.count)]) }
    private var pending: [LaidChange] { changes.filter { ($0.commit ?? .max) > commit } }
    var pendingIDs: Set<Int64> { Set(pending.flatMap(\.changes).compactMap(\.id)) }
    var untouched: Set<Int64> { Set(held.map(\.id)).subtracting(pendingIDs) }
    var holdsAll: Bool { window!.limit > server.count && window!.offset == 0 }

    /// The server's position of a row.
    func basePath(_ id: Int64) -> (path: IndexPath, offset: Int)? {
      var offset = 0
      for (section, part) in OverlayWorld.sections(server.values, order).enumerated() {
        if let item = part.rows.firstIndex(where: { $0.id == id }) {
          return (IndexPath(item: item, section: section), offset + item)
        }
        offset += part.rows.count
      }
      return nil
    }

    mutating func step(_ isFirst: Bool, _ generator: inout SeededGenerator) throws -> ResultsUpdate<ResultRow>? {
      var message = ListMessage.laid
      switch isFirst ? 12 : Int.random(in: 0..<12, using: &generator) {
      case 0...3:
        lastID += 1
        let own = (0..<Int.random(in: 1...3, using: &generator)).map { _ in OverlayWorld.change(&generator) }
        changes.append(LaidChange(id: lastID, changes: own, newKeys: own.map { _ in 0 }))
      case 4: if !changes.isEmpty { changes.remove(at: Int.random(in: 0..<changes.count, using: &generator)) }
      case 5, 6:
        window = Self.window(&generator)
        let sections = OverlayWorld.sections(server.values, order)
        message = .rows(OverlayWorld.rows(sections, window, version: model.version))
      case 7...11:
        let before = server
        commit += 1
        OverlayWorld.write(&changes, to: &server, commit: commit, &generator)
        message = OverlayWorld.message(
          before, server, order, commit: commit, from: model.version, &window, &generator)
        forget(before, message)
      default: message = OverlayWorld.snapshot(server, order, commit: commit, window)
      }
      let update = try model.apply(message, changes)
      let ids = pendingIDs
      known = known.filter { ids.contains($0.key) }
      for row in held where ids.contains(row.id) { known[row.id] = row }
      return update
    }

    /// Rows that a patch deletes are forgotten, even if the same patch inserts them again.
    private mutating func forget(_ before: OverlayWorld.Table, _ message: ListMessage) {
      guard case .patch(let patch) = message else { return }
      let sections = OverlayWorld.sections(before.values, order)
      for path in patch.patch.deleted { known[sections[path.section].rows[path.item].id] = nil }
      for section in patch.patch.sectionsDeleted { for row in sections[section].rows { known[row.id] = nil } }
    }

    /// All rows, with the changes as far as the client can lay them over the list.
    var expected: [Row] {
      var rows = server
      var unknown: [Row] = []
      let heldIDs = Set(held.map(\.id))
      let shownIDs = Set(model.results.objects.compactMap { $0?.values.id })
      for id in pendingIDs {
        var row = known[id]
        for change in pending.flatMap(\.changes) where change.id == id { row = OverlayWorld.apply(change, to: row) }
        if known[id] == nil {
          if let row { unknown.append(row) }
        } else if row == nil || heldIDs.contains(id) || shownIDs.contains(id) {
          // Elsewhere a row stays as the server has it, unless it comes into the window.
          rows[id] = row
        }
      }
      return rows.values + unknown
    }
  }
}
