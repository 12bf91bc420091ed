import LiveQuery
import QueryCompiler
import RankedCollections

/// The small snapshots that were sent last: whoever opens a list after others gets what they got, read and written once;
/// and whoever opens another window of it gets the same sections.
///
/// Few, and for all queries of a follower together: what they take does not grow with lists or clients.
struct RecentSnapshots {
  private struct Entry {
    let snapshot: Snapshot
    weak var version: ResultVersion?
  }

  /// The newest last.
  private var entries: [Entry] = []

  private static let most = 16
  private static let mostBytes = 32 << 10
  private static let mostSections = 1_000

  /// - Parameter version: its name; no two versions of any query have one name.
  func find(version: String, commit: Int64, window: Window?) -> Snapshot? {
    entries.last { $0.snapshot.version == version && $0.snapshot.commit == commit && $0.snapshot.window == window }?
      .snapshot
  }

  /// The sections of a version of which another window was sent, or the same at another commit.
  func sections(of version: ResultVersion) -> SectionList? {
    entries.last { $0.version === version }?.snapshot.sections
  }

  mutating func add(_ snapshot: Snapshot, of version: ResultVersion) {
    guard snapshot.rows.byteCount <= Self.mostBytes, snapshot.sections.infos.count <= Self.mostSections else { return }
    if entries.count == Self.most { entries.removeFirst() }
    entries.append(Entry(snapshot: snapshot, version: version))
  }
}
