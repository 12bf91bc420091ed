// Advancing through intermediate states: those that other captures have read, or that of each commit.
extension FileCapture {
  /// The most stops in one tick. Each costs as much as a tick.
  private static let mostStops = 8

  /// The given states that are between the last one and the present one and whose pages all still exist, in their
  /// order.
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

  /// The states of all commits between the one seen last and the present one, in their order.
  func commitStops(_ header: WALIndexHeader) throws(Doubt) -> [WALIndexHeader] {
    guard case .wal(let before, _) = seen else { return [] }
    let rest = try readFrames(from: before, to: header).restCommits
    let commits = reader.commits
    return rest.enumerated().map { before.moved(to: $1, by: $0 + 1) }
      + commits.dropLast().enumerated().map { header.moved(to: $1, by: $0 + 1 - commits.count) }
  }

  /// Advances the memory to a state between the last one and the present one. It never reports too little, even if some
  /// of the pages belong to a later state.
  ///
  /// - Parameter doubts: doubts by table number. These tables are compared as a whole at the end of the tick, so this
  ///   leaves them alone.
  /// - Returns: whether the tick may go through the next state.
  /// - Throws: why everything must be compared.
  func goThrough(
    _ stop: WALIndexHeader, _ doubts: inout [Int: Doubt], _ tick: inout FileTick
  ) throws(Doubt) -> Bool {
    // If the database file may have pages of later states, only frames may be read.
    if isAhead(of: stop), !hasLeavesAlone(upTo: stop) { return false }
    let readsFramesAlone = pages.readsFramesAlone
    do throws(Doubt) { try takeFrames(to: stop, isBackfilled: false, &tick) } catch { return false }
    if isAhead(of: stop) { pages.readsFramesAlone = true }
    defer { pages.readsFramesAlone = readsFramesAlone }
    seen = .wal(stop, isBackfilled: false)
    tick.hasStopped = true
    if pages.changed.first == 1, try pages.readFirstPage() != schemaCookie { throw Doubt(.schema) }
    for table in tables.values where doubts[table.number] == nil {
      do throws(Doubt) { try table.apply(pages.changed, pages) } catch { doubts[table.number] = error }
    }
    for table in tables.values where doubts[table.number] == nil { collect(table, &tick) }
    if pages.readsFramesAlone || !isAhead(of: stop), doubts.isEmpty {
      tick.stops.append((StateName(state: seen), tick.deltas.count, tick.commits))
    }
    return true
  }

  /// Whether the frames up to a state contain all that must be read to advance to it.
  private func hasLeavesAlone(upTo stop: WALIndexHeader) -> Bool {
    guard let schemaCookie, case .wal(let before, _) = seen, before.salts == stop.salts else { return false }
    do throws(Doubt) { _ = try readFrames(from: before, to: stop) } catch { return false }
    return changedLeaves(schemaCookie) != nil
  }

  /// Whether the database file may have pages of later states. Once a new generation has begun, this is true of all
  /// states of earlier generations.
  private func isAhead(of stop: WALIndexHeader) -> Bool {
    guard case .wal(let header, _) = current, header.salts == stop.salts else { return true }
    return (index?.backfillAttempted() ?? .max) > stop.frameCount
  }
}
