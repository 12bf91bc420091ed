import Ground

/// Turns pages into nodes, which are what capture remembers of them.
///
/// Mutable state: buffers that are reused for every page.
///
/// Owner: the thread that follows the file.
final class RowPacker {
  let hasher: PayloadHasher
  /// The page that is being read.
  private let pageBuffer = ByteBuffer()
  /// The overflow page that is being read.
  private let chainBuffer = ByteBuffer()
  /// A payload whose kept fields continue on overflow pages.
  private let payload = ByteBuffer()
  private let packed = ByteBuffer(capacity: 16 << 10)
  private let fields = ByteBuffer()
  /// Buffers for comparing a page's former and present images, and for the records on it.
  let imageBuffers: RowComparison.Buffers = (former: ByteBuffer(), now: ByteBuffer(), chain: ByteBuffer())

  init(hasher: PayloadHasher) { self.hasher = hasher }

  /// How pages are to be read, and the overflow chains that were found.
  struct Reading {
    let layout: RecordLayout
    /// Whether rows are kept, or only a hash of the page.
    let keepsRows: Bool
    /// The chains that are known already.
    let known: ChainTable
    /// Changed pages, ascending: a known chain without any of them is unchanged. Nil if every chain is to be read.
    let changed: [UInt32]?
    /// Whether the page belongs to the previous state. Its overflow pages may be overwritten, so chains are taken from
    /// memory.
    var isFormer = false
    /// The overflow chains of the pages read, by first page.
    var chains: [UInt32: OverflowChain] = [:]

    func hasChanged(_ chain: OverflowChain) -> Bool {
      guard let changed else { return true }
      return chain.pages.contains { changed.containsSorted($0) }
    }
  }

  /// Reads a page of a tree.
  ///
  /// - Complexity: O(bytes of the page and of its rows' overflow).
  func node<Source: PageSource>(
    _ number: UInt32, parent: UInt32, _ source: Source, _ reading: inout Reading
  ) throws(Doubt) -> SummaryNode {
    let start = try source.page(number, pageBuffer)
    return try node(number, parent: parent, at: start, source, &reading)
  }

  /// As above, with an image of the page.
  func node<Source: PageSource>(
    _ number: UInt32, parent: UInt32, at start: UnsafeRawPointer, _ source: Source, _ reading: inout Reading
  ) throws(Doubt) -> SummaryNode {
    let page = try BTreePage(start, number: number, usable: source.usableSize, reading.layout.tree)
    if page.isLeaf, reading.keepsRows, !reading.layout.isWithoutRowid, reading.layout.remembered.isEmpty,
      let node = try plainLeaf(page, parent: parent)
    {
      return node
    }
    var links: SummaryNode.Links?
    if !page.isLeaf {
      links = SummaryNode.Links()
      links?.children.reserveCapacity(page.cellCount + 1)
    }
    packed.removeAll()
    var rowCount = 0
    var previous: Int64 = 0
    for index in 0..<page.cellCount {
      let cell = try page.cell(index)
      if !page.isLeaf { links?.children.append(cell.child) }
      if !cell.hasRow { continue }
      rowCount += 1
      var chain: OverflowChain?
      if cell.overflow != 0 {
        let read = try overflow(of: cell, owner: number, source, &reading)
        chain = read
        if links == nil { links = SummaryNode.Links() }
        links?.chains.append(cell.overflow)
        if reading.chains.updateValue(read, forKey: cell.overflow) != nil { throw Doubt(.overflow) }
      }
      if reading.keepsRows { try pack(cell, chain, reading.layout, &previous) }
    }
    if !page.isLeaf { links?.children.append(page.rightChild) }
    if !reading.keepsRows {
      // The hash includes bytes that no row uses, because a page is rarely written without a change of its rows.
      packed.append(hasher.hash(start, source.usableSize, start: UInt64(number)))
    }
    return .make(page.isLeaf ? .leaf : .interior, parent: parent, rowCount: rowCount, links: links, packed.bytes)
  }

  /// Reads the most common kind of page: a leaf of rows by rowid, if only the hashes of rows are kept.
  ///
  /// - Returns: nil if a row does not fit on the page.
  private func plainLeaf(_ page: BTreePage, parent: UInt32) throws(Doubt) -> SummaryNode? {
    packed.removeAll()
    packed.reserve(page.cellCount * (longestPacked + 8))
    let (hasher, first) = (hasher, packed.start)
    var end = first
    var previous: Int64 = 0
    for index in 0..<page.cellCount {
      let cell = try page.cell(index)
      if cell.overflow != 0 { return nil }
      writePacked(zigzag(cell.rowid &- previous), to: &end)
      previous = cell.rowid
      end.storeBytes(of: hasher.hash(cell.payload, cell.local, start: 0), as: UInt64.self)
      end += 8
    }
    let bytes = UnsafeRawBufferPointer(start: first, count: end - first)
    return .make(.leaf, parent: parent, rowCount: page.cellCount, bytes)
  }

