/// The difference of two versions of a sectioned result, before moves are detected.
package struct SectionedDifference {
  /// A row that both versions have.
  package struct Pair {
    package var old: SectionedTree.Row
    package var new: SectionedTree.Row

    package init(old: SectionedTree.Row, new: SectionedTree.Row) {
      self.old = old
      self.new = new
    }

    package var isContentChanged: Bool { old.stamp != new.stamp }
  }

  /// The differences within a section that both versions have, with old and new indexes.
  package struct Common {
    package var oldSection: Int
    package var newSection: Int
    /// Entries that only the old version has, ascending.
    package var removed: [SectionedTree.Row] = []
    /// Entries that only the new version has, ascending.
    package var inserted: [SectionedTree.Row] = []
    /// Rows whose entry is the same and whose stamp differs, ascending.
    package var restamped: [Pair] = []

    package var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && restamped.isEmpty }
  }

  /// Old indexes, ascending. A section whose label changed is both here and in `sectionsInserted`.
  package var sectionsRemoved: [Int] = []
  /// New indexes, ascending.
  package var sectionsInserted: [Int] = []
  package var common: [Common] = []
  /// Sections that both versions have and whose totals differ, ascending.
  package var totals: [SectionTotals] = []

  /// A section that both versions have.
  package struct SectionTotals {
    package var oldSection: Int
    package var newSection: Int
  }

  package var isEmpty: Bool {
    sectionsRemoved.isEmpty && sectionsInserted.isEmpty && common.isEmpty && totals.isEmpty
  }

  /// The difference of two versions, or nil when more than `limit` rows differ.
  ///
  /// - Complexity: O(changes × log n) between versions that grew from each other, O(n) between unrelated ones.
  package init?(from old: SectionedTree, to new: SectionedTree, limit: Int = .max) {
    var rest = limit
    let isWhole = RankedTree.forEachChange(from: old.sections, to: new.sections) { change in
      switch change {
      case .removed(let section):
        sectionsRemoved.append(section.rank)
        rest -= section.payload.rows.count
      case .inserted(let section):
        sectionsInserted.append(section.rank)
        rest -= section.payload.rows.count
      case .changed(let before, let after):
        let (left, right) = (before.payload, after.payload)
        if left.label == right.label {
          var changes = Common(oldSection: before.rank, newSection: after.rank)
          if !changes.add(from: left.rows, to: right.rows, rest: &rest) { return false }
          if !changes.isEmpty { common.append(changes) }
          if left.totals != right.totals { totals.append(.init(oldSection: before.rank, newSection: after.rank)) }
        } else {
          sectionsRemoved.append(before.rank)
          sectionsInserted.append(after.rank)
          rest -= left.rows.count + right.rows.count
        }
      }
      return rest >= 0
    }
    if !isWhole || rest < 0 { return nil }
  }
}

extension SectionedDifference.Common {
  /// - Parameter rest: the most rows that may still differ.
  /// - Returns: false if more rows differ.
  fileprivate mutating func add(
    from old: RankedTree<RowStamp>, to new: RankedTree<RowStamp>, rest: inout Int
  ) -> Bool {
    RankedTree.forEachChange(from: old, to: new) { change in
      switch change {
      case .removed(let row): removed.append(.init(row, section: oldSection))
      case .inserted(let row): inserted.append(.init(row, section: newSection))
      case .changed(let before, let after):
        restamped.append(.init(old: .init(before, section: oldSection), new: .init(after, section: newSection)))
      }
      rest -= 1
      return rest >= 0
    }
  }
}

extension SectionedTree.Row {
  fileprivate init(_ element: ElementReference<RowStamp>, section: Int) {
    self.init(section: section, item: element.rank, leaf: element.leaf, slot: element.slot)
  }
}
