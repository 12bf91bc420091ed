import Foundation
import LiveQuery

/// A list's model with changes laid over it: what is shown. Pure.
///
/// State: `model` is what the other side says; `results` is the same with the changes, whose rows `keys` names. `settled` are the changes
/// that the list has, `unsettled` those that are written while it is not known whether the list has them.
struct OverlaidModel<Element: Sendable> {
  typealias Results = SectionedResults<Element>

  private var model: ResultsModel<Element>
  private(set) var results = Results()
  private var keys: Set<[SQLValue]> = []
  /// Set when the list turns out to have caught up with them.
  var settled: Set<Int> = []
  /// To be found out; each change is here once.
  var unsettled: [Int] = []
  private var asked: Set<Int> = []

  var version: String { model.version }
  var isComplete: Bool { model.isComplete }

  init(decode: @escaping @Sendable (ResultRow) throws -> Element) { model = ResultsModel(decode: decode) }

  /// - Returns: nil when there is nothing new to show.
  mutating func apply(
    _ message: ListMessage, _ changes: [LaidChange], _ query: Query
  ) throws(FreshetError) -> ResultsUpdate<Element>? {
    let base = model.results
    let update = try model.apply(message)
    // Before the first results, and between the parts of a snapshot, there is nothing to lay them over.
    guard model.isComplete, !model.version.isEmpty else { return update }
    let outcomes = OptimisticOutcome.all(of: unreached(changes), key: model.results.key)
    if keys.isEmpty && outcomes.isEmpty {
      results = model.results
      return update
    }
    let order = RowOrder(query, columns: model.results.columns, key: model.results.key)
    let overlay = OptimisticOverlay<Element>(order: order) { [model] in try model.entry($0) }
    let next = overlay.lay(outcomes, over: model.results)
    let keysBefore = keys
    let old = results
    keys = Set(outcomes.map(\.key))
    results = next
    var step = ResultsPatch()
    switch update?.change {
    case .replaced: return ResultsUpdate(change: .replaced, results: next)
    case .patched(let patch): step = patch
    case nil: break
    }
    let touched = keysBefore.union(keys)
    guard let patch = step.overlaid(from: old, to: next, touched: touched, base: (base, model.results)) else {
      return ResultsUpdate(change: .replaced, results: next)
    }
    return patch.isEmpty ? nil : ResultsUpdate(change: .patched(patch), results: next)
  }

  /// Those whose writes the list does not show.
  private mutating func unreached(_ changes: [LaidChange]) -> [LaidChange] {
    let ids = Set(changes.map(\.id))
    settled.formIntersection(ids)
    asked.formIntersection(ids)
    for change in changes {
      guard let commit = change.commit, !settled.contains(change.id) else { continue }
      if commit <= model.results.commit {
        settled.insert(change.id)
      } else if asked.insert(change.id).inserted {
        unsettled.append(change.id)
      }
    }
    return changes.filter { !settled.contains($0.id) }
  }
}
