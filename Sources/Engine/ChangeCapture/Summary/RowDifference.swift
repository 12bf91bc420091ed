import Ground

/// A row in a node's memory. Valid as long as the node is held.
struct RememberedRow {
  var rowid: Int64 = 0
  var hash: UInt64 = 0
  var key: UnsafeRawPointer?
  var keyCount = 0
  var fields: UnsafeRawPointer?
  var fieldsCount = 0
  /// The index of its cell on the page.
  var ordinal: Int32 = 0
  /// The index of its node among the compared ones.
  var node: Int32 = 0

  /// Compares two rows by rowid, or by the bytes of their keys: negative if this one comes first.
  @inline(__always)
  func compare(_ other: RememberedRow) -> Int {
    guard let key, let otherKey = other.key else {
      return rowid < other.rowid ? -1 : (rowid == other.rowid ? 0 : 1)
    }
    let result = memcmp(key, otherKey, min(keyCount, other.keyCount))
    return result != 0 ? Int(result) : keyCount - other.keyCount
  }
}

/// Iterates over the rows of a node.
struct RowCursor {
  /// The current row.
  private(set) var row: RememberedRow
  private var cursor: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private let hasKeys: Bool
  private let hasFields: Bool

  /// Starts before the first row. The node must be held as long as the cursor is used.
  init(_ node: SummaryNode, _ index: Int, _ layout: RecordLayout) {
    let bytes = node.bytes
    cursor = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
    end = cursor + bytes.count
    row = RememberedRow(ordinal: -1, node: Int32(truncatingIfNeeded: index))
    hasKeys = layout.isWithoutRowid
    hasFields = !layout.remembered.isEmpty
  }

  /// Advances both cursors past rows that are equal. Both must be at rows of the same rowid, or before the first. If
  /// all remaining rows are equal, both are at the end afterwards.
  @inline(__always)
  static func skipEqual(_ left: inout RowCursor, _ right: inout RowCursor) {
    if left.hasKeys || left.hasFields { return }
    var one = left.cursor
    let (count, otherCount) = (left.end - one, right.end - right.cursor)
    let equal = equalBytes(one, right.cursor, min(count, otherCount))
    if equal == count, equal == otherCount {
      (left.cursor, right.cursor) = (left.end, right.end)
      return
    }
    let end = one + equal
    var rowid = left.row.rowid
    var passed: Int32 = 0
    // Most rows have a rowid that is 1 to 63 more than the previous one, and take nine bytes.
    while one + 9 <= end, one.byte(0) < 0x80 {
      rowid &+= unzigzag(UInt64(one.byte(0)))
      passed &+= 1
      one += 9
    }
    right.cursor += one - left.cursor
    left.cursor = one
    left.row.rowid = rowid
    right.row.rowid = rowid
    left.row.ordinal &+= passed
    right.row.ordinal &+= passed
  }

  /// The number of equal bytes at the start of two runs.
  @inline(__always)
  private static func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ most: Int) -> Int {
    var equal = 0
    while equal &+ 8 <= most,
      left.loadUnaligned(fromByteOffset: equal, as: UInt64.self)
        == right.loadUnaligned(fromByteOffset: equal, as: UInt64.self)
    {
      equal &+= 8
    }
    while equal < most, left.byte(equal) == right.byte(equal) { equal &+= 1 }
    return equal
  }

  /// - Returns: false after the last row.
  @inline(__always)
  mutating func next() -> Bool {
    if cursor >= end { return false }
    let first = readPacked(&cursor)
    if hasKeys {
      row.key = cursor
      row.keyCount = Int(truncatingIfNeeded: first)
      cursor += row.keyCount
    } else {
      row.rowid &+= unzigzag(first)
    }
    row.hash = cursor.loadUnaligned(as: UInt64.self)
    cursor += 8
    if hasFields {
      row.fieldsCount = Int(truncatingIfNeeded: readPacked(&cursor))
      row.fields = cursor
      cursor += row.fieldsCount
    }
    row.ordinal &+= 1
    return true
  }
}

/// Compares the rows of pages before and after, as sets. A row that merely moved to another page is in both sets, and
/// cancels out.
struct RowDifference {
  private(set) var before: [RememberedRow] = []
  private(set) var after: [RememberedRow] = []
  let layout: RecordLayout

  /// Describes a changed row from its pages. `before` is nil for an inserted row, `after` for a deleted one.
  typealias Description = (_ before: RememberedRow?, _ after: RememberedRow?) -> RowImages

  init(_ layout: RecordLayout) { self.layout = layout }

