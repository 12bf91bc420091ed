import Freshet
import FreshetResults
import GRDB
import ServerSupport
import Synchronization
import Wire

/// Iterates over a list's updates, and checks each patch.
final class WatchedList: Sendable {
  private struct State {
    var results: SectionedResults<ResultRow>?
    var ended: FreshetError?
    var violation: String?
    var replacements = 0
  }

  private let state = Mutex(State())
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(
    _ query: OracleQuery, _ updates: (Query, Range<Int>?) -> ResultsUpdates<ResultRow>
  ) throws {
    let updates = updates(try Query(query), query.window.map { $0.offset..<$0.offset + $0.limit })
    let task = Task { [weak self] in
      do {
        for try await update in updates { self?.take(update) }
      } catch {
        self?.state.withLock { $0.ended = error as? FreshetError ?? FreshetError(.internal, "\(error)") }
      }
    }
    self.task.withLock { $0 = task }
  }

  func stop() { task.withLock { $0?.cancel() } }

  var hasEnded: Bool { state.withLock { $0.ended != nil } }

  private func take(_ update: ResultsUpdate<ResultRow>) {
    state.withLock { state in
      if case .patched(let patch) = update.change {
        if let old = state.results {
          state.violation = state.violation ?? patch.violation(from: old, to: update.results)
        } else {
          state.violation = "a patch of nothing"
        }
      }
      if case .replaced = update.change { state.replacements += 1 }
      state.results = update.results
    }
  }

  /// How often all results were replaced.
  var replacements: Int { state.withLock { $0.replacements } }

  /// The difference that remains after the longest allowed time; nil: none.
  func difference(from answer: OracleQuery.Answer, mayEnd: Bool) async -> String? {
    var difference: String?
    for _ in 0..<3_000 {
      let (results, ended, violation) = state.withLock { ($0.results, $0.ended, $0.violation) }
      if let violation { return violation }
      if let ended { return mayEnd && ended.code == .duplicateKey ? nil : ended.description }
      difference = results.map { $0.difference(from: answer) } ?? "no results"
      if difference == nil { return nil }
      try? await Task.sleep(for: .milliseconds(2))
    }
    return difference
  }
}

extension Query {
  fileprivate init(_ query: OracleQuery) throws {
    if let sql = query.sql {
      try self.init(
        sql: sql, orderBy: query.orderBy,
        sectionBy: query.section.map { .init($0.expression, isDescending: $0.isDescending) }, limit: query.limit,
        key: query.tellsKey ? query.keys : [], totals: query.totals)
      return
    }
    self.init(
      from: query.table, select: query.select, where: query.filter,
      parameters: .named(query.parameters.mapValues { .integer(Int64($0)) }), groupBy: query.groupBy,
      having: query.having, orderBy: query.orderBy,
      sectionBy: query.section.map { .init($0.expression, isDescending: $0.isDescending) }, limit: query.limit,
      key: query.tellsKey ? query.keys : [], totals: query.totals, alongside: query.alongside)
  }
}

extension SectionedResults<ResultRow> {
  fileprivate func difference(from answer: OracleQuery.Answer) -> String? {
    let mine = sections.map { "\(JSONValue($0.value)) × \($0.count)" }
    let theirs = answer.sections.map { "\($0.name) × \($0.count)" }
    if mine != theirs { return "sections \(mine) instead of \(theirs)" }
    if count != answer.rows.count { return "count \(count) instead of \(answer.rows.count)" }
    let values = alongside.mapValues { JSONValue($0) }
    if values != answer.alongside { return "alongside \(values) instead of \(answer.alongside)" }
    let all = totals.mapValues { JSONValue($0) }
    if all != answer.totals { return "totals \(all) instead of \(answer.totals)" }
    let ofSections = sections.map { $0.totals.mapValues { JSONValue($0) } }
    if ofSections != answer.sectionTotals { return "totals \(ofSections) instead of \(answer.sectionTotals)" }
    for (offset, object) in objects.enumerated() {
      guard window?.contains(offset) ?? true else {
        if object != nil { return "contents outside the window at offset \(offset)" }
        continue
      }
      let row = object?.values.map { JSONValue($0) }
      if row != answer.rows[offset] { return "\(String(describing: row)) instead of \(answer.rows[offset])" }
    }
    return nil
  }
}

