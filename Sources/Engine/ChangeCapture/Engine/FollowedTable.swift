/// A table that queries read, and what is remembered of it.
///
/// It is read after its first list was sent, `pagesAtOnce` pages a tick. Until then, a commit that may concern it runs its queries
/// again (`reading` in `/v1/explain`). When the summaries of all tables take more than `memoryLimit`, the largest tables are followed by
/// pages: eight bytes a page, a hash of its image. The former rows are then read from the page's former image, which is nearly always
/// still there, and which the hash proves. When it is gone, the table's queries run again.
///
/// Owner: the thread that follows the file.
final class FollowedTable {
  let number: Int
  let name: String
  /// Nil while there is no such table.
  @exclusivity(unchecked) private(set) var table: CapturedTable? { didSet { isThere = table != nil } }
  /// Whether there is `table`, which is large to look at.
  @exclusivity(unchecked) private var isThere = true
  @exclusivity(unchecked) private(set) var summary: TableSummary
  /// What changed in the tick that is being taken.
  @exclusivity(unchecked) var delta = TableDelta()
  /// Where ticks keep the present records of rows that changed; nil: they are not wanted.
  @exclusivity(unchecked) var records: RecordArena? { didSet { delta.records = records } }
  /// Whether they keep former records as well.
  @exclusivity(unchecked) var keepsFormerRecords = false {
    didSet { delta.keepsFormerRecords = keepsFormerRecords }
  }
  /// It cannot be read in the present state of the file.
  @exclusivity(unchecked) private(set) var isBroken = false
  private let packer: RowPacker

  init(number: Int, _ table: CapturedTable, remembering fields: [Int], _ packer: RowPacker) {
    self.number = number
    name = table.name
    self.table = table
    self.packer = packer
    var layout = table.layout
    layout.remembered = fields
    summary = TableSummary(root: table.rootPage, layout, packer)
  }

  /// Goes on with what was kept of a table.
  init(number: Int, _ kept: CaptureState.Table, _ packer: RowPacker) {
    self.number = number
    name = kept.captured.name
    table = kept.captured
    self.packer = packer
    summary = TableSummary(root: kept.root, kept.layout, keepsRows: kept.keepsRows, packer)
    summary.take(kept.nodes, kept.chains)
  }

  /// Remembers more fields from now on; the table is read again for that once.
  func remember(_ fields: [Int]) {
    let wanted = Set(summary.layout.remembered).union(fields)
    if wanted.count == summary.layout.remembered.count { return }
    var layout = summary.layout
    layout.remembered = wanted.sorted()
    startOver(layout, keepsRows: summary.keepsRows)
  }

  /// Remembers no rows any more, but pages.
  func becomeLarge() { startOver(summary.layout, keepsRows: false) }

  private func startOver(_ layout: RecordLayout, keepsRows: Bool) {
    summary = TableSummary(root: table?.rootPage, layout, keepsRows: keepsRows, packer)
    isBroken = false
  }

  /// Takes over what the schema says now.
  ///
  /// - Returns: whether the table must be compared as a whole, because it has another root page.
  func define(_ table: CapturedTable?) -> Bool {
    let before = self.table
    self.table = table
    guard let table, let before else {
      if let table, table.layout != summary.layout.forgettingValues { redefine(table) }
      return true
    }
    if table.definition == before.definition, table.layout == before.layout {
      return table.rootPage != before.rootPage
    }
    redefine(table)
    return false
  }

  /// Other columns: what is remembered says nothing of them.
  private func redefine(_ table: CapturedTable) {
    delta.isUnknown = true
    startOver(table.layout, keepsRows: summary.keepsRows)
  }

  func apply<Source: PageSource>(_ changed: [UInt32], _ source: Source) throws(Doubt) {
    if !isThere { return }
    isBroken = false
    try summary.apply(changed, source, into: &delta)
  }

  /// What changed in the tick that is being taken; from now on nothing has.
  func takeDelta() -> TableDelta {
    var taken = TableDelta()
    taken.records = records
    taken.keepsFormerRecords = keepsFormerRecords
    swap(&taken, &delta)
    return taken
  }

  /// The answer to every doubt; when even that fails the table is read anew, and any row may have changed.
  func compare<Source: PageSource>(_ source: Source) {
    isBroken = false
    let isUnknown = delta.isUnknown
    delta.removeAll()
    delta.isUnknown = isUnknown
    do throws(Doubt) {
      try summary.compare(root: table?.rootPage, source, into: &delta)
    } catch {
      giveUp()
    }
  }

  /// Any row may have changed, and the table must be read again.
  func giveUp() {
    delta.removeAll()
    delta.isUnknown = true
    summary.startOver(root: table?.rootPage)
  }

  /// Reads pages that were not read yet.
  ///
  /// - Returns: how many.
  func readOn<Source: PageSource>(_ source: Source, limit: Int) -> Int {
    if isBroken || summary.isComplete { return 0 }
    do throws(Doubt) { return try summary.readOn(source, limit: limit) } catch {
      // SQLite itself reports to its readers what is wrong. It is tried again when the file has changed.
      isBroken = true
      summary.startOver(root: table?.rootPage)
      return 0
    }
  }

  var form: CaptureForm {
    if isBroken { return .none }
    return summary.isComplete ? (summary.keepsRows ? .rows : .pages) : .reading
  }
}

extension RecordLayout {
  fileprivate var forgettingValues: RecordLayout {
    var layout = self
    layout.remembered = []
    return layout
  }
}
