package import ChangeCapture
package import Following

// Keeps what is known of tables from process to process.
extension Lists {
  /// Continues with what was kept of the tables that capture has restored.
  package func restore(_ memory: KeptMemory, _ capture: ChangeCapture) {
    ages = TableAges(memory.tables, capture)
    evaluation.keptTables = Set(capture.numbers)
    earlier = memory
    numbers.commits.remember(memory.seen)
  }

  /// Frees the restored memory, once clients of the previous process have had time to reconnect.
  package func forgetRestored() {
    earlier = nil
    evaluation.keptTables = []
    evaluation.forgetUnusedTables(capture)
  }

  /// Makes earlier versions of a followed list valid. The list is the same at all seen commits since its tables last
  /// changed, including those of the previous process. If the tables have not changed since that process ended, its
  /// versions of the list are still valid.
  func honourEarlier(_ list: LiveList) {
    guard let earlier, list.isFollowing, !list.shape.captured.isOfEveryCommit,
      var first = ages.first(of: list.shape.captured.storages.keys)
    else { return }
    if first <= earlier.highest, let query = list.versions.queryName, let begun = earlier.lists[query] {
      first = min(first, begun)
    }
    list.versions.extendSpan(to: first)
  }

  /// The state that is kept for the next process, in addition to the capture's.
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
