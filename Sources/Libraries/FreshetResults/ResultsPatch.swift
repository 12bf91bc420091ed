public import Foundation

/// What turns one `SectionedResults` into the next, as index paths: what a table view needs to animate the change.
///
/// Deletions and the `from` of moves and updates count in the old results; insertions and every `to` in the new ones. Rows of deleted
/// and inserted sections are in no other list, and neither are rows whose index path changed only because of others.
///
/// The order of UIKit's and AppKit's batch updates is that of Core Data: deletions, insertions, moves, updates.
public struct ResultsPatch: Hashable, Sendable {
  /// A row that is at `to` now, and was at `from`.
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
  /// Rows that have to change their place, also from one section to another, with changed values or without.
  public internal(set) var moves: [Change] = []
  /// Rows whose values changed where they are.
  public internal(set) var updates: [Change] = []
  /// In the new results: rows whose contents were not here before, because they were outside the window.
  public internal(set) var loaded: [IndexPath] = []
  /// The names of the values beside the list that changed.
  public internal(set) var alongside: [String] = []

  /// Whether rows or sections came, went or moved: something else than values changed.
  public var changesStructure: Bool {
    !(deletedSections.isEmpty && insertedSections.isEmpty && deletions.isEmpty && insertions.isEmpty && moves.isEmpty)
  }

  public var isEmpty: Bool { !changesStructure && updates.isEmpty && loaded.isEmpty && alongside.isEmpty }
}

/// One step of a list: what it is now, and how it came to be.
public struct ResultsUpdate<Element: Sendable>: Sendable {
  public enum Change: Sendable {
    /// Everything is new: the first results, or the change is too large for a patch to be worth it.
    case replaced
    case patched(ResultsPatch)
  }

  public let change: Change
  /// After the change.
  public let results: SectionedResults<Element>
}
