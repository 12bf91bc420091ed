package import RankedCollections

/// One state of a result. Immutable; versions share what they have in common.
///
/// Owner: the follower of its controller. A version does not cross threads, only frames made of it do.
package final class ResultVersion {
  /// Counts up within a controller.
  package let number: Int
  /// The rows a client may see: the query's `limit` is applied.
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
