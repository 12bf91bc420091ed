package import Following
import Ground
package import LiveQuery
package import QueryCompiler
import RankedCollections
package import Requests
package import Store

/// One followed query: its statements, its result and its subscriptions.
///
/// Owner: the follower's thread.
package final class LiveList {
  package let query: Query
  /// The query's number in `Lists` and in the table of requests.
  package let id: Int
  @exclusivity(unchecked) private(set) var statements: BoundStatements
  @exclusivity(unchecked) package private(set) var result: VersionedResult
  /// The state machine of the list, which only `advance` changes.
  @exclusivity(unchecked) package private(set) var machine: ListMachine
  @exclusivity(unchecked) package var versions: ListVersions
  /// The subscriptions; nil if no client has subscribed yet.
  @exclusivity(unchecked) package var listeners: (any ListAudience)?
  /// Contents that readers are reading, or have read for clients that wait.
  @exclusivity(unchecked) package var reads: [PendingRead] = []
  /// Whether the tick visits the list when it sends. Only `Lists` sets it.
  @exclusivity(unchecked) package var isDirty = false
  /// The list's entry in `Deadlines`, which alone sets it.
  @exclusivity(unchecked) var deadline = Deadlines.Place()
  /// The last self-check: the number of ticks that had seen changes then, and the version that was compared.
  @exclusivity(unchecked) var checked: (tick: Int, version: ResultVersion?) = (-1, nil)
  /// Changes of aggregates that the current run misses.
  @exclusivity(unchecked) var groupLog: GroupLog?
  @exclusivity(unchecked) private var trail = ListTrail()
  /// The cost of following the list so far.
  @exclusivity(unchecked) private var cost = Explanation.Cost()

  /// - Parameters:
  ///   - fetched: the first run's result.
  ///   - shown: the state that this result shows, if it is not the tick's state.
  ///   - ticks: the number of ticks that had seen changes when the run was requested.
  init(
    _ query: Query, id: Int, _ statements: BoundStatements, _ versions: ListVersions, periods: ListMachine.Periods,
    fetched: FetchedResult, shown: CommitNumber?, ticks: Int, duration: Nanoseconds
  ) {
    self.query = query
    self.id = id
    self.statements = statements
    self.versions = versions
    machine = ListMachine(
      shown: shown, ticks: ticks, duration: duration, periods: periods, now: statements.clock.now)
    statements.reader.memory = fetched.memory
    result = VersionedResult(fetched.editor, shown: statements.compiled.shown, alongside: fetched.alongside)
    self.statements.number = statements.shape.add(self)
    if shown == nil { self.versions.beginSpan() }
  }

  /// Must be called when the list is released.
  func close() {
    shape.remove(statements.number)
    versions.removeAll()
  }

  var shape: QueryShape { statements.shape }
  package var compiled: CompiledQuery { statements.compiled }
  var parameters: [SQLValue] { statements.parameters }
  package var reader: ResultReader { statements.reader }
  var clock: MonotonicClock { statements.clock }

  package var isFollowing: Bool { machine.isFollowing }
  /// The number of the state that the list shows.
  package var shown: CommitNumber { machine.shownBefore ?? versions.commits.number }
  /// Whether the newest version's contents can be read: because they are kept, or because the file is in the state that
  /// the list shows.
  package var canReadContents: Bool { isFollowing || reader.keepsContents(ofRows: rowCount) }
  /// Whether what the list shows can answer a request.
  ///
  /// - Parameters:
  ///   - ticks: the number of ticks that had seen changes when the request was made.
  ///   - wanted: the contents that the request needs; nil if it needs no contents.
  package func answers(askedAt ticks: Int, _ wanted: WantedContents?) -> Bool {
    isFollowing
      || (machine.answers(askedAt: ticks)
        && (canReadContents || reads.contains { $0.wanted == wanted && $0.contents != nil }))
  }
  /// The number of rows, without LIMIT and OFFSET.
  var rowCount: Int { result.editor.tree.count }
  /// Whether all subscriptions that get patches have the newest version.
  package var isSettled: Bool { listeners?.hasOnly(result.newest) ?? true }

  package var description: OpenList {
    OpenList(
      query: query, subscriptions: listeners?.count ?? 0, rows: result.newest.tree.count,
      sections: result.newest.tree.sectionCount, maintenance: compiled.maintenance, reason: compiled.sentence,
      tables: compiled.tableNames)
  }

  package var explanation: Explanation.List {
    Explanation.List(
      rows: result.newest.tree.count, groups: reader.keptGroups, keptBytes: reader.keptRowBytes, cost: cost)
  }

  /// A description of the list's recent updates.
  var history: String { trail.description(commit: versions.commits.number.commit, version: result.newest.number) }

  /// Sends the machine an event. The commits at which the newest version is known depend on the machine's phase.
  @discardableResult
  package func advance<Answer>(_ event: (inout ListMachine) -> Answer) -> Answer {
    let wasFollowing = machine.isFollowing
    let answer = event(&machine)
    if wasFollowing != machine.isFollowing { notePhase() }
    return answer
  }

  private func notePhase() {
    if let shown = machine.shownBefore { versions.endSpan(at: shown) } else { versions.beginSpan() }
  }

  // MARK: - Following

  /// Looks up units that may have changed.
  ///
  /// - Parameter units: units of the result, or of the rows that are kept under its groups.
  /// - Parameter captured: the changed rows that lead to the units, if the query can be evaluated over these instead.
  /// - Parameter scalars: values in the query's conditions that other lists keep, by index.
  /// - Returns: whether there is a new version; nil if looking up is not enough, so that the query must be run again.
  /// - Throws: the error that prevents the look-up: the query must be run again, or the list ends.
  func update(
    _ units: ConcernedUnits, from captured: CapturedRows? = nil, alongside: Bool, scalars known: [Int: SQLValue] = [:]
  ) throws(FreshetError) -> Bool? {
    let start = clock.now
    defer { cost.note(clock.now - start, units: units.count) }
    do {
      let reader = reader
      var (units, captured) = (units, captured)
      var ofAllGroups = false
      if alongside, compiled.plan.scalars != nil {
        guard let scalars = try reader.takeScalars(known) else { return nil }
        units.add(scalars.units)
        ofAllGroups = scalars.ofAllGroups
        // The rows of these units have not changed, so they must be looked up.
        if !scalars.units.isEmpty { captured = nil }
      }
      if compiled.plan.keepsRows {
        guard let groups = try reader.takeRows(of: units) else { return nil }
        units = groups
      }
      if ofAllGroups { units.add(reader.allGroups) }
      if try reader.dependsOnOrder(units) { return nil }
      let values = alongside ? try reader.alongside() : nil
      let isNew = try result.update(alongside: values) { editor in
        try reader.refresh(units, from: captured, in: &editor)
        if reader.hasTotals {
          try reader.totals.setTotals(of: &editor, after: units)
        }
      }
      if isNew {
        versions.note(result.newest, units, bytes: .changes(units.count), isFollowing: isFollowing)
      } else {
        reader.forgetContents()
      }
      trail.note(
        .looked, units: units.count, commit: versions.commits.number.commit, version: result.newest.number)
      return isNew
    } catch let error as FreshetError { throw error } catch { throw FreshetError(.internal, "\(error)") }
  }

  /// Runs the query on this thread.
  ///
  /// - Returns: whether there is a new version.
  func runHere() throws(FreshetError) -> Bool {
    let start = clock.now
    let fetched = try reader.run(into: result.editor)
    return install(fetched, at: versions.commits.number, duration: clock.now - start)
  }

  /// Makes a run's result the newest version.
  ///
  /// - Parameters:
  ///   - number: the number of the state that the run saw.
  ///   - duration: how long the run took.
  /// - Returns: whether there is a new version.
  func install(_ fetched: FetchedResult, at number: CommitNumber, duration: Nanoseconds) -> Bool {
    reader.memory = fetched.memory
    reader.forgetContents()
    let isNew = result.replace(fetched.editor, shown: compiled.shown, alongside: fetched.alongside)
    if isNew {
      let bytes = ListVersions.Bytes.rows(result.newest.tree.count, changed: fetched.changes?.count)
      versions.note(result.newest, fetched.changes, bytes: bytes, isFollowing: isFollowing)
    }
    trail.note(
      machine.isDistrusted ? .mended : .ran, units: fetched.changes?.count, commit: number.commit,
      version: result.newest.number)
    advance { $0.noteRun(duration, now: clock.now) }
    cost.runs += 1
    return isNew
  }

  /// Uses other statements of the same query from now on. The query must be run next.
  ///
  /// - Returns: whether its columns are the same as before.
  func adopt(_ adopted: BoundStatements) -> Bool {
    let before = compiled
    shape.remove(statements.number)
    statements = adopted
    statements.number = shape.add(self)
    let isSame =
      compiled.columns == before.columns && compiled.keyColumns == before.keyColumns
      && compiled.order == before.order
    // Rows with the former columns cannot be compared with rows with the new ones.
    if !isSame { forgetVersions() }
    return isSame
  }

  func hasRows(ofUnit unit: Bytes) -> Bool {
    compiled.unit?.isKey == true ? result.contains(unit) : reader.hasRows(ofUnit: Array(unit))
  }
}

