// Going on from a state that another process has kept.
extension FileCapture {
  /// Whether the memory is of use to another process.
  var canBeKept: Bool {
    switch seen {
    // Comparing is the rule where the count of copied frames is wrong, and a state of such a generation is no
    // beginning.
    case .wal(let header, _): !misled.isKnown(header)
    case .journal: true
    case .hidden, .unknown: false
    }
  }

  /// Takes over what a state of this file has, to be brought up to date by the first tick.
  func restore(_ state: CaptureState) {
    for table in state.tables { add(FollowedTable(number: Self.newNumber(), table)) }
    restored = state
  }

  /// Begins the first tick: the memory is that of the kept state.
  ///
  /// - Returns: why everything must be compared with it; nil: frames may lead on from it, or nothing was restored.
  func takeUpRestored() -> Doubt.Reason? {
    guard let state = restored.take() else { return nil }
    seen = state.state
    schemaCookie = state.schemaCookie
    do throws(Doubt) {
      if redefine() { return .schema }
      guard case .wal(let kept, _) = state.state, case .wal(let header, let isBackfilled) = current else {
        return .restart
      }
      // Only within a generation: its salts are random. A WAL-index of no frames may be that of any state, and the
      // rules for another generation take for granted that it was open all the time.
      guard kept.salts == header.salts, kept.frameCount > 0, kept.frameCount <= header.frameCount,
        kept.pageSize == header.pageSize, header.version == WALIndexHeader.knownVersion
      else { return .restart }
      pages.begin(pageSize: header.pageSize, isBackfilled: false)
      try pages.readFrameNumbers(after: 0, upTo: header.frameCount)
      if try !pages.hasCopiedAll(upTo: backfilled, pageCount: header.pageCount) { return .backfill }
      pages.begin(pageSize: header.pageSize, isBackfilled: isBackfilled)
      try pages.readFrameNumbers(after: 0, upTo: kept.frameCount)
      return try pages.readFirstPage() == schemaCookie ? nil : .schema
    } catch { return error.reason }
  }

  /// Compares the schema with the former one.
  ///
  /// - Returns: whether a table has another definition or root page.
  private func redefine() -> Bool {
    guard let stored = StoredTable.all(of: connection) else {
      schemaCookie = nil
      return true
    }
    var isOther = false
    for table in tables.values {
      let mustCompare = define(table, stored[table.name.lowercased()])
      isOther = isOther || mustCompare || table.delta.isUnknown
    }
    return isOther
  }
}
