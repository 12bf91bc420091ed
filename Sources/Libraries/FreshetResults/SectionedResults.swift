public import Foundation
import LiveQuery

/// The rows of a list at one state of the database, divided into sections.
///
/// A value: it does not change with the list, and may be passed to any thread. Two of them share unchanged parts.
public struct SectionedResults<Element: Sendable>: Sendable {
  public internal(set) var sections: [Section] = []
  /// The number of rows in all sections.
  public internal(set) var count = 0
  /// The offsets of the rows whose contents are held; nil: all.
  public internal(set) var window: Range<Int>?
  /// Whether rows that enter the window have no contents either: only structure is wanted, or rows beyond the end.
  private(set) var holdsNothing = false
  /// How the rows correspond to the server's.
  var overlay = OverlayOffsets()
  public internal(set) var columns: [String] = []
  /// The columns or expressions that identify a row.
  public internal(set) var key: [String] = []
  /// The query's `totals` of all rows, by name. They are the server's: changes that are laid over the list do not
  /// count.
  public internal(set) var totals: [String: SQLValue] = [:]
  /// The values of `alongside`, by name.
  public internal(set) var alongside: [String: SQLValue] = [:]
  /// The state of the database. It increases with each commit, and results with equal commits show the same state.
  public internal(set) var commit: Int64 = 0

  /// The results before the first fetch.
  public init() {}

  /// Adapts to a new window, or a new count.
  mutating func setWindow(_ next: Window) {
    window = next.range(total: count)
    holdsNothing = next.limit == 0 || next.offset > count
  }

  /// A row, and the element decoded from it.
  struct Entry: Sendable {
    var row: ResultRow
    var element: Element
    /// Nil: the row is as the server has it.
    var pending: PendingState?
  }

  public struct Section: Sendable {
    /// The value of the query's `sectionBy`, or of its `name`; the empty text in a list without sections.
    public let value: SQLValue
    /// `value` as a heading: texts as they are, numbers in decimal, a BLOB's bytes in hexadecimal, NULL as `""`.
    public var name: String { value.sectionName }
    /// The section's title in the list's index.
    public let indexTitle: String
    /// The query's `totals` of the section's rows, by name; none while only rows of this process are in the section.
    public internal(set) var totals: [String: SQLValue]
    /// Nil entries are outside the window.
    var rows: RowSequence<Entry?>

    /// The number of rows, including those outside the window.
    public var count: Int { rows.count }

    /// The section's elements; nil: outside the window.
    public var objects: some RandomAccessCollection<Element?> & Sendable { Objects(rows: rows) }
  }

  /// - Precondition: there is such a row, and it is inside the window.
  public subscript(path: IndexPath) -> Element {
    guard let entry = entry(at: path) else {
      preconditionFailure("the row at \(path) is outside the window: use objectIfLoaded(at:)")
    }
    return entry.element
  }

  /// Nil if there is no such row, or it is outside the window.
  public func objectIfLoaded(at path: IndexPath) -> Element? {
    contains(path) ? entry(at: path)?.element : nil
  }

  /// The row behind the object: its columns' values. Nil outside the window.
  public func rowIfLoaded(at path: IndexPath) -> ResultRow? { contains(path) ? entry(at: path)?.row : nil }

  /// How a row is shown that this process has written and the server's results do not show yet; nil for other rows.
  public func pendingState(at path: IndexPath) -> PendingState? { contains(path) ? entry(at: path)?.pending : nil }

  /// Whether this process has written the row, and the server's results do not show the write yet.
  public func isPending(at path: IndexPath) -> Bool { pendingState(at: path) != nil }

  /// Whether there is such a row.
  public func contains(_ path: IndexPath) -> Bool {
    path.count == 2 && sections.indices.contains(path.section)
      && sections[path.section].rows.indices.contains(path.item)
  }

  /// The position of the row at an offset in the whole list; nil beyond its end. O(sections).
  public func indexPath(atOffset offset: Int) -> IndexPath? {
    if offset < 0 { return nil }
    var rest = offset
    for (section, rows) in sections.lazy.map(\.rows).enumerated() {
      if rest < rows.count { return IndexPath(item: rest, section: section) }
      rest -= rows.count
    }
    return nil
  }

  /// All elements in order; nil: outside the window.
  public var objects: some Sequence<Element?> { sections.lazy.flatMap(\.objects) }

  /// The titles of the list's index: one for each section, in order.
  public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

  private func entry(at path: IndexPath) -> Entry? { sections[path.section].rows[path.item] }

  private struct Objects: RandomAccessCollection, Sendable {
    let rows: RowSequence<Entry?>
    var startIndex: Int { 0 }
    var endIndex: Int { rows.count }
    subscript(index: Int) -> Element? { rows[index]?.element }
  }
}
