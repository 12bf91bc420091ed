public import Foundation

/// The operations from one `SectionedResults` to the next, as index paths: a table view needs them to animate the
/// change.
///
/// Deletions and the `from` of moves and updates count in the old results; insertions and every `to` in the new ones.
/// Rows of deleted and inserted sections are in no other list, and neither are rows whose index path changed only
/// because of others.
///
/// The order of UIKit's and AppKit's batch updates is Core Data's: deletions, insertions, moves, updates.
public struct ResultsPatch: Hashable, Sendable {
  /// A row that is at `to` now and was at `from`.
  public struct Change: Hashable, Sendable {
    public var from: IndexPath
    public var to: IndexPath

    public init(from: IndexPath, to: IndexPath) {
      self.from = from
      self.to = to
    }
  }

  /// Indexes of the old results, ascending.
  public internal(set) var deletedSections: [Int] = []
  /// Indexes of the new results, ascending.
  public internal(set) var insertedSections: [Int] = []
  /// In the old results, ascending.
  public internal(set) var deletions: [IndexPath] = []
  /// In the new results, ascending.
  public internal(set) var insertions: [IndexPath] = []
  /// Rows that changed position, perhaps to another section, with changed values or without.
  public internal(set) var moves: [Change] = []
  /// Rows whose values changed in place.
  public internal(set) var updates: [Change] = []
  /// In the new results: rows whose contents were not held before, because they were outside the window.
  public internal(set) var loaded: [IndexPath] = []
  /// The names of `totals` of all rows that changed.
  public internal(set) var totals: [String] = []
  /// Indexes of the new results, ascending: sections that both results have, and whose `totals` changed.
  public internal(set) var sectionTotals: [Int] = []
  /// The names of `alongside` values that changed.
  public internal(set) var alongside: [String] = []

  /// Whether rows or sections were inserted, deleted or moved, not only updated.
  public var changesStructure: Bool {
    !(deletedSections.isEmpty && insertedSections.isEmpty && deletions.isEmpty && insertions.isEmpty && moves.isEmpty)
  }

  public var isEmpty: Bool { !changesStructure && updates.isEmpty && loaded.isEmpty && !changesValues }

  /// Whether totals or values alongside changed.
  package var changesValues: Bool { !(totals.isEmpty && sectionTotals.isEmpty && alongside.isEmpty) }
}

/// One update of a list: its new results, and how they differ from the old ones.
public struct ResultsUpdate<Element: Sendable>: Sendable {
  public enum Change: Sendable {
    /// Everything is new: these are the first results, or the change is too large for a patch.
    case replaced
    case patched(ResultsPatch)
  }

  public let change: Change
  /// The results after the change.
  public let results: SectionedResults<Element>
}
