package import RankedCollections

/// One state of a result. Immutable; versions share what they have in common.
///
/// Owner: the worker of its controller. A version does not cross threads, only frames made of it do.
package final class ResultVersion {
  /// Counts up within a controller.
  package let number: Int
  /// The database state it shows: protocol's `commit`.
  package let commit: Int64
  /// The rows a client may see: the query's `limit` is applied.
  package let tree: SectionedTree

  package init(number: Int, commit: Int64, tree: SectionedTree) {
    self.number = number
    self.commit = commit
    self.tree = tree
  }

  /// Every section, in order. O(sections).
  package var sections: [SectionInfo] {
    var result: [SectionInfo] = []
    tree.forEachSection { result.append(SectionInfo(label: $0, count: $1)) }
    return result
  }
}
