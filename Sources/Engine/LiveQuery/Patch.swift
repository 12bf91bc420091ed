package import RankedCollections

/// The operations from one version of a result to another: protocol 3.3, before it is written as JSON.
///
/// Canonical: between two versions there is one patch. A row whose place changes only because of others is in no list;
/// of the rows that changed within a section as many as possible stay, so the operations are the fewest possible.
///
/// Contents are indexes into `contents`, which says what has to be read from the database before the patch can be sent.
///
/// `@unchecked Sendable`: `contents` refers to nodes of a tree, and is taken before it leaves its thread.
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
  /// The window after the patch; nil when the subscription wants everything.
  package var window: Window?
  /// By offset, ascending.
  package var filled: [(offset: Int, content: Int)] = []
  /// The totals of all rows that changed, in the order of their names.
  package var totals: [NamedValue] = []
  /// Totals of sections that both versions have, by new index, ascending.
  package var sectionTotals: [SectionTotals] = []
  /// The rows of the new version whose contents the patch carries.
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
    /// In the order of their names.
    package var changes: [NamedValue]

    package init(section: Int, changes: [NamedValue]) {
      self.section = section
      self.changes = changes
    }
  }

  package struct InsertedSection {
    package var index: Int
    package var info: SectionInfo
    /// Where its rows' contents are, all of them; nil with a window.
    package var contents: Range<Int>?

    package init(index: Int, info: SectionInfo, contents: Range<Int>?) {
      self.index = index
      self.info = info
      self.contents = contents
    }
  }

  package struct Insertion {
    package var path: IndexPath
    /// Nil outside the window.
    package var content: Int?

    package init(path: IndexPath, content: Int?) {
      self.path = path
      self.content = content
    }
  }

  package struct Change {
    package var from: IndexPath
    package var to: IndexPath
    /// Nil when nothing the client holds has changed.
    package var content: Int?

    package init(from: IndexPath, to: IndexPath, content: Int?) {
      self.from = from
      self.to = to
      self.content = content
    }
  }
}
