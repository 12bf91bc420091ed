import Foundation
import LiveQuery

/// A list's model with changes laid over it: what is shown. Pure.
/// State: `model` is the source's list; `overlay` is its last complete state, with the changes. `settled` are the
/// changes that the list includes; `unsettled` are written changes that it may or may not include yet.
struct OverlaidModel<Element: Sendable> {
  typealias Results = SectionedResults<Element>

  private var model: ResultsModel<Element>
  private var overlay = OptimisticOverlay(Results())
  /// Set when the list turns out to include them.
  var settled: Set<Int> = []
  /// Each change is here once.
  var unsettled: [Int] = []
  private var asked: Set<Int> = []

  var results: Results { overlay.results.results }
  var version: String { model.version }
  var isComplete: Bool { model.isComplete }

  init(decode: @escaping @Sendable (ResultRow) throws -> Element) { model = ResultsModel(decode: decode) }

  /// Where a row of the server's is shown; nil: it is not.
  func shownPath(_ path: IndexPath) -> IndexPath? {
    guard overlay.base.results.contains(path) else { return nil }
    return overlay.shownOffset(overlay.base.offset(of: path)).map(overlay.results.path)
  }

  /// - Returns: nil if there is nothing new to show.
  mutating func apply(
    _ message: ListMessage, _ changes: [LaidChange]
  ) throws(FreshetError) -> ResultsUpdate<Element>? {
    let update = try model.apply(message)
    // Before the first results, and between the parts of a snapshot, there are no results to change.
    guard model.isComplete, !model.version.isEmpty else { return update }
    let steps = unreached(changes).steps(model.results.key)
    let before = overlay
    if before.effects.isEmpty && steps.isEmpty {
      overlay = OptimisticOverlay(model.results)
      return update
    }
    let base = PathTable(model.results)
    let patch: ResultsPatch? =
      switch update?.change {
      case .replaced: nil
      case .patched(let patch): patch
      case nil: ResultsPatch()
      }
    let correspondence = patch.map { BaseCorrespondence($0, from: before.base, to: base) }
    let effects = OptimisticOverlay.effects(of: steps, over: base, before: before, correspondence) { [model] in
      try model.entry($0)
    }
    overlay = OptimisticOverlay(
      effects, over: base, order: model.ordering)
    guard let correspondence, var shown = ResultsPatch(from: before, to: overlay, correspondence) else {
      return ResultsUpdate(change: .replaced, results: results)
    }
    shown.totals = patch?.totals ?? []
    shown.alongside = patch?.alongside ?? []
    let isSame = shown.isEmpty && before.results.results.window == results.window
    return isSame ? nil : ResultsUpdate(change: .patched(shown), results: results)
  }

  /// The changes whose writes the list does not show.
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
