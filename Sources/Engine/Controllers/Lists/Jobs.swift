import LiveQuery
import Store

/// What readers do for one follower.
///
/// Owner: the follower's thread.
final class Jobs {
  /// What a job is for.
  enum Purpose {
    /// The first run of a query.
    case open(Opening)
    /// Another run of a list's query.
    case run(LiveList)
    /// Contents of a list's rows.
    case read(LiveList)
    case recompile(QueryShape)
    case check(SelfCheck.Pending)
  }

  /// By the job's number.
  @exclusivity(unchecked) private var purposes: [UInt64: Purpose] = [:]
  /// Runs that readers have begun since the last tick.
  @exclusivity(unchecked) private var begun: [BegunRun] = []
  private let readers: ReaderPool
  /// The mailbox for the results.
  private unowned let thread: FollowerThread

  init(_ readers: ReaderPool, _ thread: FollowerThread) {
    self.readers = readers
    self.thread = thread
  }

  /// Has a reader do something. Its result comes as a `ReaderReport`.
  ///
  /// - Parameters:
  ///   - requester: whose share of the readers it takes.
  ///   - tellsState: whether the next tick has to stop at the state that the reader sees.
  /// - Returns: the job's number.
  func post<Value: Sendable>(
    _ purpose: Purpose, for requester: Requester, tellsState: Bool = false,
    _ outcome: @escaping @Sendable (Result<Value, FreshetError>) -> ReaderReport.Outcome,
    _ body: @escaping @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Value
  ) -> UInt64 {
    let id = readers.newID()
    purposes[id] = purpose
    let mailbox = thread
    let report = { @Sendable (result: Result<Value, FreshetError>) in
      mailbox.post(.report(ReaderReport(id: id, outcome: outcome(result))))
    }
    readers.post(
      ReaderJob(id: id, requester: requester) { database, interruption throws(FreshetError) in
        if tellsState { mailbox.noteBegun(BegunRun(id: id, state: database.connection.place.state)) }
        report(.success(try body(database, interruption)))
      } failed: {
        report(.failure($0))
      })
    return id
  }

  /// Gives a job up. No result of it comes any more.
  func cancel(_ id: UInt64) {
    readers.cancel(id)
    purposes[id] = nil
  }

  /// What a job was for that has ended; nil when it was cancelled.
  func end(_ id: UInt64) -> Purpose? { purposes.removeValue(forKey: id) }

  /// Takes in which runs have begun. They are kept until `forgetBegun`, because a tick may fail.
  func takeBegun() -> [BegunRun] {
    begun = thread.takeBegun(after: begun)
    return begun
  }

  func forgetBegun() { if !begun.isEmpty { begun.removeAll(keepingCapacity: true) } }

  /// The list that a job runs, if it is a run.
  func list(runBy id: UInt64) -> LiveList? {
    if case .run(let list) = purposes[id] { list } else { nil }
  }
}
