package import LiveQuery
import QueryCompiler
import RankedCollections
package import Requests
import Store

/// Contents of a version that a reader is reading, or has read for waiting clients.
///
/// Owner: the follower's thread.
package final class PendingRead {
  /// The number of the reader's job; 0 if a run read the contents.
  package let id: UInt64
  package let wanted: WantedContents
  package private(set) var version: ResultVersion
  private(set) var name: String
  private(set) var commit: Int64
  /// The result of the read; nil until it ends.
  package private(set) var contents: Result<PackedRows, FreshetError>?
  /// The memory budget that the contents take.
  package private(set) var hold: ContentsBudget.Hold?
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

  /// Called when contents were read that belong to another version than the requested one.
  func end(at version: ResultVersion, name: String, commit: Int64, _ rows: PackedRows) {
    self.version = version
    self.name = name
    self.commit = commit
    end(.success(rows))
  }

  /// A snapshot of the version, with these rows.
  package func snapshot(of list: LiveList, _ rows: PackedRows) -> Snapshot {
    list.snapshot(of: version, name: name, commit: commit, sections: version.sections, wanted, rows)
  }
}

extension LiveList {
  /// A snapshot of a version.
  ///
  /// - Parameters:
  ///   - sections: the version's sections, if they are known already.
  ///   - rows: the contents of all wanted rows.
  package func snapshot(
    of version: ResultVersion, name: String, commit: Int64, sections: SectionList, _ wanted: WantedContents,
    _ rows: PackedRows
  ) -> Snapshot {
    Snapshot(
      version: name, commit: commit, columns: compiled.columns, key: compiled.keyColumns, total: version.tree.count,
      sections: sections, window: wanted.window, offset: wanted.range(total: version.tree.count).lowerBound, rows: rows,
      range: 0..<rows.count, alongside: version.alongside, totals: version.totals, order: compiled.order)
  }

  /// The contents of the newest version's rows at `offsets`.
  package func contents(_ offsets: Range<Int>) throws(FreshetError) -> PackedRows {
    var rows: [SectionedTree.Row] = []
    rows.reserveCapacity(offsets.count)
    result.newest.tree.forEachRow(in: offsets) { rows.append($0) }
    return try reader.contents(of: rows, in: result.newest.tree)
  }
}
