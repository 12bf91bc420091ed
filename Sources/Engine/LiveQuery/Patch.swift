package import RankedCollections

/// What turns one version of a result into another: protocol 3.3, before it is written as JSON.
///
/// Canonical: between two versions there is one patch. A row whose place changes only because of others is in no list;
/// of the rows that changed within a section as many as possible stay, so the operations are the fewest possible.
///
/// Contents are indexes into `contents`, which says what has to be read from the database before the patch can be sent.
///
/// A class, for a structure of so many lists would be copied on its way. It does not change once it is planned.
package final class Patch {
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
  /// The rows of the new version whose contents the patch carries.
  package let contents: [SectionedTree.Row]

  package struct InsertedSection {
    package var index: Int
    package var info: SectionInfo
    /// Where its rows' contents are, all of them; nil with a window.
    package var contents: Range<Int>?
  }

  package struct Insertion {
    package var path: IndexPath
    /// Nil outside the window.
    package var content: Int?
  }

  package struct Change {
    package var from: IndexPath
    package var to: IndexPath
    /// Nil when nothing the client holds has changed.
    package var content: Int?
  }

  /// How many rows it lists.
  package var operationCount: Int { deleted.count + inserted.count + moved.count + updated.count + filled.count }

  package let isEmpty: Bool

  init(_ lists: consuming Lists, window: Window?) {
    isEmpty = lists.isEmpty
    deleted = lists.deleted
    sectionsDeleted = lists.sectionsDeleted
    sectionsInserted = lists.sectionsInserted
    inserted = lists.inserted
    moved = lists.moved
    updated = lists.updated
    filled = lists.filled
    contents = lists.contents
    self.window = window
  }

  /// What a patch lists, while it is planned.
  struct Lists {
    var deleted: [IndexPath] = []
    var sectionsDeleted: [Int] = []
    var sectionsInserted: [InsertedSection] = []
    var inserted: [Insertion] = []
    var moved: [Change] = []
    var updated: [Change] = []
    var filled: [(offset: Int, content: Int)] = []
    var contents: [SectionedTree.Row] = []

    var isEmpty: Bool {
      deleted.isEmpty && sectionsDeleted.isEmpty && sectionsInserted.isEmpty && inserted.isEmpty && moved.isEmpty
        && updated.isEmpty && filled.isEmpty
    }

    mutating func content(of row: SectionedTree.Row) -> Int {
      contents.append(row)
      return contents.count - 1
    }
  }
}
