/// Finds the pages that were written between two states of a database in WAL mode, or says why they are not known.
///
/// The result depends only on the two states, given by their WAL-index headers, and on the frames of `WAL`.
///
/// After a checkpoint of the whole WAL, the next writer begins a new *generation*: new salts, and frames from the first
/// one on, over the old ones. Commits that were not read before would be missed silently. Each of these rules excludes
/// one way in which that can happen. If a rule fails, capture has a doubt, named here by its label in
/// `freshet_capture_comparisons_total`, and compares whole tables.
///
/// - `wal_header`: the WAL's header has the salts and page size of the WAL-index, and a correct checksum. Otherwise
///   frames of another generation would be read as those of this one.
/// - `went_back`: within a generation the last frame's number does not decrease, nor stay the same with another
///   checksum. After a crash, recovery drops frames that were already read: their rows are undone, and no frame says
///   so.
/// - `broken_chain`: the chain of checksums leads from the last frame seen to the header's. Otherwise the WAL went back
///   and grew past the old end, so that the frames continue another history; or frames are being overwritten while they
///   are read.
/// - `restarted_twice`: the first salt grew by exactly one. Otherwise a whole generation was not read. A writer killed
///   inside COMMIT leaves a commit frame that was never published. After two restarts it could be counted in place of a
///   lost commit.
/// - The rest of the old generation is read too, as far as salts and chain hold: commits between the last tick and the
///   restart are in the database file, and the new WAL does not mention them.
/// - `generation_lost`: the WAL-index's count of commits grew by exactly the commits found. Otherwise the new
///   generation has overwritten commits of the old one.
/// - `padded_commits`: no commit frame is repeated. With `synchronous=FULL` and powersafe overwrite off, SQLite repeats
///   a commit frame up to the end of the sector; a repetition could make up for a lost commit in the count.
/// - `generation_end`: the old generation's last frame is followed by a frame of an older generation, or by the end of
///   the file. Otherwise commits after the old end may have been cut off or overwritten by the new generation. The
///   count may fit nevertheless, because a recovery sets it to 0. Not checked if the count was above `youngIndex`,
///   because a recovery would then show in the count.
/// - `backfill`: the database file has the frames that the WAL-index counts as copied (`MisledGeneration`).
///
/// Frames with salts of zero prove nothing: SQLite 3.40 writes such frames after `ROLLBACK TO` in a transaction that
/// had spilled. One gap remains: `journal_size_limit` may cut a WAL exactly after the last frame seen while a recovery
/// happens to leave a count that fits.
///
/// With SQLite's default checkpoints, a writer that pauses between commits never causes a comparison, except by the
/// first commit to an empty WAL, which has no generation to continue from. A writer at full speed causes a comparison
/// now and then. `journal_size_limit` and `wal_checkpoint(TRUNCATE)` cut off the old generation's end, which usually
/// causes a comparison.
struct WALFollower {
  /// The frames between two states.
  struct Step {
    var commits = 0
    /// Pages that an earlier generation wrote after the first state, and the commits that wrote them.
    var rest: [UInt32] = []
    var restCommits: [FrameReader.Commit] = []
    var isNewGeneration = false
  }

  /// A WAL-index with a count of fewer commits may have been rebuilt, which sets the count to 0, and the count does not
  /// show it.
  static let youngIndex: UInt32 = 1 << 20

  let pageSize: Int
  let reader: FrameReader

  /// Reads the frames between two states. Afterwards `reader` has the frames of the newest generation.
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
      // A recovery wrote the header anew, or nothing changed.
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

  /// Follows a WAL that has started over, if no commit can have been lost: the number of commits found must equal the
  /// WAL-index's count, and the earlier generation's end must still be visible.
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
