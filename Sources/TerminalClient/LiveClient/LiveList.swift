package import LiveQuery
package import Wire

/// A result as a client holds it: all sections and counts, and the contents of the rows in its window.
///
/// State: everything below, changed by `apply` alone. After a message that does not fit (`apply` throws) the list is not
/// to be used until a snapshot has come.
package struct LiveList: Equatable, Sendable {
  /// The values of a row, in the order of `columns`.
  package typealias Row = [JSONValue]

  package struct Section: Equatable, Sendable {
    package var name: JSONValue
    package var indexTitle: String
    /// Nil: the client was not given the row's contents.
    package var rows: [Row?]
  }

  package internal(set) var columns: [String] = []
  package internal(set) var sections: [Section] = []
  /// Nil when the contents of all rows are wanted.
  package internal(set) var window: Window?
  package internal(set) var version = ""
  /// Names the state of the database that the list shows.
  package internal(set) var commit = 0
  package internal(set) var alongside: [String: JSONValue] = [:]
  package internal(set) var total = 0
  /// Whether all parts of the snapshot have come.
  package internal(set) var isComplete = false
  /// How many rows of a snapshot in parts have come.
  package internal(set) var received = 0

  package init() {}

  /// Takes in a `snapshot`, `rows` or `patch` message. O(rows of the sections that change).
  package mutating func apply(_ message: JSONValue) throws(LiveClientError) -> ListChange {
    switch message["type"] {
    case .string("snapshot"): try applySnapshot(message)
    case .string("rows"): try applyRows(message)
    case .string("patch"): .patched(try applyPatch(message))
    default: throw LiveClientError("a message that changes no list")
    }
  }

  /// The offsets whose contents the client wants.
  package var visible: Range<Int> { window?.range(total: total) ?? 0..<total }

  /// The row at a path, if it is there and its contents are known.
  package func row(_ path: IndexPath) -> Row? { contains(path) ? sections[path.section].rows[path.item] : nil }

  func contains(_ path: IndexPath) -> Bool {
    sections.indices.contains(path.section) && sections[path.section].rows.indices.contains(path.item)
  }

  /// Calls `body` for every path whose offset is in the range, in order.
  package func forEach(in range: Range<Int>, _ body: (_ path: IndexPath, _ offset: Int) -> Void) {
    var start = 0
    for (section, content) in sections.enumerated() {
      let part = range.clamped(to: start..<start + content.rows.count)
      for offset in part where range.contains(offset) {
        body(IndexPath(section: section, item: offset - start), offset)
      }
      start += content.rows.count
      if start >= range.upperBound { return }
    }
  }
}

/// What a message did to a list.
package enum ListChange: Equatable, Sendable {
  /// A snapshot, or a part of it: everything is another.
  case replaced
  /// Rows of the window, or of a snapshot in parts: the result is the same.
  case filled
  case patched(ListPatch)
}

/// What a patch did, in the coordinates of `IndexPath`s of before and after.
package struct ListPatch: Equatable, Sendable {
  package struct Deletion: Equatable, Sendable {
    package let path: IndexPath
    /// The contents, as far as the client had them.
    package let row: LiveList.Row?
  }

  package struct Move: Equatable, Sendable {
    package let from: IndexPath
    package let to: IndexPath
    /// Indexes of the columns that came with it.
    package let columns: [Int]
  }

  /// In old coordinates, ascending.
  package var deleted: [Deletion] = []
  /// Old sections with the names they had.
  package var sectionsDeleted: [(index: Int, name: JSONValue)] = []
  package var sectionsInserted: [Int] = []
  /// In new coordinates, ascending; rows of inserted sections are not among them.
  package var inserted: [IndexPath] = []
  package var moved: [Move] = []
  /// In-place changes: `from` is the old path.
  package var updated: [Move] = []
  /// The values that changed beside the rows.
  package var alongside: [String] = []

  package init() {}

  /// Nothing that is shown changed: resuming found the client up to date, for instance.
  package var isEmpty: Bool { self == ListPatch() }

  package static func == (left: ListPatch, right: ListPatch) -> Bool {
    left.deleted == right.deleted && left.sectionsInserted == right.sectionsInserted
      && left.inserted == right.inserted && left.moved == right.moved && left.updated == right.updated
      && left.alongside == right.alongside && left.sectionsDeleted.map(\.index) == right.sectionsDeleted.map(\.index)
  }
}
