// Starts from a state that another process has kept.
extension FileCapture {
  /// Whether another process could use the memory.
  var canBeKept: Bool {
    switch seen {
    // If the WAL-index counts copied frames wrongly, every state of that generation is compared, so none of them can be
    // a start.
    case .wal(let header, _): !misled.isKnown(header)
    case .journal: true
    case .hidden, .unknown: false
    }
  }

  /// Takes over the tables of a kept state of this file. The first tick brings them up to date.
  func restore(_ state: CaptureState) {
    for table in state.tables { add(FollowedTable(number: Self.newNumber(), table)) }
    restored = state
  }

  /// Begins the first tick, with the memory of the kept state.
  ///
  /// - Returns: why everything must be compared with the kept state; nil if frames may lead on from it, or if nothing
  ///   was restored.
  func takeUpRestored() -> Doubt.Reason? {
    guard let state = restored.take() else { return nil }
    seen = state.state
    schemaCookie = state.schemaCookie
    do throws(Doubt) {
      if redefine() { return .schema }
      guard case .wal(let kept, _) = state.state, case .wal(let header, let isBackfilled) = current else {
        return .restart
      }
      // Frames lead on only within a generation, whose salts are random. A WAL-index without frames may belong to any
      // state, and the rules for the next generation assume that capture ran without a break.
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

  /// Compares the schema with that of the kept state.
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
