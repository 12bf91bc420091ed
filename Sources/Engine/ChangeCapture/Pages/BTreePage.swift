/// One b-tree page, as https://sqlite.org/fileformat2.html#b_tree_pages describes it.
///
/// Every access is checked against the page's bounds, so a damaged file leads to a doubt, never to a crash.
struct BTreePage {
  /// The kinds of trees: rows by rowid, or rows that are their own keys (`WITHOUT ROWID`).
  enum Tree { case table, index }

  let isLeaf: Bool
  let cellCount: Int
  private let start: UnsafeRawPointer
  private let header: UnsafeRawPointer
  private let end: UnsafeRawPointer
  /// The start of the array of cell offsets.
  private let offsets: UnsafeRawPointer
  private let usable: Int
  private let tree: Tree
  /// The longest payload that fits on a page without overflow pages, in bytes.
  private let longest: Int

  init(_ start: UnsafeRawPointer, number: UInt32, usable: Int, _ tree: Tree) throws(Doubt) {
    self.start = start
    self.usable = usable
    self.tree = tree
    header = number == 1 ? start + 100 : start
    switch (tree, header.byte(0)) {
    case (.table, 0x0D), (.index, 0x0A): isLeaf = true
    case (.table, 0x05), (.index, 0x02): isLeaf = false
    default: throw Doubt(.page)
    }
    cellCount = header.bigEndian16(3)
    offsets = header + (isLeaf ? 8 : 12)
    end = start + usable
    longest = tree == .table ? usable - 35 : (usable - 12) * 64 / 255 - 23
    if offsets + 2 * cellCount > end { throw Doubt(.page) }
  }

  /// The number of an interior page's last child.
  var rightChild: UInt32 { header.bigEndian32(8) }

  struct Cell {
    /// The child page to the left of the cell, in interior pages.
    var child: UInt32 = 0
    var rowid: Int64 = 0
    /// The part of the payload that is on the page. Cells in interior pages of tables have no payload.
    var payload: UnsafeRawPointer
    /// The number of payload bytes that are on the page.
    var local = 0
    /// The size of the whole payload, in bytes.
    var total = 0
    /// The first overflow page; 0 if the payload fits on the page.
    var overflow: UInt32 = 0
    /// Whether the cell has a row.
    var hasRow = false
  }

  @inline(__always)
  func cell(_ index: Int) throws(Doubt) -> Cell {
    var cursor = start + offsets.bigEndian16(2 &* index)
    var cell = Cell(payload: cursor)
    if cursor + 4 > end || cursor < offsets { throw Doubt(.page) }
    if !isLeaf {
      cell.child = cursor.bigEndian32(0)
      cursor += 4
      if tree == .table { return cell }
    }
    cell.hasRow = true
    var total: UInt64 = 0
    var length = readVarint(cursor, end, &total)
    if length == 0 || total > UInt64(Int32.max) { throw Doubt(.page) }
    cursor += length
    if tree == .table {
      var rowid: UInt64 = 0
      length = readVarint(cursor, end, &rowid)
      if length == 0 { throw Doubt(.page) }
      cursor += length
      cell.rowid = Int64(bitPattern: rowid)
    }
    cell.payload = cursor
    cell.total = Int(truncatingIfNeeded: total)
    cell.local = cell.total <= longest ? cell.total : localBytes(of: cell.total)
    if cursor + cell.local > end { throw Doubt(.page) }
    if cell.local < cell.total {
      if cursor + cell.local + 4 > end { throw Doubt(.page) }
      cell.overflow = cursor.bigEndian32(cell.local)
      if cell.overflow == 0 { throw Doubt(.overflow) }
    }
    return cell
  }

  /// The number of bytes that stay on the page if a payload is too long for it.
  private func localBytes(of total: Int) -> Int {
    let least = (usable - 12) * 32 / 255 - 23
    let local = least + (total - least) % (usable - 4)
    return local <= longest ? local : least
  }
}
