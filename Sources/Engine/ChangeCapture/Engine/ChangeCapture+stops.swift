// Going through states that others have read.
extension ChangeCapture {
  /// In one tick; each costs what a tick costs.
  private static let mostStops = 8

  /// Those of the states between the one seen last and the present one whose pages are all still there, in their order.
  func stops(_ states: [StateName]) -> [WALIndexHeader] {
    guard !states.isEmpty, case .wal(let header, isBackfilled: false) = current, case .wal(let before, _) = seen else {
      return []
    }
    var stops: [WALIndexHeader] = []
    for case .wal(let stop, _) in states.map(\.state) {
      let isAhead = stop.salts != before.salts || stop.frameCount > before.frameCount
      guard isAhead, stop.salts == header.salts, stop.frameCount < header.frameCount, stop.frameCount > 0,
        !stops.contains(stop)
      else { continue }
      stops.append(stop)
    }
    return Array(stops.sorted { $0.frameCount < $1.frameCount }.prefix(Self.mostStops))
  }

  /// Brings what is remembered to a state between the one seen last and the present one. What it reports is never too little, whether
  /// or not the pages that are read are all of that state.
  ///
  /// - Parameter doubts: of tables that will be compared as a whole in the end, by number: from here on they are left alone.
  /// - Returns: whether the next may be gone through.
  /// - Throws: why everything must be compared.
  func goThrough(
    _ stop: WALIndexHeader, _ doubts: inout [Int: Doubt], _ tick: inout CapturedTick
  ) throws(Doubt) -> Bool {
    // The database file has pages of later states.
    if isAhead(of: stop) { return false }
    do throws(Doubt) { try takeFrames(to: stop, isBackfilled: false, &tick) } catch { return false }
    seen = .wal(stop, isBackfilled: false)
    tick.hasStopped = true
    if pages.changed.first == 1, try pages.readFirstPage() != schemaCookie { throw Doubt(.schema) }
    for table in tables.values where doubts[table.number] == nil {
      do throws(Doubt) { try table.apply(pages.changed, pages) } catch { doubts[table.number] = error }
    }
    for table in tables.values where doubts[table.number] == nil { collect(table, &tick) }
    if !isAhead(of: stop), doubts.isEmpty { passed.add(seen) }
    return true
  }

  private func isAhead(of stop: WALIndexHeader) -> Bool { (index?.backfillAttempted() ?? .max) > stop.frameCount }
}
