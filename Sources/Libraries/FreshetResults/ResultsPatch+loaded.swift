import Foundation

extension ResultsPatch {
  /// The rows of `loaded` that no other list of the patch has, at their positions before and after.
  ///
  /// Table views forbid two changes of one row in a batch, and take the positions of updates in the old results.
  func loadedInPlace<Element>(
    from old: SectionedResults<Element>, to new: SectionedResults<Element>
  ) -> [Change] {
    if loaded.isEmpty { return [] }
    let (before, after) = (PathTable(old), PathTable(new))
    let correspondence = BaseCorrespondence(self, from: before, to: after)
    let others = Set((moves + updates).map(\.to))
    return loaded.compactMap { path in
      if others.contains(path) { return nil }
      return correspondence.oldOffset(after.offset(of: path)).map { Change(from: before.path(of: $0), to: path) }
    }
  }
}
