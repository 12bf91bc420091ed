/// How the offsets of two consecutive server states correspond. Pure.
///
/// Rows are matched by position, including rows whose contents are not held.
struct BaseCorrespondence {
  /// Offsets in the last state of rows that are in both and changed.
  private(set) var changed: [Int] = []
  /// Offsets in the last state of rows that only it has.
  private(set) var deleted: Set<Int> = []
  /// Offsets in the next state of rows that only it has.
  private(set) var inserted: Set<Int> = []
  private var moves: [Int: Int] = [:]
  private var movesBack: [Int: Int] = [:]
  /// Offsets in the last state of rows that are deleted or move.
  private let leaving: OffsetSet
  private let arriving: OffsetSet

  init<Element>(_ patch: ResultsPatch, from old: PathTable<Element>, to new: PathTable<Element>) {
    for move in patch.moves {
      let (from, to) = (old.offset(of: move.from), new.offset(of: move.to))
      (moves[from], movesBack[to]) = (to, from)
    }
    changed = moves.keys + patch.updates.map { old.offset(of: $0.from) }
    deleted = Set(patch.deletions.map(old.offset(of:)) + patch.deletedSections.flatMap(old.offsets(ofSection:)))
    inserted = Set(patch.insertions.map(new.offset(of:)) + patch.insertedSections.flatMap(new.offsets(ofSection:)))
    leaving = OffsetSet(deleted.union(moves.keys))
    arriving = OffsetSet(inserted.union(movesBack.keys))
  }

  func newOffset(_ old: Int) -> Int? {
    if deleted.contains(old) { return nil }
    return moves[old] ?? arriving.offset(ofRank: leaving.rank(of: old))
  }

  func oldOffset(_ new: Int) -> Int? {
    if inserted.contains(new) { return nil }
    return movesBack[new] ?? leaving.offset(ofRank: arriving.rank(of: new))
  }
}
