/// Finds the pages that were written between two states of a database in WAL mode, or says why they are not known.
///
/// Pure: the WAL-index headers name the states, and `WAL` has the frames.
///
/// After a checkpoint of the whole WAL, the next writer begins a new *generation*: new salts, and frames from the first
/// one on, over the old ones. Commits that were not read in time would be lost silently. Each rule closes one way for
/// that to happen. Where one fails, capture has a doubt, named here by the label of
/// `freshet_capture_comparisons_total`, and compares whole tables.
///
/// - `wal_header`: the WAL's header has the salts and page size of the WAL-index, and a correct checksum. Otherwise
///   frames of another generation would be read as those of this one.
/// - `went_back`: within a generation the last frame does not go back, nor keep its number with another checksum. After
///   a crash, recovery drops frames that were already read: their rows are undone, and no frame says so.
/// - `broken_chain`: the chain of checksums leads from the last frame seen to the header's. Otherwise the WAL went back
///   and grew past the old end, so that the frames continue another history; or frames are being overwritten while they
///   are read.
/// - `restarted_twice`: the first salt grew by exactly one. Otherwise a generation came and went unread. A writer
///   killed inside COMMIT leaves a commit frame that was never published, which after two restarts could stand in for a
///   lost commit.
/// - The rest of the old generation is read too, as far as salts and chain hold: commits between the last tick and the
///   restart are in the database file, and the new WAL does not mention them.
/// - `generation_lost`: the WAL-index's count of commits grew by exactly the commits found. Otherwise the new
///   generation has overwritten commits of the old one.
/// - `padded_commits`: no commit frame is repeated. With `synchronous=FULL` and powersafe overwrite off, SQLite repeats
///   a commit frame up to the end of the sector; a repetition could make up for a lost commit in the count.
/// - `generation_end`: the old generation's last frame is followed by a frame of an older generation, or by the end of
///   the file. Recovery sets the count to 0, so lost commits can fit it by chance: commits after the old end were cut
///   off, or the new generation has grown over them. Not checked when the count was above `youngIndex`, because a
///   recovery then shows.
/// - `backfill`: frames noted as copied into the database file are there (`MisledGeneration`).
///
/// Frames with salts of zero say nothing: SQLite 3.40 writes such frames after `ROLLBACK TO` in a transaction that had
/// spilled. One gap remains: `journal_size_limit` may cut a WAL exactly after the last frame seen, in the same instant
/// in which a recovery leaves a count that fits.
///
/// With SQLite's default checkpoints, a writer that pauses between commits never causes a comparison, except by the
/// first commit to an empty WAL, which has no generation to continue from. A writer at full speed causes one now and
/// then. `journal_size_limit` and `wal_checkpoint(TRUNCATE)` cut off the old generation's end, which usually costs one.
struct WALFollower {
  /// The frames between two states.
  struct Step {
    var commits = 0
    /// Pages that an earlier generation wrote after the first state, and the commits that wrote them.
    var rest: [UInt32] = []
    var restCommits: [FrameReader.Commit] = []
    var isNewGeneration = false
  }

  /// Below so many commits a WAL-index may have been rebuilt (which sets its count to 0) without its count giving that
  /// away.
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

  /// The WAL has started over. That is followed only where nothing can have been lost: all commits that the WAL-index
  /// counts are those that were found, and the earlier generation's end is still to be seen.
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
      step.restCommits = reader.commits
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
