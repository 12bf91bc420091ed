package import RankedCollections

/// One state of a result. It is immutable, and versions share the parts that are equal.
///
/// Owner: the follower of its controller. A version stays on its thread; only frames made from it go to other threads.
package final class ResultVersion {
  /// Counts up within a controller.
  package let number: Int
  /// The rows that a client may see, after the query's `limit` is applied.
  package let tree: SectionedTree
  /// The values alongside the result, in the order of their names.
  package let alongside: [NamedValue]

  package init(number: Int, tree: SectionedTree, alongside: [NamedValue]) {
    self.number = number
    self.tree = tree
    self.alongside = alongside
  }

  /// The totals of all rows, in the order of their names.
  package var totals: [NamedValue] { [NamedValue](totals: tree.totals) }

  /// Every section, in order. O(sections).
  package var sections: SectionList {
    var result: [SectionInfo] = []
    tree.forEachSection { result.append(SectionInfo(label: $0, totals: $1, count: $2)) }
    return SectionList(result)
  }
}
