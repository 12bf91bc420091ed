package import ChangeCapture
package import Following
package import Ground
package import LiveQuery
package import QueryCompiler
package import RankedCollections
package import Store

/// The client or part of the server that a job is done for. Requesters share the readers fairly.
package enum Requester: Hashable, Sendable {
  /// A session or a stream.
  case session(UInt64)
  /// A request for a snapshot.
  case request(UInt64)
  /// A request for an explanation or the schema, which no other request shares.
  case question(UInt64)
  /// The server itself, and requests without an id.
  case server

  package static func of(question id: UInt64?) -> Requester { id.map { .question($0) } ?? .server }
}

/// A job for a reader.
///
/// Exactly one of `body` and `failed` is called, on the reader's thread. If the job is cancelled first, possibly
/// neither.
package struct ReaderJob: Sendable {
  /// The job's number, unique among the jobs of the file.
  let id: UInt64
  let requester: Requester
  /// Does the job, in a read transaction.
  let body: @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Void
  /// Called with the reason if the job could not be done.
  let failed: @Sendable (FreshetError) -> Void
  /// Whether it ran for long before, and was interrupted for other jobs.
  var isLong = false
  /// Whether it was interrupted because its reader got too little processor time.
  var hasStarved = false
  /// The file that it reads; set when it is posted.
  var file: ReaderFile?
  /// When it entered the queue.
  var postedAt = Instant.distantPast

  package init(
    id: UInt64, requester: Requester,
    body: @escaping @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Void,
    failed: @escaping @Sendable (FreshetError) -> Void
  ) {
    self.id = id
    self.requester = requester
    self.body = body
    self.failed = failed
  }
}

/// A run of a followed query that a reader has begun, in a state that perhaps no tick has seen.
package struct BegunRun: Sendable {
  /// The job's number.
  package let id: UInt64
  package let state: StateName

  package init(id: UInt64, state: StateName) {
    self.id = id
    self.state = state
  }
}

/// A run of a query on a reader's thread.
/// @unchecked: it is handed from one thread to another. Trees share nodes, and a node is changed in place only while it
/// has a single owner.
package struct RunRequest: @unchecked Sendable {
  let query: Query
  /// The compiled query; nil if the reader must compile it.
  var compiled: CompiledQuery?
  /// The former result, which the run turns into the new one.
  var before: (editor: SectionedTreeEditor, memory: ReaderMemory)?
  /// The contents to read as well, as a window of the result; nil if none are wanted.
  var wanted: WantedContents?
  let settings: ReaderSettings
  /// The longest time from compiling the query to reading the last contents.
  let timeout: Nanoseconds

  package init(
    query: Query, compiled: CompiledQuery? = nil, before: (editor: SectionedTreeEditor, memory: ReaderMemory)? = nil,
    wanted: WantedContents? = nil, settings: ReaderSettings, timeout: Nanoseconds
  ) {
    self.query = query
    self.compiled = compiled
    self.before = before
    self.wanted = wanted
    self.settings = settings
    self.timeout = timeout
  }
}

/// Rows whose contents are wanted.
package struct WantedContents: Hashable, Sendable {
  /// The window of the rows; nil for all rows.
  package var window: Window?

  package init(window: Window? = nil) {
    self.window = window
  }

  /// The most rows whose contents a run keeps. In a result with more rows, looking up the wanted rows costs less than
  /// keeping every row that the run reads.
  var rowsToKeep: Int { window.map { 4 * min($0.limit, 1 << 20) } ?? .max }

  package func range(total: Int) -> Range<Int> { window?.range(total: total) ?? 0..<total }
}

/// A run's result, and the state of the file that it saw.
package struct RunResult: Sendable {
  package let compiled: CompiledQuery
  package let fetched: FetchedResult
  /// The contents that were wanted.
  package let contents: (wanted: WantedContents, rows: PackedRows)?
  package let place: StatePlace
  package let duration: Nanoseconds
}

/// A read of a version's contents on a reader's thread.
// @unchecked: as `RunRequest`.
package struct ReadRequest: @unchecked Sendable {
  let run: RunRequest
  let wanted: WantedContents
  let tree: SectionedTree
  /// The state that the version belongs to.
  let place: StatePlace

  package init(run: RunRequest, wanted: WantedContents, tree: SectionedTree, place: StatePlace) {
    self.run = run
    self.wanted = wanted
    self.tree = tree
    self.place = place
  }
}

/// A comparison of a version with a fresh run, on a reader's thread.
// @unchecked: as `RunRequest`.
package struct CheckRequest: @unchecked Sendable {
  /// The run to make. `before` is the result to be confirmed as different; nil if it is not suspected yet.
  let run: RunRequest
  let tree: SectionedTree
  let alongside: [NamedValue]
  /// The state that the version belongs to.
  let place: StatePlace

  package init(run: RunRequest, tree: SectionedTree, alongside: [NamedValue], place: StatePlace) {
    self.run = run
    self.tree = tree
    self.alongside = alongside
    self.place = place
  }
}

/// The outcome of a check.
package enum CheckResult: Sendable {
  case agrees
  case differs(ResultDivergence)
  /// The file has changed since.
  case moved
}

/// Receives the reports of readers.
package protocol ReportReceiver: AnyObject, Sendable {
  /// Any thread.
  func post(_ report: ReaderReport)
  /// Called when a reader's transaction sees a state. Wakes no thread. Any thread.
  func noteBegun(_ run: BegunRun)
  /// Appends the runs that have begun since the last call to `before`. To be called on the receiver's thread.
  func takeBegun(after before: [BegunRun]) -> [BegunRun]
}

/// A reader's report on a job to its follower.
package struct ReaderReport: Sendable {
  package let id: UInt64
  package let outcome: Outcome

  package init(id: UInt64, outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }

  package enum Outcome: Sendable {
    /// The first run of a query.
    case opened(Result<RunResult, FreshetError>)
    /// A further run of a followed query.
    case ran(Result<RunResult, FreshetError>)
    case read(Result<ReadResult, FreshetError>)
    /// Compilation of a shape after a change of the schema.
    case recompiled(Result<Recompilation, FreshetError>)
    case checked(Result<CheckResult, FreshetError>)
  }
}

extension ReaderReport {
  /// The same report with an error, for a tick that could not read the database and so cannot join the result.
  package func failed(_ error: FreshetError) -> ReaderReport {
    let outcome: Outcome =
      switch outcome {
      case .opened: .opened(.failure(error))
      case .ran: .ran(.failure(error))
      case .read: .read(.failure(error))
      case .recompiled: .recompiled(.failure(error))
      case .checked: .checked(.failure(error))
      }
    return ReaderReport(id: id, outcome: outcome)
  }

  package var isOfCompiling: Bool { if case .recompiled = outcome { true } else { false } }
}

/// A query compiled for another schema, or its error there, and a state with that schema.
package struct Recompilation: Sendable {
  package let compiled: Result<CompiledQuery, FreshetError>
  package let place: StatePlace
}

/// The answer to a `ReadRequest`.
package enum ReadResult: Sendable {
  /// The contents of the requested version.
  case contents(PackedRows)
  /// The file has changed: the query's present result, with the contents of its rows.
  case moved(RunResult)
}
