/// One b-tree page, as https://sqlite.org/fileformat2.html#b_tree_pages describes it.
///
/// Every access is checked against the page's bounds: a damaged file is a doubt, never a crash.
struct BTreePage {
  /// Which trees there are: rows by rowid, or rows that are their own keys (`WITHOUT ROWID`).
  enum Tree { case table, index }

  let isLeaf: Bool
  let cellCount: Int
  private let start: UnsafeRawPointer
  private let header: UnsafeRawPointer
  private let end: UnsafeRawPointer
  /// The array of cell offsets.
  private let offsets: UnsafeRawPointer
  private let usable: Int
  private let tree: Tree
  /// The most of a payload that stays on the page.
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

  /// The last child of an interior page.
  var rightChild: UInt32 { header.bigEndian32(8) }

  struct Cell {
    /// Page left of the cell, in interior pages.
    var child: UInt32 = 0
    var rowid: Int64 = 0
    /// The part of the payload that is on the page; nil in interior pages of tables, which have none.
    var payload: UnsafeRawPointer
    /// Bytes of the payload that are on the page.
    var local = 0
    /// Bytes of the payload in all.
    var total = 0
    /// First page of the rest of the payload; 0 without one.
    var overflow: UInt32 = 0
    /// Whether there is a row here.
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

  /// How much of a payload that is too long stays on the page.
  private func localBytes(of total: Int) -> Int {
    let least = (usable - 12) * 32 / 255 - 23
    let local = least + (total - least) % (usable - 4)
    return local <= longest ? local : least
  }
}
