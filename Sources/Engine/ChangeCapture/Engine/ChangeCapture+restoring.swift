// Going on from a state that another process has kept.
extension ChangeCapture {
  /// Whether what is remembered means something to another process.
  var canBeKept: Bool {
    switch seen {
    // Comparing is the rule where the count of copied frames is wrong, and a state of such a generation is no beginning.
    case .wal(let header, _): !misled.isKnown(header)
    case .journal: true
    case .hidden, .unknown: false
    }
  }

  /// Takes over what a state has, to be brought up to date by the first tick.
  ///
  /// - Returns: nil when the state is of another file.
  func restore(_ state: CaptureState) -> Bool {
    guard CaptureState.FileMark(self) == state.file else { return false }
    for table in state.tables { addRestored(table) }
    restored = state
    return true
  }

  /// Begins the first tick: what is remembered is of the state that was kept.
  ///
  /// - Returns: why everything must be compared with it; nil: frames may lead on from it, or nothing was restored.
  func takeUpRestored(_ define: ([String]) throws -> [CapturedTable?]) -> Doubt.Reason? {
    guard let state = restored.take() else { return nil }
    seen = state.state
    schemaCookie = state.schemaCookie
    do throws(Doubt) {
      if redefine(define) { return .schema }
      guard case .wal(let kept, _) = state.state, case .wal(let header, let isBackfilled) = current else {
        return .restart
      }
      // Only within a generation: its salts are random. A WAL-index of no frames may be that of any state, and the rules for another
      // generation take for granted that it was open all the time.
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

  /// Compares the schema with what it was: layouts may also be other ones because this program is another version.
  ///
  /// - Returns: whether a table is another one, or has another root page.
  private func redefine(_ define: ([String]) throws -> [CapturedTable?]) -> Bool {
    let followed = Array(tables.values)
    guard let definitions = try? define(followed.map(\.name)) else {
      schemaCookie = nil
      return true
    }
    var isOther = false
    for (table, definition) in zip(followed, definitions) {
      let mustCompare = table.define(definition)
      isOther = isOther || mustCompare || table.delta.isUnknown
    }
    return isOther
  }
}
