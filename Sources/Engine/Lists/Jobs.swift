import Following
import LiveQuery
package import Requests
import Store

/// The jobs that readers do for one follower.
///
/// Owner: the follower's thread.
package final class Jobs {
  /// Why a job was posted.
  package enum Purpose {
    /// A query's first run.
    case open(Opening)
    /// A further run of a list's query.
    case run(LiveList)
    /// Reading the contents of a list's rows.
    case read(LiveList)
    case recompile(QueryShape)
    case check(SelfCheck.Pending)
  }

  /// Keyed by the job's number.
  @exclusivity(unchecked) private var purposes: [UInt64: Purpose] = [:]
  /// Runs that readers have begun since the last tick.
  @exclusivity(unchecked) private var begun: [BegunRun] = []
  private let readers: ReaderPool
  /// Receives the results.
  private unowned let receiver: any ReportReceiver

  package init(_ readers: ReaderPool, _ receiver: any ReportReceiver) {
    self.readers = readers
    self.receiver = receiver
  }

  /// Posts a job. Its result arrives as a `ReaderReport`.
  ///
  /// - Parameters:
  ///   - requester: the client whose share of the readers the job takes.
  ///   - tellsState: whether the next tick must stop at the state that the reader sees.
  /// - Returns: the job's number.
  func post<Value: Sendable>(
    _ purpose: Purpose, for requester: Requester, tellsState: Bool = false,
    _ outcome: @escaping @Sendable (Result<Value, FreshetError>) -> ReaderReport.Outcome,
    _ body: @escaping @Sendable (ReaderDatabase, Interruption) throws(FreshetError) -> Value
  ) -> UInt64 {
    let id = readers.newID()
    purposes[id] = purpose
    let mailbox = receiver
    let report = { @Sendable (result: Result<Value, FreshetError>) in
      mailbox.post(ReaderReport(id: id, outcome: outcome(result)))
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

  /// Cancels a job: it sends no result from now on.
  func cancel(_ id: UInt64) {
    readers.cancel(id)
    purposes[id] = nil
  }

  /// - Returns: the purpose of a job that has ended; nil if it was cancelled.
  package func end(_ id: UInt64) -> Purpose? { purposes.removeValue(forKey: id) }

  /// Collects the runs that have begun. They are kept until `forgetBegun`, because a tick may fail.
  package func takeBegun() -> [BegunRun] {
    begun = receiver.takeBegun(after: begun)
    return begun
  }

  func forgetBegun() { if !begun.isEmpty { begun.removeAll(keepingCapacity: true) } }

  /// The list that a job runs, if it is a run.
  func list(runBy id: UInt64) -> LiveList? {
    if case .run(let list) = purposes[id] { list } else { nil }
  }
}
