package import RankedCollections

/// The operations from one version of a result to another: protocol 3.3, before it is written as JSON.
///
/// It is canonical: there is only one patch between two versions. A row whose place changes only because of other rows
/// is in no list. As many of the changed rows of a section as possible stay, so there are as few operations as
/// possible.
///
/// Contents are indexes into `contents`, the rows that must be read from the database before the patch can be sent.
///
/// `@unchecked Sendable`: `contents` references nodes of a tree, so it is taken out before the patch leaves its thread.
package struct Patch: @unchecked Sendable {
  /// Old coordinates, descending.
  package var deleted: [IndexPath] = []
  /// Old indexes, descending.
  package var sectionsDeleted: [Int] = []
  /// New indexes, ascending.
  package var sectionsInserted: [InsertedSection] = []
  /// New coordinates, ascending.
  package var inserted: [Insertion] = []
  /// By new place, ascending.
  package var moved: [Change] = []
  /// By new place, ascending.
  package var updated: [Change] = []
  /// The window after the patch; nil if the subscription has no window.
  package var window: Window?
  /// Rows that enter the window, by offset, ascending.
  package var filled: [(offset: Int, content: Int)] = []
  /// Those totals of all rows that changed, in the order of their names.
  package var totals: [NamedValue] = []
  /// Totals of sections that both versions have, by new index, ascending.
  package var sectionTotals: [SectionTotals] = []
  /// The rows of the new version whose contents the patch contains.
  package private(set) var contents: [SectionedTree.Row] = []

  package init() {}

  package var isEmpty: Bool {
    deleted.isEmpty && sectionsDeleted.isEmpty && sectionsInserted.isEmpty && inserted.isEmpty && moved.isEmpty
      && updated.isEmpty && filled.isEmpty && totals.isEmpty && sectionTotals.isEmpty
  }

  /// - Returns: its index.
  mutating func content(of row: SectionedTree.Row) -> Int {
    contents.append(row)
    return contents.count - 1
  }

  /// Removes the rows to read from the patch, and returns them.
  package mutating func takeContents() -> [SectionedTree.Row] {
    defer { contents = [] }
    return contents
  }

  package struct SectionTotals {
    package var section: Int
    /// The changed totals, in the order of their names.
    package var changes: [NamedValue]

    package init(section: Int, changes: [NamedValue]) {
      self.section = section
      self.changes = changes
    }
  }

  package struct InsertedSection {
    package var index: Int
    package var info: SectionInfo
    /// Where the contents of all rows of the section are; nil if the subscription has a window.
    package var contents: Range<Int>?

    package init(index: Int, info: SectionInfo, contents: Range<Int>?) {
      self.index = index
      self.info = info
      self.contents = contents
    }
  }

  package struct Insertion {
    package var path: IndexPath
    /// The index of the row's contents; nil if the row is outside the window.
    package var content: Int?

    package init(path: IndexPath, content: Int?) {
      self.path = path
      self.content = content
    }
  }

  package struct Change {
    package var from: IndexPath
    package var to: IndexPath
    /// The index of the row's new contents; nil if the client holds no contents of it, or they did not change.
    package var content: Int?

    package init(from: IndexPath, to: IndexPath, content: Int?) {
      self.from = from
      self.to = to
      self.content = content
    }
  }
}
