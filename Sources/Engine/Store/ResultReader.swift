import CSQLite
package import Ground
package import LiveQuery
import RankedCollections

/// Runs one query's statements, and turns rows into tree entries and contents.
///
/// Owner: the follower's thread, inside its read transaction.
///
/// Mutable state: the row being read (in `row`), overwritten by every row; `recent`, the contents that the last
/// `refresh` read, for queries whose key is their unit; `memory`, what is remembered of the newest result.
package final class ResultReader {
  let statements: ResultStatements
  var plan: ResultPlan { statements.plan }
  @exclusivity(unchecked) private var parameters: [SQLValue]
  /// The values of the plan's scalars among `parameters`.
  @exclusivity(unchecked) private var boundScalars: [SQLValue] = []
  private let seed: UInt64
  let row: ReadRow
  @exclusivity(unchecked) var recent = RecentContents()
  /// The memory of the newest whole result. A reader on another thread may have made it.
  @exclusivity(unchecked) package var memory = ReaderMemory()
  /// Whether the last `refresh` evaluated all rows, without looking any up.
  @exclusivity(unchecked) package internal(set) var hasEvaluated = false
  /// Whether `refresh` must look up all units, because its result is compared with an evaluated one.
  @exclusivity(unchecked) var isComparing = false
  /// The columns in which the last `fetch` found rows changed, by identity; nil if it built a new tree or did not
  /// compare.
  package private(set) var changes: ConcernedUnits?

  /// The limits of a result's size and of the time of its runs.
  package struct Limits: Sendable {
    package var rows: Int
    /// The most bytes of keys, and of contents if those are kept.
    package var bytes: Int
    /// How long a run of the query may take, and how long reading rows' contents may take. The latter comes back slowly
    /// (`TimeAccount`).
    package var time: Nanoseconds
    /// The most bytes of kept rows under groups. If there are more, they are followed in another way.
    package var keptRowBytes = 64 << 20

    package init(rows: Int, bytes: Int, time: Duration = .seconds(30)) {
      self.rows = rows
      self.bytes = bytes
      self.time = Nanoseconds(time)
    }
  }

  let limits: Limits
  /// The time that is left for reading the contents of rows.
  @exclusivity(unchecked) var time: TimeAccount
  let clock: MonotonicClock

  /// - Parameter seed: the seed of the stamps. It is random in every process, so that an attacker cannot make two rows
  ///   that agree.
  package init(
    _ statements: ResultStatements, parameters: [SQLValue], seed: UInt64, limits: Limits,
    clock: MonotonicClock = .system
  ) {
    self.statements = statements
    self.parameters = parameters
    self.seed = seed
    self.limits = limits
    self.clock = clock
    time = TimeAccount(limit: limits.time)
    row = ReadRow(statements.plan, seed: seed, encoding: statements.encoding)
  }

  deinit { statements.forget(self) }

  /// Binds the query's parameters to the statements that it shares with others.
  package func bind() {
    if let scalars = plan.scalars, boundScalars != memory.scalars {
      boundScalars = memory.scalars
      for (index, value) in boundScalars.enumerated() { parameters[Int(scalars.firstParameter) - 1 + index] = value }
      statements.forget(self)
    }
    statements.bind(parameters, of: self)
  }

  /// Runs the query, and brings the editor's result up to date.
  ///
  /// - Parameters:
  ///   - editor: the editor of the former result; nil if there is no result yet.
  ///   - mostKept: the most rows whose contents the run keeps. If the result has more rows, no contents are kept.
  /// - Returns: an editor of the new result, and the contents that were kept.
  /// - Throws: `duplicate_key`, `timeout`, `too_large`, and other errors of SQLite. The reader is unchanged then.
  /// - Complexity: O(rows × log rows).
  func fetch(
    into editor: SectionedTreeEditor? = nil, keepingContents mostKept: Int = 0
  ) throws(FreshetError) -> (SectionedTreeEditor, FetchedContents?) {
    try checkSnapshot()
    // Contents that a failed `refresh` read belong to an earlier state.
    forgetContents()
    bind()
    let scan = statements.scan
    defer { scan.reset() }
    var fetched = ReaderMemory()
    var keys = UnitKeys()
    var contents = FetchedContents(columnCount: plan.columns.count)
    // The loop uses local copies, because it would access the reader's properties for every row.
    let plan = plan
    let row = ReadRow(plan, seed: seed, encoding: statements.encoding)
    let isRefetched = plan.isRefetched
    var keepsContents = isRefetched || mostKept > 0
    let hasKeyUnit = plan.unit?.isKey ?? false
    var builder = SectionedTreeBuilder(
      onlySection: plan.section == nil ? ReadRow.onlySection.bytes : nil, work: .threads)
    do {
      while try scan.step() {
        row.read(scan)
        row.append(to: &builder, scan)
        if keepsContents { contents.append(row) }
        if !isRefetched {
          if !hasKeyUnit { keys.remember(row.identity, of: row.unit) }
          if keepsContents, builder.count > mostKept || contents.byteCount > Self.keptBytes { keepsContents = false }
        }
        try check(rows: builder.count, bytes: builder.byteCount + (isRefetched ? contents.byteCount : 0))
      }
      fetched.scanSteps = scan.takeSteps()
      try builder.sort()
      if keepsContents { contents.order = builder.order }
      if isRefetched { contents.trim() }
      let (result, touched) = try finish(builder, editor)
      changes = nil
      // A new reader does not know the former contents, so it cannot compare.
      if isRefetched, let editor, let touched, memory.contents.order.count == editor.tree.count {
        changes = changedColumns(touched, from: editor, to: result, contents)
      }
      fetched.keys = keys
      fetched.scalars = memory.scalars
      if isRefetched { fetched.contents = contents }
      memory = fetched
      return (result, keepsContents ? contents : nil)
    } catch { throw failure(error) }
  }

  /// The most bytes of contents that a run keeps. Contents of a larger result are looked up, or read by another run,
  /// because most of its rows are in no client's window.
  private static let keptBytes = 256 << 10

  /// Checks that the transaction is still open. An I/O error or a lack of memory makes SQLite end it. Later reads would
  /// then see another state, which must not be mixed with the state that the other lists show.
  func checkSnapshot() throws(FreshetError) {
    if statements.isInTransaction() { return }
    throw FreshetError(.overloaded, "the database cannot be read at the moment: its read transaction has ended")
  }

  func check(rows: Int, bytes: Int) throws(FreshetError) {
    if rows > limits.rows {
      throw FreshetError(.tooLarge, "the result has more than \(limits.rows) rows: narrow it with a where")
    }
    if bytes > limits.bytes {
      throw FreshetError(
        .tooLarge, "the result takes more than \(limits.bytes) bytes: select less, or narrow it with a where")
    }
  }

  /// - Returns: an editor of the builder's rows, and the rows that were inserted or changed; nil if the tree is new and
  ///   shares nothing with the former one.
  private func finish(
    _ builder: SectionedTreeBuilder, _ editor: SectionedTreeEditor?
  ) throws -> (SectionedTreeEditor, touched: [[UInt8]]?) {
    if var editor, let touched = try builder.merge(into: &editor) { return (editor, touched) }
    return (try builder.finish(), nil)
  }

  /// Compares the former and present contents of rows, by identity.
  private func changedColumns(
    _ identities: [[UInt8]], from before: SectionedTreeEditor, to after: SectionedTreeEditor, _ fetched: FetchedContents
  ) -> ConcernedUnits {
    var changes = ConcernedUnits()
    for identity in identities {
      identity.withUnsafeBytes { bytes in
        guard let old = before.position(of: bytes), let new = after.position(of: bytes) else { return }
        changes.add(bytes, memory.contents.changedColumns(at: old.offset, to: new.offset, of: fetched))
      }
    }
    return changes
  }

  /// The values of `alongside`, in the order of their names.
  ///
  /// - Parameter reads: whether to read all of them, because kept values may belong to another state.
  package func alongside(reads: Bool = false) throws(FreshetError) -> [NamedValue] {
    try values(alongside: plan.alongside.indices.dropLast(plan.scalars?.count ?? 0), reads: reads)
  }

  func values(alongside indices: Range<Int>, reads: Bool) throws(FreshetError) -> [NamedValue] {
    var values: [NamedValue] = []
    for index in indices {
      let value = plan.alongside[index]
      if !reads, let kept = try keptValue(alongside: index) {
        values.append(NamedValue(name: value.name, value: kept))
      } else {
        values.append(try readValue(alongside: index))
      }
    }
    return values
  }

  private func readValue(alongside index: Int) throws(FreshetError) -> NamedValue {
    try checkSnapshot()
    bind()
    let statement = statements.alongside[index]
    let name = plan.alongside[index].name
    defer { statement.reset() }
    do throws(SQLiteFailure) {
      return NamedValue(name: name, value: try statement.step() ? statement.value(0).value : .null)
    } catch {
      if error.primaryCode == SQLITE_ERROR { return NamedValue(name: name, value: .null, error: error.message) }
      throw FreshetError(queryFailure: error, place: nil)
    }
  }

  /// Prepares a statement of the query that is used only once, with its parameters bound.
  func prepared(_ sql: String) throws(SQLiteFailure) -> PreparedStatement {
    try statements.prepared(sql, parameters)
  }

  /// Whether the newest whole result has rows of a unit, for queries whose key is not the unit; see
  /// `VersionedResult.contains` for the others.
  package func hasRows(ofUnit unit: [UInt8]) -> Bool { memory.keys.hasRows(of: unit) }

  /// Whether changes of rows are known by the rows' identities; otherwise by their units.
  package var identityIsUnit: Bool { plan.isRefetched || plan.unit?.isKey == true }

  /// The unit of a row of the newest version, if its identity is not the unit.
  package func unit(of identity: [UInt8]) -> [UInt8]? { memory.keys.unit(of: identity) }

  /// The identity of the row with a key in the form in which clients write it; nil if no row can have this key.
  package func identity(of key: [SQLValue]) -> [UInt8]? {
    guard key.count == plan.keyColumns.count else { return nil }
    var identity: [UInt8] = []
    for value in key { KeyEncoder.append(value, encoding: statements.encoding, to: &identity) }
    return identity
  }

  func failure(_ error: any Error) -> FreshetError {
    switch error {
    case let error as FreshetError: return error
    case let error as SQLiteFailure: return FreshetError(queryFailure: error, place: nil)
    case let error as SectionedTreeBuilder.DuplicateIdentity:
      let key = error.identity.withUnsafeBytes { KeyDecoder.describe($0) }
      let example = plan.rows.rowidName.map { ", such as \($0)" } ?? ""
      return FreshetError(
        .duplicateKey, "two rows of the result have the key \(key): give a key that tells them apart\(example)")
    default: return FreshetError(.internal, "\(error)")
    }
  }
}