extension ResultsPatch {
  /// The error that a table view would report if it applied the patch; nil: none.
  fileprivate func violation(
    from old: SectionedResults<ResultRow>, to new: SectionedResults<ResultRow>
  ) -> String? {
    var sections = old.sections.map { Array($0.objects) }
    let gone = (deletions + moves.map(\.from)).sorted(by: >)
    for path in gone { sections[path.section].remove(at: path.item) }
    for index in deletedSections.reversed() { sections.remove(at: index) }
    for index in insertedSections { sections.insert(Array(new.sections[index].objects), at: index) }
    for path in (insertions + moves.map(\.to)).sorted() {
      guard sections[path.section].count >= path.item else { return "no place at \(path)" }
      sections[path.section].insert(new.objectIfLoaded(at: path), at: path.item)
    }
    for (index, section) in new.sections.enumerated() where !insertedSections.contains(index) {
      let former = old.sections.indices.filter { !deletedSections.contains($0) }[
        index - insertedSections.count { $0 < index }]
      let isChanged = old.sections[former].totals != section.totals
      if isChanged != sectionTotals.contains(index) { return "totals of section \(index)" }
    }
    if Set(new.totals.keys.filter { old.totals[$0] != new.totals[$0] }) != Set(totals) { return "totals \(totals)" }
    for path in updates.map(\.to) + loaded { sections[path.section][path.item] = new.objectIfLoaded(at: path) }
    for (index, section) in new.sections.enumerated() {
      guard sections.indices.contains(index), sections[index].count == section.count else {
        return "section \(index) has another count: \(self)"
      }
      // Rows that left the window may still be held: a view reads them again when it scrolls there.
      for (item, row) in section.objects.enumerated() where row != nil && sections[index][item] != row {
        return "the row at \(index),\(item) is not shown as it is: \(self)"
      }
    }
    return sections.count == new.sections.count ? nil : "\(sections.count) sections instead of \(new.sections.count)"
  }
}

/// The lists of several queries, compared with SQLite's own answers.
struct WatchedLists {
  private let queries: [OracleQuery]
  private let updates: (Query, Range<Int>?) -> ResultsUpdates<ResultRow>
  private var lists: [WatchedList]
  /// The answers before the last commit.
  private var answers: [OracleQuery.Answer?]

  init(
    _ queries: [OracleQuery],
    _ updates: @escaping (Query, Range<Int>?) -> ResultsUpdates<ResultRow>
  ) throws {
    self.queries = queries
    self.updates = updates
    lists = try queries.map { try WatchedList($0, updates) }
    answers = Array(repeating: nil, count: queries.count)
  }

  /// The difference, with its query; nil: none. A list with two rows of one key ends. It is opened again, because the
  /// next commit may remove one of them.
  mutating func difference(from queue: DatabaseQueue) async throws -> String? {
    for index in queries.indices {
      let query = queries[index]
      let answer = try await queue.read { try query.answer($0) }
      let mayEnd = answer.hasDuplicates || answers[index]?.hasDuplicates ?? true
      answers[index] = answer
      // The list waits until the duplicate is gone.
      if answer.hasDuplicates, !lists[index].hasEnded { continue }
      if let difference = await lists[index].difference(from: answer, mayEnd: mayEnd) {
        return "\(difference) in \(query.json)"
      }
      if lists[index].hasEnded { lists[index] = try WatchedList(query, updates) }
    }
    return nil
  }

  func stop() { for list in lists { list.stop() } }
}
