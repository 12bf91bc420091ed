import Ground
import LiveQuery
import RankedCollections

/// The contents of rows that were just looked up, so that the patch that carries them needs no second look-up.
///
/// They are valid for the state of the database in which they were read, and for later states until the rows change.
struct RecentContents {
  /// The contents of rows, by the number of their identity. Only the first rows are kept, up to `byteLimit`.
  private var rows = PackedRows(columnCount: 0)
  private var numbers = IdentityNumbers()

  /// The most bytes of contents that are kept. A tick with more looks up some rows twice.
  private static let byteLimit = 1 << 20
  /// The capacity that is kept between ticks. It is small because thousands of lists may each keep it.
  private static let (keptCount, keptBytes) = (8, 1 << 10)

  var isEmpty: Bool { numbers.isEmpty }

  /// Removes all contents, and keeps the memory of a small tick for the next one.
  mutating func removeAll() {
    if isEmpty { return }
    guard rows.byteCount <= RecentContents.keptBytes, numbers.count <= RecentContents.keptCount else {
      self = RecentContents()
      return
    }
    rows.removeAll()
    numbers.removeAll()
  }

  /// Allocates memory for about `count` rows.
  mutating func reserve(_ count: Int) { numbers = IdentityNumbers(reserving: count) }

  /// Keeps the result's columns of a row.
  ///
  /// - Returns: false if a row with the same identity is kept already.
  @discardableResult
  mutating func keep(_ identity: Bytes, _ row: ReadRow) -> Bool {
    if isEmpty, rows.columnCount != row.columnCount { rows = PackedRows(columnCount: row.columnCount) }
    let (number, isNew) = numbers.insert(identity)
    if isNew, number == rows.count, rows.byteCount <= RecentContents.byteLimit {
      rows.appendRow { row.appendContents(to: &$0) }
    }
    return isNew
  }

  /// The contents of rows, if the wanted rows are exactly the kept ones, in the same order. This is typical of a tick
  /// that changed one row.
  func all(_ wanted: [SectionedTree.Row]) -> PackedRows? {
    guard !isEmpty, wanted.count == rows.count, rows.count == numbers.count else { return nil }
    for (number, row) in wanted.enumerated() where numbers.number(of: row) != number { return nil }
    return rows
  }

  /// - Returns: whether the row was kept, so that its contents were appended to `packed`.
  func append(_ row: SectionedTree.Row, to packed: inout PackedRows) -> Bool {
    guard let number = numbers.number(of: row), number < rows.count else { return false }
    packed.appendRow(copying: number, of: rows)
    return true
  }
}
