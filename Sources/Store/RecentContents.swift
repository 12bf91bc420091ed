import LiveQuery
import RankedCollections

/// The contents of rows that were just looked up, so that the patch that tells of them needs no second look-up.
///
/// They hold for the state of the database in which they were read, and for later ones as long as the rows do not change.
struct RecentContents {
  private var rows = PackedRows(columnCount: 0)
  /// By identity.
  private var places: [[UInt8]: Int] = [:]

  /// A tick of more than this looks some rows up twice.
  private static let byteLimit = 1 << 20

  var isEmpty: Bool { places.isEmpty }

  mutating func removeAll() {
    if !isEmpty { self = RecentContents() }
  }

  /// Keeps the result's columns of the row that a statement stands on.
  mutating func keep(_ identity: [UInt8], _ statement: PreparedStatement, columns: Range<Int>) {
    if places.isEmpty { rows = PackedRows(columnCount: columns.count) }
    if rows.byteCount > RecentContents.byteLimit { return }
    places[identity] = rows.count
    rows.appendRow { values in
      for column in columns { values.append(statement.value(column)) }
    }
  }

  /// - Returns: whether the row was kept, and is in `packed` now.
  func append(_ identity: Bytes, to packed: inout PackedRows) -> Bool {
    guard !isEmpty, let place = places[Array(identity)] else { return false }
    packed.appendRow(copying: place, of: rows)
    return true
  }
}
