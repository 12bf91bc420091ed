import ChangeCapture
import Ground
import LiveQuery
import QueryCompiler
import RankedCollections
import Store

/// On whose behalf readers work: requesters share them fairly.
enum Requester: Hashable, Sendable {
  /// A session or a stream.
  case session(UInt64)
  /// A request for a snapshot.
  case request(UInt64)
  /// A request for an explanation or the schema, which no other request shares.
  case question(UInt64)
  /// The server itself, and requests without an id.
  case server

  static func of(question id: UInt64?) -> Requester { id.map { .question($0) } ?? .server }
}

/// A job for a reader.
///
/// Exactly one of `body` and `failed` is called, on the reader's thread. If the job is cancelled first, possibly
/// neither.
struct ReaderJob: Sendable {
  /// Unique in the process.
  let id: UInt64
  let requester: Requester
  /// Runs in a read transaction.
  let body: @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Void
  /// Called with the reason if the job could not be done.
  let failed: @Sendable (FreshetError) -> Void
  /// Whether it has run long before and was interrupted for other jobs.
  var isLong = false
  /// Whether it was interrupted because its reader got too little of a processor.
  var hasStarved = false
  /// When it entered the queue.
  var postedAt = Instant.distantPast
}

/// A reader has begun to run a followed query, in a state that perhaps no tick has seen.
struct BegunRun: Sendable {
  /// The job's number.
  let id: UInt64
  let state: StateName
}

/// A run of a query on a reader's thread.
// @unchecked: handed from one thread to another; trees share nodes, which are changed in place only by a single owner.
struct RunRequest: @unchecked Sendable {
  let query: Query
  /// Nil: the reader compiles it.
  var compiled: CompiledQuery?
  /// The former result, to be turned into the new one.
  var before: (editor: SectionedTreeEditor, memory: ReaderMemory)?
  /// The contents to read as well, as a window of the result; nil: none.
  var wanted: WantedContents?
  let settings: ReaderSettings
  /// From compiling to reading the last contents.
  let timeout: Nanoseconds
}

/// Rows whose contents are wanted.
struct WantedContents: Hashable, Sendable {
  /// Nil: all rows.
  var window: Window?

  /// Of a result with more rows it costs less to look the wanted ones up than to keep all that come by.
  var rowsToKeep: Int { window.map { 4 * min($0.limit, 1 << 20) } ?? .max }

  func range(total: Int) -> Range<Int> { window?.range(total: total) ?? 0..<total }
}

/// A run's result, and the state of the file that it saw.
struct RunResult: Sendable {
  let compiled: CompiledQuery
  let fetched: FetchedResult
  /// The contents that were wanted.
  let contents: (wanted: WantedContents, rows: PackedRows)?
  let place: StatePlace
  let duration: Nanoseconds
}

/// A read of a version's contents on a reader's thread.
// @unchecked: as `RunRequest`.
struct ReadRequest: @unchecked Sendable {
  let run: RunRequest
  let wanted: WantedContents
  let tree: SectionedTree
  /// The state that the version shows.
  let place: StatePlace
}

/// A comparison of a version with a fresh run, on a reader's thread.
// @unchecked: as `RunRequest`.
struct CheckRequest: @unchecked Sendable {
  /// `before` is the result to be confirmed as different; nil: it is not suspected yet.
  let run: RunRequest
  let tree: SectionedTree
  let alongside: [NamedValue]
  /// The state that the version shows.
  let place: StatePlace
}

/// The outcome of a check.
enum CheckResult: Sendable {
  case agrees
  case differs(ResultDivergence)
  /// The file has changed since.
  case moved
}

/// Whom readers work for.
protocol ReportReceiver: AnyObject, Sendable {
  /// Any thread.
  func post(_ report: ReaderReport)
  /// A reader's transaction sees a state. Wakes no thread. Any thread.
  func noteBegun(_ run: BegunRun)
  /// The runs that have begun since the last call, behind those of before. The receiver's thread.
  func takeBegun(after before: [BegunRun]) -> [BegunRun]
}

/// A reader's report on a job to its follower.
package struct ReaderReport: Sendable {
  let id: UInt64
  let outcome: Outcome

  enum Outcome: Sendable {
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
  func failed(_ error: FreshetError) -> ReaderReport {
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

  var isOfCompiling: Bool { if case .recompiled = outcome { true } else { false } }
}

/// A query compiled for another schema, or its error there, and a state with that schema.
struct Recompilation: Sendable {
  let compiled: Result<CompiledQuery, FreshetError>
  let place: StatePlace
}

/// The answer to a `ReadRequest`.
enum ReadResult: Sendable {
  /// The contents of the requested version.
  case contents(PackedRows)
  /// The file has changed: the query's present result, with its contents.
  case moved(RunResult)
}