  /// The hash of a row: of its bytes on the page and of its overflow chain.
  @inline(__always)
  func hash(of cell: BTreePage.Cell, chainHash: UInt64?) -> UInt64 {
    hasher.hash(cell.payload, cell.local, start: chainHash.map { $0 ^ UInt64(cell.total) } ?? 0)
  }

  @inline(__always)
  private func pack(
    _ cell: BTreePage.Cell, _ chain: OverflowChain?, _ layout: RecordLayout, _ previous: inout Int64
  ) throws(Doubt) {
    let hash = hash(of: cell, chainHash: chain?.hash)
    if !layout.isWithoutRowid, layout.remembered.isEmpty {
      packed.appendPacked(zigzag(cell.rowid &- previous))
      previous = cell.rowid
      packed.append(hash)
      return
    }
    let isWhole = payload.count >= cell.total && chain != nil
    let record = isWhole ? UnsafeRawPointer(payload.start) : cell.payload
    let available = isWhole ? cell.total : cell.local
    if layout.isWithoutRowid {
      try keep(record, available, layout) { $0 < layout.keyFieldCount }
      packed.appendPacked(UInt64(fields.count))
      packed.append(fields.start, fields.count)
    } else {
      packed.appendPacked(zigzag(cell.rowid &- previous))
      previous = cell.rowid
    }
    packed.append(hash)
    if layout.remembered.isEmpty { return }
    try keep(record, available, layout) { layout.remembered.containsSorted($0) }
    packed.appendPacked(UInt64(fields.count))
    packed.append(fields.start, fields.count)
  }

  /// Copies some fields of a record to `fields`.
  private func keep(
    _ record: UnsafeRawPointer, _ available: Int, _ layout: RecordLayout, _ isKept: (Int) -> Bool
  ) throws(Doubt) {
    fields.removeAll()
    var reader = try RecordFields(record, available: available)
    var isAtEnd = false
    for index in 0..<layout.keptEnd {
      let field = isAtEnd ? nil : try reader.next()
      if field == nil { isAtEnd = true }
      guard isKept(index) else { continue }
      guard let field else {
        fields.appendPacked(RecordFields.missing)
        continue
      }
      if field.body.upperBound > available { throw Doubt(.page) }
      fields.appendPacked(field.type)
      fields.append(record + field.body.lowerBound, field.body.count)
    }
  }

  /// The number of bytes of a payload up to the last remembered field. If it is unknown, more than the page has.
  private func extent(of cell: BTreePage.Cell, _ layout: RecordLayout) throws(Doubt) -> Int {
    if layout.keptEnd == 0 { return 0 }
    var size: UInt64 = 0
    if readVarint(cell.payload, cell.payload + cell.local, &size) == 0 { throw Doubt(.page) }
    if size > UInt64(cell.local) { return cell.total }
    var reader = try RecordFields(cell.payload, available: cell.local)
    var end = 0
    for _ in 0..<layout.keptEnd {
      guard let field = try reader.next() else { break }
      end = field.body.upperBound
    }
    return min(end, cell.total)
  }

  /// Reads the overflow chain of a payload. If kept fields continue beyond the page, `payload` has the whole payload
  /// afterwards.
  private func overflow<Source: PageSource>(
    of cell: BTreePage.Cell, owner: UInt32, _ source: Source, _ reading: inout Reading
  ) throws(Doubt) -> OverflowChain {
    payload.removeAll()
    var isKept = false
    if reading.keepsRows { isKept = try extent(of: cell, reading.layout) > cell.local }
    var known = reading.known[cell.overflow].flatMap { $0.byteCount == cell.total - cell.local ? $0 : nil }
    let hasChanged = known.map(reading.hasChanged) ?? true
    if reading.isFormer, known == nil || (isKept && hasChanged) { throw Doubt(.overflow) }
    if !isKept, known != nil, !hasChanged || reading.isFormer {
      known?.owner = owner
      return known!
    }
    if isKept { payload.append(cell.payload, cell.local) }
    var chain = OverflowChain(owner: owner, byteCount: cell.total - cell.local, hash: UInt64(cell.total), pages: [])
    var left = chain.byteCount
    var page = cell.overflow
    var cycle = CycleDetector()
    while left > 0 {
      if page == 0 || cycle.visit(page) { throw Doubt(.overflow) }
      let start = try source.page(page, chainBuffer)
      let count = min(left, source.usableSize - 4)
      chain.hash = hasher.hash(start + 4, count, start: chain.hash)
      if isKept { payload.append(start + 4, count) }
      chain.pages.append(page)
      left -= count
      page = start.bigEndian32(0)
    }
    return chain
  }
}

extension Array where Element: Comparable {
  /// Whether an ascending array contains an element. O(log n).
  @inline(__always)
  func containsSorted(_ element: Element) -> Bool {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == element
  }
}
