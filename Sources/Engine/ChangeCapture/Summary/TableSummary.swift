/// The memory that capture has of one table, to find which rows of a changed page changed.
///
/// It has the shape of the table's b-tree (root, interior pages, children) and the rows of each leaf: rowid and a
/// 64-bit hash of the record, about 10 bytes a row. A record that overflows its page is hashed with its chain. A map
/// leads from each overflow page to the row's leaf, because an update of the same size may write only overflow pages.
/// Tables `WITHOUT ROWID` are index b-trees: their interior cells are rows too, and they have the bytes of the key
/// instead of a rowid.
///
/// Joins and routing need old values, because a changed row concerns rows that its old and its new join columns lead
/// to. The fields that queries need for that, and primary keys that are not the b-tree's key, are remembered next to
/// the hash. If a query needs more fields, the table is read once more. Mutable state: `nodes` by page number,
/// `chains`, and `unread`, the pages of the tree that were not read yet. A summary is *complete* when `unread` is
/// empty: until then it follows the tree's shape, but not its rows. After an error it is unchanged, or was emptied by
/// `startOver`.
///
/// Owner: the thread that follows the file.
final class TableSummary {
  @exclusivity(unchecked) private(set) var layout: RecordLayout
  /// Whether rows are remembered, or only a hash of each page because the table is too large. Without rows, the former
  /// rows of a page are read from its former image, which nearly always still exists, and which the hash proves.
  let keepsRows: Bool
  @exclusivity(unchecked) private(set) var root: UInt32
  @exclusivity(unchecked) private(set) var nodes: [UInt32: SummaryNode] = [:]
  @exclusivity(unchecked) private(set) var chains = ChainTable()
  @exclusivity(unchecked) private var unread: [UInt32] = []
  let packer: RowPacker
  @exclusivity(unchecked) private(set) var rowCount = 0
  @exclusivity(unchecked) private var nodeBytes = 0
  private let formerBuffer = ByteBuffer()

  init(root: UInt32?, _ layout: RecordLayout, keepsRows: Bool = true, _ packer: RowPacker) {
    self.root = root ?? 0
    self.layout = layout
    self.keepsRows = keepsRows
    self.packer = packer
    startOver(root: root)
  }

  var isComplete: Bool { unread.isEmpty }

  func take(masksOf other: RecordLayout) {
    layout.columnBits = other.columnBits
    layout.computedBits = other.computedBits
  }

  /// The approximate memory, in bytes.
  var byteCount: Int { nodeBytes + chains.byteCount }

  /// Forgets everything but the root page, which is nil if there is no table.
  func startOver(root: UInt32?) {
    self.root = root ?? 0
    nodes = root.map { [$0: .unread(parent: 0)] } ?? [:]
    chains = ChainTable()
    unread = root.map { [$0] } ?? []
    rowCount = 0
    nodeBytes = 0
  }

  // MARK: - Reading

  /// Reads pages that were not read yet, all in the state that the source shows.
  ///
  /// - Parameter limit: the most pages to read.
  /// - Returns: the number of pages read.
  func readOn<Source: PageSource>(_ source: Source, limit: Int) throws(Doubt) -> Int {
    var count = 0
    var reading = RowPacker.Reading(layout: layout, keepsRows: keepsRows, known: chains, changed: nil)
    while count < limit, let page = unread.popLast() {
      // The page may have left the tree since it was added to `unread`.
      guard let known = nodes[page], known.kind == .unread else { continue }
      count += 1
      reading.chains = [:]
      let node = try packer.node(page, parent: known.parent, source, &reading)
      for first in node.chains where chains[first] != nil { throw Doubt(.overflow) }
      for child in node.children {
        if nodes.updateValue(.unread(parent: page), forKey: child) != nil { throw Doubt(.tree) }
        unread.append(child)
      }
      chains.add(reading.chains)
      set(node, page)
    }
    return count
  }

  // MARK: - Following

  /// The pages of the tree that changed, or whose rows have changed overflow pages; ascending.
  func dirtyPages(_ changed: [UInt32]) -> [UInt32] {
    var dirty: [UInt32] = []
    for page in changed where nodes[page] != nil { dirty.append(page) }
    if chains.isEmpty { return dirty }
    let count = dirty.count
    for page in changed {
      if let owner = chains.owner(ofPage: page) { dirty.append(owner) }
    }
    if dirty.count == count { return dirty }
    dirty.sort()
    return dirty.withoutRepetitions
  }

  func reading(_ changed: [UInt32]?) -> RowPacker.Reading {
    RowPacker.Reading(layout: layout, keepsRows: keepsRows, known: chains, changed: changed)
  }

  /// A node with the former rows of a page; nil if they are no longer known.
  func former<Source: PageSource>(
    _ page: UInt32, _ node: SummaryNode, _ changed: [UInt32], _ source: Source
  ) -> SummaryNode? {
    if keepsRows { return node }
    guard let image = source.formerPage(page, formerBuffer) else { return nil }
    let hash = packer.hasher.hash(image, source.usableSize, start: UInt64(page))
    guard node.bytes.count == 8, node.bytes.loadUnaligned(as: UInt64.self) == hash else { return nil }
    var reading = RowPacker.Reading(layout: layout, keepsRows: true, known: chains, changed: changed, isFormer: true)
    return try? packer.node(page, parent: node.parent, at: image, source, &reading)
  }

  /// A node with the present rows of a page.
  func current<Source: PageSource>(
    _ page: UInt32, _ node: SummaryNode, _ changed: [UInt32], _ source: Source
  ) throws(Doubt) -> SummaryNode {
    if keepsRows { return node }
    var reading = RowPacker.Reading(layout: layout, keepsRows: true, known: chains, changed: changed)
    return try packer.node(page, parent: node.parent, source, &reading)
  }

  // MARK: - Changing the memory

  /// Replaces the memory of a page.
  func set(_ node: SummaryNode, _ page: UInt32) {
    nodeBytes += node.byteCount
    rowCount += node.rowCount
    if let before = nodes.updateValue(node, forKey: page) { forget(before) }
  }

  /// Removes a page that is not part of the tree any more.
  func remove(_ page: UInt32) -> SummaryNode? {
    guard let node = nodes.removeValue(forKey: page) else { return nil }
    forget(node)
    return node
  }

  /// Adds a page of the tree, which is to be read later.
  func addUnread(_ page: UInt32, parent: UInt32) {
    nodes[page] = .unread(parent: parent)
    unread.append(page)
  }

  private func forget(_ node: SummaryNode) {
    if node.kind == .unread { return }
    nodeBytes -= node.byteCount
    rowCount -= node.rowCount
  }

  /// Takes over the memory of another summary of the same table.
  func take(_ other: TableSummary) {
    nodes = other.nodes
    root = other.root
    rowCount = other.rowCount
    nodeBytes = other.nodeBytes
    chains = other.chains
    unread = []
  }

  /// Takes over a kept tree, which has all pages from the root on.
  func take(_ nodes: [UInt32: SummaryNode], _ chains: [UInt32: OverflowChain]) {
    self.nodes = nodes
    rowCount = nodes.values.reduce(0) { $0 + $1.rowCount }
    nodeBytes = nodes.values.reduce(0) { $0 + $1.byteCount }
    self.chains = ChainTable()
    self.chains.add(chains)
    unread = []
  }
}

extension Array where Element: Equatable {
  /// The elements of a sorted array without duplicates.
  var withoutRepetitions: [Element] {
    var result: [Element] = []
    result.reserveCapacity(count)
    for element in self where result.last != element { result.append(element) }
    return result
  }
}
