import Foundation
import LiveQuery
import TestSupport
import Testing

@testable import FreshetResults

private typealias IndexPath = Foundation.IndexPath

/// Random messages of a server and random changes over them, against a model that sorts all rows anew.
struct OptimisticOverlayTests {
  private typealias Row = [SQLValue]
  private static let columns = ["id", "name", "state"]
  private static let names: [SQLValue] = [nil, "a", "A", "a ", "b", "B ", "é", "", 1, 2.5, -3]
  private static let states: [SQLValue] = ["x", "y", "z", nil]

  static let queries: [FreshetResults.Query] = [
    .init(from: "t"), .init(from: "t", orderBy: ["name"]), .init(from: "t", orderBy: ["name DESC"], sectionBy: "state"),
    .init(from: "t", orderBy: ["name COLLATE NOCASE NULLS LAST"], sectionBy: .init("state", isDescending: true)),
    .init(from: "t", orderBy: ["t.name COLLATE RTRIM DESC NULLS FIRST", "state"]),
    .init(from: "t", orderBy: ["\"name\" COLLATE RTRIM"], sectionBy: "state"),
  ]

  @Test(arguments: queries, 1...6 as ClosedRange<UInt64>)
  func `What is shown is sorted, and each patch leads there`(query: FreshetResults.Query, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var server: [Int64: Row] = [:]
    for id in 0..<12 as Range<Int64> { server[id] = Self.row(id, &generator) }
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    var (changes, lastID, commit): ([LaidChange], Int, Int64) = ([], 0, 1)
    var shown = SectionedResults<ResultRow>()
    for step in 0..<150 {
      var message = ListMessage.laid
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...3:
        lastID += 1
        let own = (0..<Int.random(in: 1...3, using: &generator)).map { _ in Self.change(&generator) }
        changes.append(LaidChange(id: lastID, changes: own, newKeys: own.map { _ in 0 }))
      case 4: if !changes.isEmpty { changes.remove(at: Int.random(in: 0..<changes.count, using: &generator)) }
      default:
        // The server does what was laid first, or what somebody else wants.
        let before = server
        commit += 1
        if Bool.random(using: &generator), let index = changes.firstIndex(where: { $0.commit == nil }) {
          Self.apply(changes[index].changes, to: &server)
          changes[index].commit = commit
        } else {
          Self.apply([Self.change(&generator)], to: &server)
        }
        message = Self.message(before, server, query, commit: commit, from: step == 0 ? nil : model.version)
      }
      if step == 0 { message = Self.message([:], server, query, commit: commit, from: nil) }
      let update = try model.apply(message, changes, query)
      let pending = changes.filter { ($0.commit ?? .max) > commit }
      var expected = server
      for change in pending { Self.apply(change.changes, to: &expected) }
      let sections = Self.sections(expected, query)
      let context = "seed \(seed), step \(step), \(query.orderBy)"
      #expect(model.results.sections.map(\.name) == sections.map(\.name), "\(context)")
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
    let query = FreshetResults.Query(from: "t", orderBy: ["length(name)"], sectionBy: "state")
    let server: [Int64: Row] = [1: [1, "aa", "x"], 2: [2, "b", "x"], 3: [3, "c", "y"]]
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    _ = try model.apply(Self.message([:], server, query, commit: 1, from: nil), [], query)
    let change = LaidChange(
      id: 1, changes: [.update(["id": 1, "name": "zzz"]), .insert(["id": 0, "name": "", "state": "x"])],
      newKeys: [0, 0])
    let update = try #require(try model.apply(.laid, [change], query))
    #expect(update.results.sections.map { $0.rows.map { $0!.row.values[0] } } == [[1, 2, 0], [3]])
    for item in [0, 2] {
      #expect(update.results.pendingState(at: IndexPath(item: item, section: 0)) == PendingState(isPlaced: false))
    }
    guard case .patched(let patch) = update.change else { Issue.record("no patch"); return }
    #expect(patch.insertions == [IndexPath(item: 2, section: 0)] && patch.updates.count == 1 && patch.moves.isEmpty)
  }

  @Test func `Rows move only where they have to`() throws {
    let query = FreshetResults.Query(from: "t", orderBy: ["name"])
    let server: [Int64: Row] = [1: [1, "b", "x"], 2: [2, "d", "x"], 3: [3, "f", "x"]]
    var model = OverlaidModel<ResultRow>(decode: { $0 })
    _ = try model.apply(Self.message([:], server, query, commit: 1, from: nil), [], query)
    func patch(_ change: OptimisticChange) throws -> ResultsPatch? {
      let update = try model.apply(.laid, [LaidChange(id: 1, changes: [change], newKeys: [0])], query)
      if case .patched(let patch)? = update?.change { return patch }
      return nil
    }
    let path = IndexPath(item: 1, section: 0)
    #expect(try patch(.update(["id": 2, "name": "e"]))?.updates == [.init(from: path, to: path)])
    let moved = try patch(.update(["id": 2, "name": "a"]))
    #expect(moved?.moves == [.init(from: path, to: IndexPath(item: 0, section: 0))] && moved?.updates == [])
    #expect(try patch(.delete(["id": 2]))?.deletions == [IndexPath(item: 0, section: 0)])
  }

  // MARK: - The model

  private static func row(_ id: Int64, _ generator: inout SeededGenerator) -> Row {
    [.integer(id), names.randomElement(using: &generator)!, states.randomElement(using: &generator)!]
  }

