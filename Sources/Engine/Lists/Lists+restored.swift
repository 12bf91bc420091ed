package import ChangeCapture
package import Following

// State of the tables that is kept from process to process.
extension Lists {
  /// Goes on with what was kept of the tables that capture has restored.
  package func restore(_ memory: KeptMemory, _ capture: ChangeCapture) {
    ages = TableAges(memory.tables, capture)
    evaluation.keptTables = Set(capture.numbers)
    earlier = memory
    numbers.commits.remember(memory.seen)
  }

  /// Clients that were there before have come back, or have not.
  package func forgetRestored() {
    earlier = nil
    evaluation.keptTables = []
    evaluation.forgetUnusedTables(capture)
  }

  /// A followed list is the same at all seen commits since its tables last changed, also at those of the former
  /// process. If the tables have not changed since that process ended, its versions of the list are still valid.
  func honourEarlier(_ list: LiveList) {
    guard let earlier, list.isFollowing, !list.shape.captured.isOfEveryCommit,
      var first = ages.first(of: list.shape.captured.storages.keys)
    else { return }
    if first <= earlier.highest, let query = list.versions.queryName, let begun = earlier.lists[query] {
      first = min(first, begun)
    }
    list.versions.extendSpan(to: first)
  }

  /// State for the next process, in addition to the capture's.
  package func kept(_ capture: ChangeCapture) -> KeptMemory {
    var memory = KeptMemory(epoch: numbers.commits.epoch.name, highest: numbers.highest)
    memory.tables = ages.kept(capture)
    memory.seen = numbers.commits.seen
    for list in byQuery.values where list.isFollowing && !list.shape.captured.isOfEveryCommit {
      if let query = list.versions.queryName, let first = list.versions.spanStart { memory.lists[query] = first }
    }
    return memory
  }
}
