import Controllers
import Feed
public import FreshetResults
import LiveQuery
import Requests
import Wire

extension LiveDatabase {
  /// Every change of the file's rows, by any program.
  ///
  /// - Parameters:
  ///   - tables: nil: all.
  ///   - columns: by table, the columns that changes contain; all for tables that are missing here.
  ///   - conditions: by table, SQL that is true for the rows whose changes are wanted.
  ///   - position: the position of an earlier change, to continue after it. Positions end with the `LiveDatabase`,
  ///     unless there is a `stateFolder`.
  public func changes(
    of tables: [String]? = nil, columns: [String: [String]] = [:], where conditions: [String: String] = [:],
    since position: String? = nil
  ) -> DatabaseChanges {
    let request = ChangesRequest(tables: tables, columns: columns, filters: conditions)
    return DatabaseChanges { [engine] in EngineChanges(engine, request, since: position) }
  }
}

/// One reader at the engine of this process.
private final class EngineChanges: ChangesReader {
  private let mailbox: ChangesMailbox<ChangesMessage>
  private let engine: Engine
  private let key: SubscriptionKey

  init(_ engine: Engine, _ request: ChangesRequest, since: String?) {
    self.engine = engine
    let session = engine.newSession()
    key = SubscriptionKey(session: session, id: "changes", number: 1)
    mailbox = ChangesMailbox { [feed = engine.pool.feed] in feed.requestTick() }
    engine.output.add(mailbox, session: session)
    do throws(FreshetError) {
      try request.check()
      engine.pool.feed.subscribe(FeedSubscription(key: key, request: request, access: Query.Access(), since: since))
    } catch { mailbox.put(.failure(error)) }
  }

  func next() async throws -> DatabaseChange {
    while true {
      if let change = try DatabaseChange(try await mailbox.next()) { return change }
    }
  }

  deinit {
    engine.output.remove(changesOf: key.session)
    engine.pool.feed.post(.sessionClosed(key.session))
  }
}

extension DatabaseChange {
  /// - Returns: nil for a message that does not concern a reader.
  fileprivate init?(_ message: ChangesMessage) throws {
    switch message {
    case .position(let position): self = .position(position)
    case .gap(let position, let reason): self = .gap(position: position, reason: reason)
    case .changes(_, let members): try self.init(JSONParser.parse(Array("{".utf8) + members + Array("}".utf8)))
    }
  }
}
