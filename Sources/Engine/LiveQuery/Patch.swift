package import RankedCollections

/// What turns one version of a result into another: protocol 3.3, before it is written as JSON.
///
/// Canonical: between two versions there is one patch. A row whose place changes only because of others is in no list;
/// of the rows that changed within a section as many as possible stay, so the operations are the fewest possible.
///
/// Contents are indexes into `contents`, which says what has to be read from the database before the patch can be sent.
///
/// A class, for a structure of so many lists would be copied on its way. It does not change once it is planned.
///
/// `@unchecked Sendable`: nothing in it changes, and `contents`, which refers to nodes of a tree, is let go of before it leaves its thread.
package final class Patch: @unchecked Sendable {
  /// Old coordinates, descending.
  package let deleted: [IndexPath]
  /// Old indexes, descending.
  package let sectionsDeleted: [Int]
  /// New indexes, ascending.
  package let sectionsInserted: [InsertedSection]
  /// New coordinates, ascending.
  package let inserted: [Insertion]
  /// By new place, ascending.
  package let moved: [Change]
  /// By new place, ascending.
  package let updated: [Change]
  /// The window after the patch; nil when the subscription wants everything.
  package let window: Window?
  /// By offset, ascending.
  package let filled: [(offset: Int, content: Int)]
  /// The totals of all rows that changed, in the order of their names.
  package let totals: [NamedValue]
  /// Those of sections that both versions have, by new index, ascending.
  package let sectionTotals: [SectionTotals]
  /// The rows of the new version whose contents the patch carries.
  package let contents: [SectionedTree.Row]

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

  package let isEmpty: Bool

  /// The same, with contents that were read.
  package var withoutContents: Patch { Patch(Lists(self), window: window) }

  package init(_ lists: consuming Lists, window: Window?) {
    isEmpty = lists.isEmpty
    deleted = lists.deleted
    sectionsDeleted = lists.sectionsDeleted
    sectionsInserted = lists.sectionsInserted
    inserted = lists.inserted
    moved = lists.moved
    updated = lists.updated
    filled = lists.filled
    totals = lists.totals
    sectionTotals = lists.sectionTotals
    contents = lists.contents
    self.window = window
  }

  /// What a patch lists, while it is planned.
  package struct Lists {
    package var deleted: [IndexPath] = []
    package var sectionsDeleted: [Int] = []
    package var sectionsInserted: [InsertedSection] = []
    package var inserted: [Insertion] = []
    package var moved: [Change] = []
    package var updated: [Change] = []
    package var filled: [(offset: Int, content: Int)] = []
    package var totals: [NamedValue] = []
    package var sectionTotals: [SectionTotals] = []
    var contents: [SectionedTree.Row] = []

    package init() {}

    fileprivate init(_ patch: Patch) {
      deleted = patch.deleted
      sectionsDeleted = patch.sectionsDeleted
      sectionsInserted = patch.sectionsInserted
      inserted = patch.inserted
      moved = patch.moved
      updated = patch.updated
      filled = patch.filled
      totals = patch.totals
      sectionTotals = patch.sectionTotals
    }

    var isEmpty: Bool {
      deleted.isEmpty && sectionsDeleted.isEmpty && sectionsInserted.isEmpty && inserted.isEmpty && moved.isEmpty
        && updated.isEmpty && filled.isEmpty && totals.isEmpty && sectionTotals.isEmpty
    }

    mutating func content(of row: SectionedTree.Row) -> Int {
      contents.append(row)
      return contents.count - 1
    }
  }
}