extension Explanation.Cost {
  fileprivate mutating func note(_ duration: Nanoseconds, units count: Int) {
    let time = Double(duration.count) / 1_000_000
    (changes, units, milliseconds, longest) = (changes + 1, units + count, milliseconds + time, max(longest, time))
  }
}

/// A list's statements: those of its shape, with the list's own parameters bound.
struct BoundStatements {
  let shape: QueryShape
  let parameters: [SQLValue]
  let reader: ResultReader
  let clock: MonotonicClock
  /// The list's number in the shape.
  fileprivate(set) var number = 0

  init(_ query: Query, _ shape: QueryShape, _ settings: ReaderSettings) {
    self.shape = shape
    parameters = shape.compiled.values(of: query)
    reader = settings.reader(shape.statements, parameters)
    clock = settings.clock
  }

  var compiled: CompiledQuery { shape.compiled }
}

/// The part of its subscriptions that a list must know in order to be followed.
package protocol ListAudience: AnyObject {
  var count: Int { get }
  /// Any of the subscribed sessions; nil if there are no subscriptions.
  var session: UInt64? { get }
  /// The contents that a waiting subscriber wants; nil if no subscriber waits.
  var awaited: WantedContents? { get }
  /// Whether a subscriber with this window waits for a snapshot.
  func awaits(_ window: Window?) -> Bool
  /// Whether all subscribers that get patches have this version.
  func hasOnly(_ version: ResultVersion) -> Bool
}