  private static func change(_ generator: inout SeededGenerator) -> OptimisticChange {
    let row = row(.random(in: 0..<16, using: &generator), &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return .delete(["id": row[0]])
    case 1: return .insert(["id": row[0], "name": row[1], "state": row[2]])
    case 2: return .update(["id": row[0], "state": row[2]])
    case 3: return .update(["id": row[0], "name": row[1], "state": row[2]])
    default: return .update(["id": row[0], "name": row[1]])
    }
  }

  private static func apply(_ changes: [OptimisticChange], to rows: inout [Int64: Row]) {
    for change in changes {
      guard case .integer(let id)? = change.row["id"] else { continue }
      switch change {
      case .delete: rows[id] = nil
      case .insert(let row): rows[id] = columns.map { row[$0] ?? .null }
      case .update(let row): if let old = rows[id] { rows[id] = zip(columns, old).map { row[$0] ?? $1 } }
      }
    }
  }

  private static func sections(_ rows: [Int64: Row], _ query: FreshetResults.Query) -> [(name: SQLValue, rows: [Row])] {
    let order = RowOrder(query, columns: columns, key: ["id"])
    func isBefore(_ left: Row, _ right: Row) -> Bool {
      let first = order.section.map { $0.compare(left[2], right[2]) } ?? 0
      return first == 0 ? (order.compare(left, right) ?? (left.id < right.id ? -1 : 1)) < 0 : first < 0
    }
    let sorted = rows.values.sorted(by: isBefore)
    guard query.sectionBy != nil else { return [(.text(""), sorted)] }
    var sections: [(name: SQLValue, rows: [Row])] = []
    for row in sorted {
      if sections.last?.name != row[2] { sections.append((row[2], [])) }
      sections[sections.count - 1].rows.append(row)
    }
    return sections
  }

  /// A snapshot, or the patch between two states: rows that differ go and come, as if each were another one.
  private static func message(
    _ before: [Int64: Row], _ after: [Int64: Row], _ query: FreshetResults.Query, commit: Int64, from: String?
  ) -> ListMessage {
    let (old, new) = (sections(before, query), sections(after, query))
    let infos = new.map { SectionInfo(name: $0.name, indexTitle: "", count: $0.rows.count) }
    guard let from else {
      let rows = ListRows(version: "\(commit)", window: nil, offset: 0, rows: new.flatMap(\.rows), isComplete: true)
      return .snapshot(
        ListSnapshot(
          version: "\(commit)", commit: commit, columns: columns, key: ["id"], total: after.count, sections: infos,
          window: nil, alongside: [], rows: rows))
    }
    var patch = ListPatch(from: from, to: "\(commit)", commit: commit, total: after.count)
    let (oldNames, newNames) = (old.map(\.name), new.map(\.name))
    patch.sectionsDeleted = oldNames.indices.filter { !newNames.contains(oldNames[$0]) }.reversed()
    for index in newNames.indices where !oldNames.contains(newNames[index]) {
      patch.sectionsInserted.append(.init(index: index, info: infos[index], rows: new[index].rows))
    }
    for (section, part) in old.enumerated() where newNames.contains(part.name) {
      for (item, row) in part.rows.enumerated() where after[row.id] != row {
        patch.deleted.append(.init(section: section, item: item))
      }
    }
    patch.deleted.reverse()
    for (section, part) in new.enumerated() where oldNames.contains(part.name) {
      for (item, row) in part.rows.enumerated() where before[row.id] != row {
        patch.inserted.append(.init(path: .init(section: section, item: item), row: row))
      }
    }
    return .patch(patch)
  }

  private static func outline(_ results: SectionedResults<ResultRow>) -> [String] {
    results.sections.map { "\($0.name)" } + results.allRows.map { "\($0.1) \(results.isPending(at: $0.0))" }
  }
}

extension [SQLValue] {
  fileprivate var id: Int64 {
    guard case .integer(let id) = self[0] else { return -1 }
    return id
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

extension ResultsPatch {
  /// What is wrong with a patch between two states; nil: nothing.
  fileprivate func problem(
    from old: SectionedResults<ResultRow>, to new: SectionedResults<ResultRow>
  ) -> String? {
    var rows = old.sections.map { $0.rows.map { $0! } }
    for path in (deletions + moves.map(\.from)).sorted(by: >) { rows[path.section].remove(at: path.item) }
    for index in deletedSections.reversed() { rows.remove(at: index) }
    for index in insertedSections { rows.insert(new.sections[index].rows.map { $0! }, at: index) }
    for path in (insertions + moves.map(\.to)).sorted() {
      guard rows.indices.contains(path.section), path.item <= rows[path.section].count else {
        return "no place at \(path)"
      }
      rows[path.section].insert(new.sections[path.section].rows[path.item]!, at: path.item)
    }
    for change in updates {
      if old.key(at: change.from) != new.key(at: change.to) { return "another row is updated" }
      rows[change.to.section][change.to.item] = new.sections[change.to.section].rows[change.to.item]!
    }
    for change in moves where old.key(at: change.from) != new.key(at: change.to) { return "another row moves" }
    let mine = rows.map { $0.map { "\($0.row) \($0.pending as Any)" } }
    let theirs = new.sections.map { $0.rows.map { "\($0!.row) \($0!.pending as Any)" } }
    return mine == theirs ? nil : "\(mine) instead of \(theirs)"
  }
}