  /// Adds the rows of a page's former and present states. Rows by rowid that are equal in both states are left out.
  mutating func addPage(_ old: SummaryNode, _ new: SummaryNode, _ index: Int) {
    if layout.isWithoutRowid {
      addBefore(old, index)
      addAfter(new, index)
      return
    }
    var left = RowCursor(old, index, layout)
    var right = RowCursor(new, index, layout)
    RowCursor.skipEqual(&left, &right)
    var (hasLeft, hasRight) = (left.next(), right.next())
    while hasLeft || hasRight {
      if hasLeft, hasRight, left.row.rowid == right.row.rowid {
        if left.row.hash != right.row.hash {
          before.append(left.row)
          after.append(right.row)
        }
        RowCursor.skipEqual(&left, &right)
        hasLeft = left.next()
        hasRight = right.next()
      } else if hasLeft, !hasRight || left.row.rowid < right.row.rowid {
        before.append(left.row)
        hasLeft = left.next()
      } else {
        after.append(right.row)
        hasRight = right.next()
      }
    }
  }

  mutating func addBefore(_ node: SummaryNode, _ index: Int) { Self.add(node, index, layout, to: &before) }
  mutating func addAfter(_ node: SummaryNode, _ index: Int) { Self.add(node, index, layout, to: &after) }

  private static func add(_ node: SummaryNode, _ index: Int, _ layout: RecordLayout, to rows: inout [RememberedRow]) {
    var cursor = RowCursor(node, index, layout)
    while cursor.next() { rows.append(cursor.row) }
  }

  /// Compares one leaf of rows by rowid before and after. Both sides are in order, and a rowid belongs to only one leaf
  /// as long as the tree's interior pages are unchanged.
  static func compareLeaf(
    _ before: SummaryNode, _ after: SummaryNode, _ index: Int, _ layout: RecordLayout, into delta: ChangedRows,
    describe: Description
  ) {
    var old = RowCursor(before, index, layout)
    var new = RowCursor(after, index, layout)
    RowCursor.skipEqual(&old, &new)
    var (hasOld, hasNew) = (old.next(), new.next())
    while hasOld || hasNew {
      if hasOld, hasNew, old.row.rowid == new.row.rowid {
        if old.row.hash != new.row.hash {
          add(.update, new.row, old.row, new.row, describe(old.row, new.row), to: delta)
        }
        RowCursor.skipEqual(&old, &new)
        hasOld = old.next()
        hasNew = new.next()
      } else if hasOld, !hasNew || old.row.rowid < new.row.rowid {
        add(.delete, old.row, old.row, nil, describe(old.row, nil), to: delta)
        hasOld = old.next()
      } else {
        add(.insert, new.row, nil, new.row, describe(nil, new.row), to: delta)
        hasNew = new.next()
      }
    }
  }

  /// Adds the differences to `delta`.
  ///
  /// - Returns: by how much the number of rows has grown.
  mutating func finish(into delta: ChangedRows, describe: Description = { _, _ in RowImages() }) -> Int {
    Self.sort(&before)
    Self.sort(&after)
    var (old, new) = (0, 0)
    while old < before.count || new < after.count {
      let order =
        old == before.count ? 1 : new == after.count ? -1 : before[old].compare(after[new])
      if order < 0 {
        Self.add(.delete, before[old], before[old], nil, describe(before[old], nil), to: delta)
        old += 1
      } else if order > 0 {
        Self.add(.insert, after[new], nil, after[new], describe(nil, after[new]), to: delta)
        new += 1
      } else {
        if before[old].hash != after[new].hash {
          Self.add(.update, after[new], before[old], after[new], describe(before[old], after[new]), to: delta)
        }
        old += 1
        new += 1
      }
    }
    return after.count - before.count
  }

  /// Sorts rows. Usually they are in order already, as the rows of one page and of neighboring pages are.
  private static func sort(_ rows: inout [RememberedRow]) {
    for index in rows.indices.dropFirst() where rows[index - 1].compare(rows[index]) > 0 {
      rows.sort { $0.compare($1) < 0 }
      return
    }
  }

  private static func add(
    _ kind: ChangedRows.Kind, _ row: RememberedRow, _ old: RememberedRow?, _ new: RememberedRow?,
    _ images: RowImages, to delta: ChangedRows
  ) {
    let key = delta.keep(row.key, row.keyCount)
    let oldFields = delta.keep(old?.fields, old?.fieldsCount ?? 0)
    let newFields = delta.keep(new?.fields, new?.fieldsCount ?? 0)
    delta.rows.append(
      ChangedRows.Row(
        kind: kind, rowid: row.rowid, key: key, old: oldFields, new: newFields, record: images.record,
        former: images.former, columns: images.columns))
  }
}
