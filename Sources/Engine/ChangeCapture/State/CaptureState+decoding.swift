import Ground

extension CaptureState {
  /// Reads a state. Any thread; about 10 ms for 1,000,000 rows.
  ///
  /// - Returns: nil if the bytes are not those of `encoded()` of this version, because they are torn, damaged or
  ///   forged. A returned state is well-formed: its trees are trees, and its rows end where their pages do.
  package init?(decoding bytes: [UInt8]) {
    let state = bytes.withUnsafeBytes { (buffer) -> CaptureState? in
      guard let start = buffer.baseAddress, buffer.count > Prefix.size,
        start.loadUnaligned(as: UInt64.self) == Prefix.magic,
        start.loadUnaligned(fromByteOffset: Prefix.versionOffset, as: UInt32.self) == Prefix.version,
        start.loadUnaligned(fromByteOffset: Prefix.checksumOffset, as: UInt64.self)
          == Self.checksum(start + Prefix.size, buffer.count - Prefix.size)
      else { return nil }
      var reader = ByteReader(UnsafeRawBufferPointer(rebasing: buffer[Prefix.size...]))
      return try? CaptureState(&reader)
    }
    guard let state else { return nil }
    self = state
  }

  private init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    file = FileMark(
      inode: try reader.word(), pageSize: try reader.page(), textEncoding: try reader.page())
    state = try FileState(&reader)
    schemaCookie = try reader.page()
    payload = Array(try reader.bytes(try reader.count()))
    var tables: [Table] = []
    for _ in 0..<(try reader.count()) { tables.append(try Table(&reader)) }
    if Set(tables.map { $0.captured.name.lowercased() }).count != tables.count || !reader.isAtEnd {
      throw ByteReader.Malformed()
    }
    self.tables = tables
  }
}

extension FileState {
  fileprivate init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    switch try reader.packed() {
    case let kind where kind == 1 || kind == 2:
      guard let header = WALIndexHeader(validating: try reader.bytes(WALIndexHeader.size)),
        header.version == WALIndexHeader.knownVersion
      else { throw ByteReader.Malformed() }
      self = .wal(header, isBackfilled: kind == 2)
    case 3:
      let pageSize = Int(try reader.packed(upTo: 65_536))
      self = .journal(JournalState(pageSize: pageSize == 0 ? nil : pageSize, changeCounter: try reader.page()))
    default: throw ByteReader.Malformed()
    }
  }
}

extension CaptureState.Table {
  /// More fields than any table has.
  private static let mostFields: UInt64 = 32_767

