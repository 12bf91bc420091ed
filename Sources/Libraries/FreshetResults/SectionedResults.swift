public import Foundation
import LiveQuery

/// The rows of a list at one state of the database, cut into sections.
///
/// A value: it stays as it is while the list changes, and may be passed to any thread. Two of them share what they have in common.
public struct SectionedResults<Element: Sendable>: Sendable {
  public internal(set) var sections: [Section] = []
  /// How many rows all sections have.
  public internal(set) var count = 0
  /// The offsets of the rows whose contents are here; nil when all are.
  public internal(set) var window: Range<Int>?
  /// Of the window: whether a row that comes into it has no contents either. Structure alone is wanted, or rows beyond the end.
  private(set) var holdsNothing = false
  /// Where the rows stand on the server.
  var overlay = OverlayOffsets()
  public internal(set) var columns: [String] = []
  /// The columns or expressions that identify a row.
  public internal(set) var key: [String] = []
  /// The values beside the list, by name.
  public internal(set) var alongside: [String: SQLValue] = [:]
  /// The state of the database: it grows with each commit, and results with equal commits show the same state.
  public internal(set) var commit: Int64 = 0

  /// Before anything was fetched.
  public init() {}

  /// The window is another one, or the count is.
  mutating func setWindow(_ next: Window) {
    window = next.range(total: count)
    holdsNothing = next.limit == 0 || next.offset > count
  }

  /// A row, and what was decoded of it.
  struct Entry: Sendable {
    var row: ResultRow
    var element: Element
    /// Nil: it is as the server has it.
    var pending: PendingState?
  }

  public struct Section: Sendable {
    /// The value of the query's `sectionBy`, or of its `name`; NULL in a list without sections.
    public let name: SQLValue
    /// What an index at the list's side shows.
    public let indexTitle: String
    /// Nil where the window is elsewhere.
    var rows: RowSequence<Entry?>

    /// How many rows it has, those outside the window included.
    public var count: Int { rows.count }

    /// Its elements; nil stands for one outside the window.
    public var objects: some RandomAccessCollection<Element?> & Sendable { Objects(rows: rows) }
  }

  /// - Precondition: there is such a row, and it is inside the window.
  public subscript(path: IndexPath) -> Element {
    guard let entry = entry(at: path) else {
      preconditionFailure("the row at \(path) is outside the window: use objectIfLoaded(at:)")
    }
    return entry.element
  }

  /// Nil when there is no such row, or when it is outside the window.
  public func objectIfLoaded(at path: IndexPath) -> Element? {
    contains(path) ? entry(at: path)?.element : nil
  }

  /// The row behind the object: the values of its columns. Nil outside the window.
  public func rowIfLoaded(at path: IndexPath) -> ResultRow? { contains(path) ? entry(at: path)?.row : nil }

  /// How a row is shown that a write of this process has changed and the server's results do not show yet; nil for others.
  public func pendingState(at path: IndexPath) -> PendingState? { contains(path) ? entry(at: path)?.pending : nil }

  /// Whether a write of this process has changed the row, and the server's results do not show it yet.
  public func isPending(at path: IndexPath) -> Bool { pendingState(at: path) != nil }

  /// Whether there is such a row.
  public func contains(_ path: IndexPath) -> Bool {
    path.count == 2 && sections.indices.contains(path.section)
      && sections[path.section].rows.indices.contains(path.item)
  }

  /// Where the row at an offset in the whole list is; nil beyond its end. O(sections).
  public func indexPath(atOffset offset: Int) -> IndexPath? {
    if offset < 0 { return nil }
    var rest = offset
    for (section, rows) in sections.lazy.map(\.rows).enumerated() {
      if rest < rows.count { return IndexPath(item: rest, section: section) }
      rest -= rows.count
    }
    return nil
  }

  /// All elements in order; nil stands for one outside the window.
  public var objects: some Sequence<Element?> { sections.lazy.flatMap(\.objects) }

  /// What an index at the list's side shows: each section's title, in order.
  public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

  private func entry(at path: IndexPath) -> Entry? { sections[path.section].rows[path.item] }

  private struct Objects: RandomAccessCollection, Sendable {
    let rows: RowSequence<Entry?>
    var startIndex: Int { 0 }
    var endIndex: Int { rows.count }
    subscript(index: Int) -> Element? { rows[index]?.element }
  }
}
