import LiveQuery

/// The small snapshots that were sent last. A client that opens the same list gets the same bytes, which are read and
/// encoded once. A client that opens another window of it shares the encoded sections.
///
/// The limit is for all queries of a follower together, so the memory does not grow with lists or clients.
struct RecentSnapshots {
  private struct Entry {
    let snapshot: Snapshot
    weak var version: ResultVersion?
  }

  /// Oldest first.
  private var entries: [Entry] = []

  private static let most = 16
  private static let mostBytes = 32 << 10
  private static let mostSections = 1_000

  /// - Parameter version: the version's name, unique among the versions of all queries.
  func find(version: String, commit: Int64, window: Window?) -> Snapshot? {
    entries.last { $0.snapshot.version == version && $0.snapshot.commit == commit && $0.snapshot.window == window }?
      .snapshot
  }

  /// The sections of this version, if another window of it was sent, or the same window at another commit.
  func sections(of version: ResultVersion) -> SectionList? {
    entries.last { $0.version === version }?.snapshot.sections
  }

  mutating func add(_ snapshot: Snapshot, of version: ResultVersion) {
    guard snapshot.rows.byteCount <= Self.mostBytes, snapshot.sections.infos.count <= Self.mostSections else { return }
    if entries.count == Self.most { entries.removeFirst() }
    entries.append(Entry(snapshot: snapshot, version: version))
  }
}
