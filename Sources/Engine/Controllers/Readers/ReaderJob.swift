package import ChangeCapture
import LiveQuery
import QueryCompiler
import RankedCollections
package import Store

/// Who asks something of readers, which are shared fairly between all of them.
enum Requester: Hashable, Sendable {
  /// A session or stream.
  case session(UInt64)
  /// A request for a snapshot.
  case request(UInt64)
  /// A request for an explanation or the schema, which nothing else shares.
  case question(UInt64)
  /// The server itself, and requests without an id.
  case server

  static func of(question id: UInt64?) -> Requester { id.map { .question($0) } ?? .server }
}

/// What a reader is asked to do.
///
/// Exactly one of `body` and `failed` is called, on the reader's thread, unless the job is cancelled first; then possibly neither.
struct ReaderJob: Sendable {
  /// Never used twice in a process.
  let id: UInt64
  let requester: Requester
  /// Runs in a read transaction.
  let body: @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Void
  /// Told why it could not be done.
  let failed: @Sendable (FreshetError) -> Void
  /// It has run long already, and gave way to others then.
  var isLong = false
  /// When it was put into the queue.
  var postedAt = Instant.distantPast
}

/// A reader runs a followed query, in a state that no tick may have seen.
struct BegunRun: Sendable {
  /// Of the job.
  let id: UInt64
  let state: StateName
}

/// A run of a query on a reader's thread.
// @unchecked: a value that is handed from one thread to another; trees share nodes that are changed in place only by a single
// owner.
struct RunRequest: @unchecked Sendable {
  let query: Query
  /// Nil: it is to be compiled.
  var compiled: CompiledQuery?
  /// What is to be turned into the new result.
  var before: (editor: SectionedTreeEditor, memory: ReaderMemory)?
  /// The contents that somebody waits for, as a window of the result; nil: nobody does.
  var wanted: WantedContents?
  let settings: ReaderSettings
  /// From compiling to the last content.
  let timeout: Nanoseconds
}

/// Rows whose contents are wanted.
struct WantedContents: Hashable, Sendable {
  /// Nil: all.
  var window: Window?

  /// Of a result with more rows it costs less to look the wanted ones up than to keep all that come by.
  var rowsToKeep: Int { window.map { 4 * min($0.limit, 1 << 20) } ?? .max }

  func range(total: Int) -> Range<Int> { window?.range(total: total) ?? 0..<total }
}

/// What a run gave, and of which state of the file.
struct RunResult: Sendable {
  let compiled: CompiledQuery
  let fetched: FetchedResult
  /// What was wanted.
  let contents: (wanted: WantedContents, rows: PackedRows)?
  let place: StatePlace
  let duration: Nanoseconds
}

/// A state of a file, as two connections can compare it.
package struct StatePlace: Sendable {
  package let file: FileIdentity
  package let state: StateName
  package let schemaVersion: Int64
  /// Of a replica's file.
  package let position: ReplicaPosition?

  /// Whether results of one can be brought to the other.
  package func hasSameSchema(as other: StatePlace) -> Bool {
    file == other.file && schemaVersion == other.schemaVersion && position?.epoch == other.position?.epoch
  }

  package func isSame(as other: StatePlace) -> Bool { hasSameSchema(as: other) && state.isSame(as: other.state) }
}

/// Contents of a version, read on a reader's thread.
// @unchecked: as `RunRequest`.
struct ReadRequest: @unchecked Sendable {
  let run: RunRequest
  let wanted: WantedContents
  let tree: SectionedTree
  /// The state that the version shows.
  let place: StatePlace
}

/// A version is to be compared with a fresh run, on a reader's thread.
// @unchecked: as `RunRequest`.
struct CheckRequest: @unchecked Sendable {
  /// `before` is what is confirmed to differ; nil: it is not suspected yet.
  let run: RunRequest
  let tree: SectionedTree
  let alongside: [NamedValue]
  /// The state that the version shows.
  let place: StatePlace
}

/// What became of a check.
enum CheckResult: Sendable {
  case agrees
  case differs(ResultDivergence)
  /// The file is in another state by now.
  case moved
}

/// What a reader tells a follower about a job.
package struct ReaderReport: Sendable {
  let id: UInt64
  let outcome: Outcome

  enum Outcome: Sendable {
    /// Of a query that was not followed yet.
    case opened(Result<RunResult, FreshetError>)
    /// Of a followed query.
    case ran(Result<RunResult, FreshetError>)
    case read(Result<ReadResult, FreshetError>)
    /// What followed queries share, after a change of the schema.
    case recompiled(Result<Recompilation, FreshetError>)
    case checked(Result<CheckResult, FreshetError>)
  }
}

extension ReaderReport {
  /// The same job, failed: the database cannot be read, so what the reader has made cannot be joined.
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

/// A query compiled for another schema, or what is wrong with it there, and the state that has the schema.
struct Recompilation: Sendable {
  let compiled: Result<CompiledQuery, FreshetError>
  let place: StatePlace
}

/// The answer to a `ReadRequest`.
enum ReadResult: Sendable {
  /// Of the version that was asked for.
  case contents(PackedRows)
  /// The file is in another state by now: the result there, with its contents.
  case moved(RunResult)
}
