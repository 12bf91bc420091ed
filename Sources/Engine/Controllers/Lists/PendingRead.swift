import LiveQuery
import QueryCompiler
import RankedCollections

/// A version's contents that a reader is reading, or has read for clients that wait.
///
/// Owner: the follower's thread.
final class PendingRead {
  /// The number of the reader's job; 0: a run read the contents.
  let id: UInt64
  let wanted: WantedContents
  private(set) var version: ResultVersion
  private(set) var name: String
  private(set) var commit: Int64
  /// Nil while they are being read.
  private(set) var contents: Result<PackedRows, FreshetError>?
  /// The memory that they take.
  private(set) var hold: ContentsBudget.Hold?
  private let budget: ContentsBudget

  init(
    id: UInt64, _ wanted: WantedContents, of version: ResultVersion, name: String, commit: Int64,
    contents: PackedRows? = nil, within budget: ContentsBudget
  ) {
    self.id = id
    self.wanted = wanted
    self.version = version
    self.name = name
    self.commit = commit
    self.budget = budget
    if let contents { end(.success(contents)) }
  }

  func end(_ contents: Result<PackedRows, FreshetError>) {
    do throws(FreshetError) {
      let rows = try contents.get()
      hold = try budget.hold(rows.byteCount)
      self.contents = .success(rows)
    } catch { self.contents = .failure(error) }
  }

  /// The contents belong to another version than the requested one.
  func end(at version: ResultVersion, name: String, commit: Int64, _ rows: PackedRows) {
    self.version = version
    self.name = name
    self.commit = commit
    end(.success(rows))
  }

  /// A snapshot of the version, with these rows.
  func snapshot(of list: LiveList, _ rows: PackedRows) -> Snapshot {
    list.snapshot(of: version, name: name, commit: commit, sections: version.sections, wanted, rows)
  }
}
