/// A table that queries read, and what capture remembers of it.
///
/// The table is read after its first list was sent, `pagesAtOnce` pages a tick. Until it is read whole, a commit that
/// may concern it runs its queries again (`reading` in `/v1/explain`). If the summaries of all tables take more than
/// `memoryLimit`, the largest tables are followed by pages: capture remembers a hash of each page's image, eight bytes.
/// Former rows are then read from the page's former image, which nearly always still exists, and which the hash proves.
/// If the image is gone, the table's queries run again.
///
/// Guarded by the file's lock.
final class FollowedTable {
  let number: Int
  let name: String
  /// The table's definition when it last existed.
  @exclusivity(unchecked) private var known: CapturedTable
  @exclusivity(unchecked) private var isThere = true
  /// The table exists with another definition, and `describe` was not called yet.
  @exclusivity(unchecked) private(set) var isUndefined = false
  @exclusivity(unchecked) private(set) var summary: TableSummary
  /// The changes of the current tick.
  @exclusivity(unchecked) private(set) var delta = ChangedRows()
  /// Where ticks keep the present records of changed rows; nil if they are not wanted.
  @exclusivity(unchecked) var records: RecordArena? { didSet { delta.records = records } }
  /// Whether ticks keep former records as well.
  @exclusivity(unchecked) var keepsFormerRecords = false {
    didSet { delta.keepsFormerRecords = keepsFormerRecords }
  }
  /// The table cannot be read in the present state of the file.
  @exclusivity(unchecked) private(set) var isBroken = false
  @exclusivity(unchecked) private var packer: RowPacker

  init(number: Int, _ table: CapturedTable, remembering fields: [Int], _ packer: RowPacker) {
    self.number = number
    name = table.name
    known = table
    self.packer = packer
    var layout = table.layout
    layout.remembered = fields
    summary = TableSummary(root: table.rootPage, layout, packer)
  }

  /// Starts from the kept state of a table.
  init(number: Int, _ kept: CaptureState.Table) {
    self.number = number
    name = kept.captured.name
    known = kept.captured
    packer = RowPacker(hasher: kept.hasher)
    summary = TableSummary(root: kept.root, kept.layout, keepsRows: kept.keepsRows, packer)
    summary.take(kept.nodes, kept.chains)
  }

  /// The same table with an empty memory.
  func copy(remembering fields: [Int], _ packer: RowPacker) -> FollowedTable {
    let copy = FollowedTable(number: number, known, remembering: fields, packer)
    (copy.isThere, copy.isUndefined) = (isThere, isUndefined)
    copy.summary.startOver(root: copy.root)
    return copy
  }

  /// Remembers more fields from now on. The table is read again once for that.
  func remember(_ fields: [Int]) {
    let wanted = Set(summary.layout.remembered).union(fields)
    if wanted.count == summary.layout.remembered.count { return }
    var layout = summary.layout
    layout.remembered = wanted.sorted()
    startOver(layout, keepsRows: summary.keepsRows)
  }

  /// Forgets rows, and remembers hashes of pages from now on.
  func becomeLarge() { startOver(summary.layout, keepsRows: false) }

  private func startOver(_ layout: RecordLayout, keepsRows: Bool) {
    summary = TableSummary(root: root, layout, keepsRows: keepsRows, packer)
    isBroken = false
  }

  /// The root page of the tree; nil if the table is missing or its definition unknown.
  private var root: UInt32? { isThere && !isUndefined ? known.rootPage : nil }

  /// The current or last definition; nil if there is no such table.
  var table: CapturedTable? { root == nil ? nil : known }

  var hasher: PayloadHasher { packer.hasher }

  // MARK: - The schema

