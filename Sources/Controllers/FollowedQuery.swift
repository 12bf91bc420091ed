import LiveQuery
import RankedCollections
import Store

/// One query being followed by a worker: its statements, its controller, and who subscribes.
///
/// Owner: the worker's thread.
final class FollowedQuery {
  let query: Query
  private(set) var compiled: CompiledQuery
  private(set) var reader: ResultReader
  let controller: FetchedResultsController
  /// In no order.
  var subscriptions: [SubscriptionKey: Subscription] = [:]
  /// When the last subscription left; nil while there is one.
  var idleSince: UInt64?
  /// Part of the version names, so that those of two controllers never agree.
  private let nonce = String(UInt64.random(in: 0...UInt64.max), radix: 36)
  /// For the newest versions, which columns of which rows a version changed; nil: any.
  private var changes: [(version: Int, rows: [[UInt8]: ColumnMask]?)] = []
  /// Rows in `changes`, and how many there may be: a client further behind is told all columns of a row that changed.
  private var notedRows = 0
  private static let notedRowsLimit = 20_000

  init(_ query: Query, _ compiled: CompiledQuery, _ reader: ResultReader, commit: Int64) throws(FreshetError) {
    self.query = query
    self.compiled = compiled
    self.reader = reader
    controller = FetchedResultsController(try reader.fetch(), limit: compiled.limit, commit: commit)
  }

  func name(of version: ResultVersion) -> String { "\(nonce).\(version.number)" }

  /// Follows changes of rows of its table, given by base key.
  ///
  /// - Throws: what ends the controller.
  func follow(_ changed: [[UInt8]: ColumnMask], commit: Int64) throws(FreshetError) {
    let concerned = changed.filter { $0.value.intersects(compiled.usedColumns) }
    if concerned.isEmpty { return }
    do {
      try controller.update(commit: commit) { editor in try reader.refresh(concerned.keys, in: &editor) }
    } catch let error as FreshetError { throw error } catch { throw FreshetError(.internal, "\(error)") }
    note(compiled.isKeyOfTable ? concerned : nil)
  }

  /// Runs the query again from scratch.
  func refetch(commit: Int64) throws(FreshetError) {
    controller.replace(with: try reader.fetch(), commit: commit)
    note(nil)
  }

  /// After a change of the schema: the same query, compiled anew.
  ///
  /// - Returns: whether rows have the same columns as before.
  func recompile(_ compiled: CompiledQuery, _ reader: ResultReader, commit: Int64) throws(FreshetError) -> Bool {
    let isSame = compiled.columns == self.compiled.columns && compiled.keyColumns == self.compiled.keyColumns
    self.compiled = compiled
    self.reader = reader
    try refetch(commit: commit)
    return isSame
  }

  private func note(_ rows: [[UInt8]: ColumnMask]?) {
    changes.append((controller.newest.number, rows))
    // A version counts as a row, so that empty ones do not pile up.
    notedRows += 1 + (rows?.count ?? 0)
    while notedRows > Self.notedRowsLimit, let oldest = changes.first {
      notedRows -= 1 + (oldest.rows?.count ?? 0)
      changes.removeFirst()
    }
  }

  /// The columns in which a row of the newest version may differ from `held`.
  func changedColumns(of row: SectionedTree.Row, since held: ResultVersion) -> ColumnSet {
    guard let oldest = changes.first?.version, oldest <= held.number + 1 else { return .all }
    let identity = row.withIdentity { Array($0) }
    var mask: Int64 = 0
    for change in changes.reversed() {
      if change.version <= held.number { break }
      guard let rows = change.rows else { return .all }
      mask |= rows[identity]?.rawValue ?? 0
    }
    let columns = compiled.changedColumns(ColumnMask(rawValue: mask))
    return columns.isEmpty ? .all : columns
  }
}