  fileprivate init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    let (name, definition) = (try reader.text(), try reader.text())
    hasher = PayloadHasher(
      words: (try reader.word(), try reader.word(), try reader.word(), try reader.word()))
    let rootPage = try reader.page()
    root = try reader.page()
    var layout = RecordLayout(isWithoutRowid: try reader.flag())
    layout.keyFieldCount = Int(try reader.packed(upTo: Self.mostFields))
    for _ in 0..<(try reader.count()) { layout.remembered.append(Int(try reader.packed(upTo: Self.mostFields))) }
    for _ in 0..<(try reader.count(ofAtLeast: 8)) { layout.columnBits.append(Int64(bitPattern: try reader.word())) }
    layout.computedBits = Int64(bitPattern: try reader.word())
    for (left, right) in zip(layout.remembered, layout.remembered.dropFirst()) where left >= right {
      throw ByteReader.Malformed()
    }
    if layout.columnBits.count > Self.mostFields { throw ByteReader.Malformed() }
    self.layout = layout
    layout.remembered = []
    captured = CapturedTable(name: name, rootPage: rootPage, definition: definition, layout: layout)
    keepsRows = try reader.flag()
    nodes = [:]
    chains = [:]
    try readNodes(&reader)
    try readChains(&reader)
    try checkTree()
  }

  private mutating func readNodes(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    let count = try reader.count(ofAtLeast: 6)
    nodes.reserveCapacity(count)
    var page: UInt32 = 0
    let rows = PackedRowChecker(layout)
    for _ in 0..<count {
      let step = try reader.page()
      let (next, isBeyond) = page.addingReportingOverflow(step)
      if step == 0 || isBeyond { throw ByteReader.Malformed() }
      page = next
      guard let kind = SummaryNode.Kind(rawValue: UInt8(try reader.packed(upTo: 2))), kind != .unread else {
        throw ByteReader.Malformed()
      }
      let rowCount = Int(try reader.packed(upTo: 65_536))
      let bytes = try reader.bytes(Int(try reader.packed(upTo: UInt64(Int32.max))))
      if keepsRows {
        try rows.check(bytes, count: rowCount)
      } else if bytes.count != 8 {
        throw ByteReader.Malformed()
      }
      let (children, chains) = (try reader.pages(), try reader.pages())
      if (kind == .leaf) != children.isEmpty || chains.count > rowCount { throw ByteReader.Malformed() }
      var links: SummaryNode.Links?
      if !children.isEmpty || !chains.isEmpty {
        links = SummaryNode.Links()
        links?.children = children
        links?.chains = chains
      }
      nodes[page] = .make(kind, parent: 0, rowCount: rowCount, links: links, bytes)
    }
  }

  private mutating func readChains(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    let count = try reader.count(ofAtLeast: 12)
    chains.reserveCapacity(count)
    var last: UInt32 = 0
    for _ in 0..<count {
      let first = try reader.page()
      if first <= last { throw ByteReader.Malformed() }
      last = first
      let owner = try reader.page()
      let byteCount = Int(try reader.packed(upTo: UInt64(Int32.max)))
      let hash = try reader.word()
      let pages = try reader.pages()
      if pages.first != first { throw ByteReader.Malformed() }
      chains[first] = OverflowChain(owner: owner, byteCount: byteCount, hash: hash, pages: pages)
    }
  }

  /// Checks that each page is reached once from the root, and each chain from its owner. Sets the parents.
  private func checkTree() throws(ByteReader.Malformed) {
    var reached = 0
    var chainCount = 0
    var seen: Set<UInt32> = [root]
    var stack = [root]
    while let page = stack.popLast() {
      guard let node = nodes[page] else { throw ByteReader.Malformed() }
      reached += 1
      for child in node.children {
        guard seen.insert(child).inserted, let below = nodes[child] else { throw ByteReader.Malformed() }
        below.parent = page
        stack.append(child)
      }
      for first in node.chains {
        guard chains[first]?.owner == page else { throw ByteReader.Malformed() }
        chainCount += 1
      }
    }
    if reached != nodes.count || chainCount != chains.count { throw ByteReader.Malformed() }
  }
}

/// Checks rows as `RowPacker` packs them, so that `RowCursor` and `StoredFields` never leave their bytes.
struct PackedRowChecker {
  private let hasKeys: Bool
  private let keyFieldCount: Int
  private let rememberedCount: Int

  init(_ layout: RecordLayout) {
    hasKeys = layout.isWithoutRowid
    keyFieldCount = layout.keyFieldCount
    rememberedCount = layout.remembered.count
  }

  func check(_ bytes: UnsafeRawBufferPointer, count: Int) throws(ByteReader.Malformed) {
    var reader = ByteReader(bytes)
    var rowid: Int64 = 0
    for index in 0..<count {
      if hasKeys {
        try checkFields(try reader.bytes(try reader.count()), keyFieldCount)
      } else {
        let before = rowid
        rowid &+= unzigzag(try reader.packed())
        if index > 0, rowid <= before { throw ByteReader.Malformed() }
      }
      _ = try reader.word()
      if rememberedCount > 0 { try checkFields(try reader.bytes(try reader.count()), rememberedCount) }
    }
    if !reader.isAtEnd { throw ByteReader.Malformed() }
  }

  private func checkFields(_ bytes: UnsafeRawBufferPointer, _ count: Int) throws(ByteReader.Malformed) {
    var reader = ByteReader(bytes)
    for _ in 0..<count { _ = try reader.bytes(RecordFields.size(of: try reader.packed())) }
    if !reader.isAtEnd { throw ByteReader.Malformed() }
  }
}