  /// Compares the table with its present entry in the catalog, and takes the entry over.
  ///
  /// - Returns: whether the table must be compared as a whole, because it has another root page.
  func define(_ stored: StoredTable?) -> Bool {
    guard let stored else {
      defer { (isThere, isUndefined) = (false, false) }
      return isThere
    }
    if stored.definition != known.definition {
      // The memory was made for other columns.
      (isThere, isUndefined) = (true, true)
      delta.isUnknown = true
      startOver(known.layout, keepsRows: summary.keepsRows)
      return false
    }
    let isSame = isThere && !isUndefined && known.rootPage == stored.rootPage
    (isThere, isUndefined) = (true, false)
    known.rootPage = stored.rootPage
    return !isSame
  }

  /// Called when a follower has read the table's definition in the last state.
  func describe(_ table: CapturedTable?) {
    if !isUndefined { return }
    (isThere, isUndefined) = (table != nil, false)
    guard let table else { return }
    known = table
    startOver(table.layout, keepsRows: summary.keepsRows)
  }

  /// Makes the definition unknown until `describe` is called.
  func undefine() {
    isUndefined = true
    startOver(known.layout, keepsRows: summary.keepsRows)
  }

  /// Takes over the mask bits of the columns. Some captures do not need them, and leave them empty.
  func take(masksOf layout: RecordLayout) {
    if layout.columnBits.isEmpty || layout.columnBits == known.layout.columnBits { return }
    known.layout.columnBits = layout.columnBits
    known.layout.computedBits = layout.computedBits
    summary.take(masksOf: layout)
  }

  /// Takes over the memory of another table at the same state, if that one has more.
  func take(_ other: FollowedTable) {
    take(masksOf: other.known.layout)
    let (mine, others) = (Set(summary.layout.remembered), Set(other.summary.layout.remembered))
    if form == .reading || form == .none || !others.isSubset(of: mine), other.isComplete,
      other.known.definition == known.definition, others.isSuperset(of: mine)
    {
      (summary, packer) = (other.summary, other.packer)
      summary.take(masksOf: known.layout)
      isBroken = false
    } else {
      remember(other.summary.layout.remembered)
    }
  }

  private var isComplete: Bool { root != nil && !isBroken && summary.isComplete }

  // MARK: - Changes

  func apply<Source: PageSource>(_ changed: [UInt32], _ source: Source) throws(Doubt) {
    if root == nil { return noteUndefined() }
    isBroken = false
    try summary.apply(changed, source, into: delta)
  }

  private func noteUndefined() { if isUndefined { delta.isUnknown = true } }

  /// Returns the changes of the current tick, and clears them.
  func takeDelta() -> ChangedRows {
    defer { delta = ChangedRows(records, keepsFormerRecords: keepsFormerRecords) }
    delta.fields = summary.layout.remembered
    return delta
  }

  /// Compares the whole table, which settles every doubt. If even that fails, the table is read anew, and any row may
  /// have changed.
  func compare<Source: PageSource>(_ source: Source) {
    if isUndefined { return noteUndefined() }
    isBroken = false
    let isUnknown = delta.isUnknown
    delta.removeAll()
    delta.isUnknown = isUnknown
    do throws(Doubt) {
      try summary.compare(root: root, source, into: delta)
    } catch {
      giveUp()
    }
  }

  /// Reports that any row may have changed, and has the table read again.
  func giveUp() {
    delta.removeAll()
    delta.isUnknown = true
    summary.startOver(root: root)
  }

  /// Reads pages that were not read yet.
  ///
  /// - Returns: the number of pages read.
  func readOn<Source: PageSource>(_ source: Source, limit: Int) -> Int {
    if isBroken || isUndefined || summary.isComplete { return 0 }
    do throws(Doubt) { return try summary.readOn(source, limit: limit) } catch {
      // SQLite reports to readers of the table what is wrong. Capture tries to read it again when the file has changed.
      isBroken = true
      summary.startOver(root: root)
      return 0
    }
  }

  var form: CaptureForm {
    if isBroken { return .none }
    if isUndefined { return .reading }
    return summary.isComplete ? (summary.keepsRows ? .rows : .pages) : .reading
  }
}
