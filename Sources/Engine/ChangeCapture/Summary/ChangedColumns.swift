/// Finds out in which columns a row differs, by its record as it was and as it is.
///
/// What it was is in the page's former image, if that is still there: the row's hash proves it. A patch then carries the
/// columns that changed, and lists that do not show them are left alone. When the image is gone all columns count, which
/// is never wrong.
struct ChangedColumns {
  private let layout: RecordLayout
  private let hasher: PayloadHasher
  private let chains: ChainTable
  private let buffers: (former: ByteBuffer, now: ByteBuffer)
  /// The page that both images are of, as changed rows come page by page.
  private var page: UInt32 = 0
  private var former: BTreePage?
  private var now: BTreePage?

  /// - Parameter buffers: for both images.
  init(
    _ layout: RecordLayout, _ hasher: PayloadHasher, _ chains: ChainTable,
    _ buffers: (former: ByteBuffer, now: ByteBuffer)
  ) {
    self.buffers = buffers
    self.layout = layout
    self.hasher = hasher
    self.chains = chains
  }

  mutating func changed<Source: PageSource>(
    _ before: RememberedRow, _ after: RememberedRow, _ number: UInt32, _ source: Source
  ) -> Int64 {
    if number != page { take(number, source) }
    guard let former, let now, before.ordinal < former.cellCount, after.ordinal < now.cellCount,
      let old = try? former.cell(Int(before.ordinal)), let new = try? now.cell(Int(after.ordinal)),
      old.rowid == before.rowid, isRow(old, before)
    else { return -1 }
    return (try? difference(old, new)) ?? -1
  }

  private mutating func take<Source: PageSource>(_ number: UInt32, _ source: Source) {
    page = number
    former = nil
    now = nil
    guard let before = source.formerPage(number, buffers.former), let after = try? source.page(number, buffers.now)
    else {
      return
    }
    former = try? BTreePage(before, number: number, usable: source.usableSize, layout.tree)
    now = try? BTreePage(after, number: number, usable: source.usableSize, layout.tree)
  }

  private func isRow(_ cell: BTreePage.Cell, _ row: RememberedRow) -> Bool {
    var start: UInt64 = 0
    if cell.overflow != 0 {
      // What its chain was is not known any more where another one begins at the same page.
      guard let chain = chains[cell.overflow], chain.byteCount == cell.total - cell.local else { return false }
      start = chain.hash ^ UInt64(cell.total)
    }
    return hasher.hash(cell.payload, cell.local, start: start) == row.hash
  }

  /// The bits of the fields whose bytes differ. Fields that reach beyond the page count as changed.
  private func difference(_ old: BTreePage.Cell, _ new: BTreePage.Cell) throws(Doubt) -> Int64 {
    var before = try RecordFields(old.payload, available: old.local)
    var after = try RecordFields(new.payload, available: new.local)
    var bits: Int64 = 0
    for index in 0..<layout.columnBits.count {
      let (left, right) = (try before.next(), try after.next())
      guard let left, let right else {
        // The record was made longer, as columns were added before.
        if left != nil || right != nil { return -1 }
        break
      }
      let isSame =
        left.type == right.type && left.body.upperBound <= old.local && right.body.upperBound <= new.local
        && UnsafeRawBufferPointer(start: old.payload + left.body.lowerBound, count: left.body.count)
          .hasSameBytes(as: UnsafeRawBufferPointer(start: new.payload + right.body.lowerBound, count: right.body.count))
      if !isSame { bits |= layout.columnBits[index] }
    }
    return bits == 0 ? -1 : bits | layout.computedBits
  }
}
