/// Finds the pages that were written between two states of a database in WAL mode, or says why that cannot be told.
///
/// Pure: the WAL-index headers name the states, and `WAL` has the frames. Each rule closes a way in which a commit could go
/// unseen; `docs/architecture.md` lists them.
struct WALFollower {
  /// What lies between two states.
  struct Step {
    var commits = 0
    /// Pages that an earlier generation wrote after the first state.
    var rest: [UInt32] = []
    var isNewGeneration = false
  }

  /// Below so many commits a WAL-index may have been rebuilt (which sets its count to 0) without its count giving that away.
  static let youngIndex: UInt32 = 1 << 20

  let pageSize: Int
  let reader: FrameReader

  /// Leaves the frames of the newest generation in `reader`.
  func step<WAL: ByteSource>(
    from seen: WALIndexHeader, to current: WALIndexHeader, _ wal: WAL
  ) throws(Doubt) -> Step {
    reader.removeAll()
    if seen.pageSize != 0, seen.pageSize != pageSize { throw Doubt(.format) }
    return seen.salts == current.salts
      ? try stepInGeneration(from: seen, to: current, wal) : try stepToNewGeneration(from: seen, to: current, wal)
  }

  private func stepInGeneration<WAL: ByteSource>(
    from seen: WALIndexHeader, to current: WALIndexHeader, _ wal: WAL
  ) throws(Doubt) -> Step {
    if current.frameCount < seen.frameCount { throw Doubt(.wentBack) }
    if current.frameCount == seen.frameCount {
      if current.checksum != seen.checksum { throw Doubt(.wentBack) }
      // A recovery, or nothing.
      return Step()
    }
    let start = seen.frameCount == 0 ? try reader.begin(wal, current, pageSize: pageSize) : seen.checksum
    let run = try reader.read(
      wal, pageSize: pageSize,
      FrameReader.Request(
        from: seen.frameCount, to: current.frameCount, salts: current.salts, checksum: start,
        isBigEndian: current.isBigEndian, current: current.salts))
    if run.last != current.frameCount || run.checksum != current.checksum { throw Doubt(.brokenChain) }
    return Step(commits: run.commits)
  }

  /// The WAL has started over. That is followed only where nothing can have been lost: all commits that the WAL-index counts
  /// are those that were found, and the earlier generation's end is still to be seen.
  private func stepToNewGeneration<WAL: ByteSource>(
    from seen: WALIndexHeader, to current: WALIndexHeader, _ wal: WAL
  ) throws(Doubt) -> Step {
    if current.generation != seen.generation &+ 1 { throw Doubt(.restartedTwice) }
    var step = Step(isNewGeneration: true)
    var isEndSeen = false
    var isPadded = false
    if seen.frameCount > 0 {
      let rest = try reader.read(
        wal, pageSize: pageSize,
        FrameReader.Request(
          from: seen.frameCount, to: nil, salts: seen.salts, checksum: seen.checksum, isBigEndian: seen.isBigEndian,
          current: current.salts, keepsImages: false))
      step.commits = rest.commits
      step.rest = reader.frames.map(\.page)
      isEndSeen = rest.isEndSeen
      isPadded = rest.isPadded
      reader.removeAll()
    }
    if current.frameCount > 0 {
      let start = try reader.begin(wal, current, pageSize: pageSize)
      let run = try reader.read(
        wal, pageSize: pageSize,
        FrameReader.Request(
          from: 0, to: current.frameCount, salts: current.salts, checksum: start, isBigEndian: current.isBigEndian,
          current: current.salts, looksForPadding: true))
      if run.last != current.frameCount || run.checksum != current.checksum { throw Doubt(.brokenChain) }
      step.commits += run.commits
      isPadded = isPadded || run.isPadded
    }
    if isPadded { throw Doubt(.paddedCommits) }
    if Int64(current.changes &- seen.changes) != Int64(step.commits) { throw Doubt(.generationLost) }
    if !isEndSeen, seen.changes < Self.youngIndex { throw Doubt(.generationEnd) }
    return step
  }
}
