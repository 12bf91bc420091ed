/// Compares a row's former record with the present one.
///
/// The former record is in the page's former image, if that image still exists; the row's hash proves it. A patch then
/// has only the columns that changed, and lists that do not show these columns are left alone. If the image is gone,
/// all columns count as changed, which is never wrong.
struct RowComparison {
  /// Buffers for the two images of a page, and for overflow pages.
  typealias Buffers = (former: ByteBuffer, now: ByteBuffer, chain: ByteBuffer)

  private let layout: RecordLayout
  private let hasher: PayloadHasher
  private let chains: ChainTable
  private let buffers: Buffers
  /// The arena that present records are copied to; nil if they are not wanted.
  private let records: RecordArena?
  /// Whether former records are wanted too.
  private let keepsFormer: Bool
  /// The pages whose images the buffers have. Changed rows come page by page, so an image is read only once.
  private var formerNumber: UInt32 = 0
  private var former: BTreePage?
  private var nowNumber: UInt32 = 0
  private var now: BTreePage?

  /// - Parameter delta: the changes that the rows are added to.
  init(
    _ layout: RecordLayout, _ hasher: PayloadHasher, _ chains: ChainTable, _ buffers: Buffers, _ delta: ChangedRows
  ) {
    self.buffers = buffers
    self.layout = layout
    self.hasher = hasher
    self.chains = chains
    records = delta.records
    keepsFormer = delta.keepsFormerRecords
  }

  /// The changed columns of a row, and both records. If the row moved to another page, which is rare, all columns count
  /// as changed.
  ///
  /// - Parameter page: returns the number of a node's page.
  mutating func describe<Source: PageSource>(
    _ before: RememberedRow?, _ after: RememberedRow?, _ source: Source, _ page: (Int32) -> UInt32
  ) -> RowImages {
    var images = RowImages()
    if let before, let after, before.node == after.node {
      images.columns = columns(before, after, page(after.node), source)
    }
    if let after { images.record = record(after, page(after.node), source) }
    if keepsFormer, let before { images.former = formerRecord(before, page(before.node), source) }
    return images
  }

  /// The bits of the columns in which a row may differ; -1 if all may differ.
  ///
  /// - Parameter number: the page that has the row in both states.
  private mutating func columns<Source: PageSource>(
    _ before: RememberedRow, _ after: RememberedRow, _ number: UInt32, _ source: Source
  ) -> Int64 {
    takeFormer(number, source)
    takeNow(number, source)
    guard let former, let now, before.ordinal < former.cellCount, after.ordinal < now.cellCount,
      let old = try? former.cell(Int(before.ordinal)), let new = try? now.cell(Int(after.ordinal)),
      old.rowid == before.rowid, isRow(old, before)
    else { return -1 }
    return (try? difference(old, new)) ?? -1
  }

  /// Copies a row's present record.
  ///
  /// - Returns: where it is in the tick's arena; empty if it is unknown or not wanted.
  private mutating func record<Source: PageSource>(
    _ row: RememberedRow, _ number: UInt32, _ source: Source
  ) -> Range<Int> {
    guard let records else { return 0..<0 }
    takeNow(number, source)
    guard let now, row.ordinal < now.cellCount, let cell = try? now.cell(Int(row.ordinal)), cell.rowid == row.rowid
    else { return 0..<0 }
    return records.keep(cell, source, buffers.chain)
  }

  /// Copies a row's former record, and returns as `record` does.
  private mutating func formerRecord<Source: PageSource>(
    _ row: RememberedRow, _ number: UInt32, _ source: Source
  ) -> Range<Int> {
    guard let records else { return 0..<0 }
    takeFormer(number, source)
    guard let former, row.ordinal < former.cellCount, let cell = try? former.cell(Int(row.ordinal)),
      cell.rowid == row.rowid, isRow(cell, row)
    else { return 0..<0 }
    if cell.overflow == 0 { return records.keep(cell, source, buffers.chain) }
    guard let chain = chains[cell.overflow] else { return 0..<0 }
    return records.keepFormer(cell, chain, hasher, source, buffers.chain)
  }

  private mutating func takeFormer<Source: PageSource>(_ number: UInt32, _ source: Source) {
    if number == formerNumber { return }
    formerNumber = number
    former = source.formerPage(number, buffers.former).flatMap { page($0, number, source) }
  }

  private mutating func takeNow<Source: PageSource>(_ number: UInt32, _ source: Source) {
    if number == nowNumber { return }
    nowNumber = number
    now = (try? source.page(number, buffers.now)).flatMap { page($0, number, source) }
  }

  private func page<Source: PageSource>(_ image: UnsafeRawPointer, _ number: UInt32, _ source: Source) -> BTreePage? {
    try? BTreePage(image, number: number, usable: source.usableSize, layout.tree)
  }

  private func isRow(_ cell: BTreePage.Cell, _ row: RememberedRow) -> Bool {
    var start: UInt64 = 0
    if cell.overflow != 0 {
      // If another chain begins at the same page now, the former chain is not remembered any more.
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
        // One record has more fields: it was made longer, because columns had been added before.
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
