@_exported public import FreshetResults
import LiveQuery
import Wire

/// A database that a Freshet server serves: lists that stay up to date over the network.
///
/// ```swift
/// let database = RemoteDatabase("https://example.org", token: { try await session.token() })
/// let banks = database.results(Query(from: "bank", orderBy: ["name"], sectionBy: "state"), as: Bank.self)
/// try await banks.performFetch()
/// ```
///
/// All lists share one connection, which is made with the first of them. When it breaks they keep what they have, say so
/// (`FetchedResultsController.delay`), and go on with what changed meanwhile as soon as the server is reached again.
public final class RemoteDatabase: Sendable {
  private let source: ConnectionSource

  /// - Parameters:
  ///   - address: `http(s)://host:port` or `ws(s)://host:port/path`.
  ///   - token: gives the token that says who asks. Called for each connection, before a token expires, and when the server does not take
  ///     it any more: what was asked goes on meanwhile.
  ///   - transport: how connections are made.
  /// - Throws: `FreshetError` for an address that is none.
  public init(
    _ address: String, token: (@Sendable () async throws -> String)? = nil,
    transport: any LiveTransport = defaultTransport
  ) throws {
    source = ConnectionSource(Connection(try ServerAddress(address), token: token, transport: transport))
  }

  /// Ends the connection. Lists fail with `shutting_down`, transactions that were not answered with `disconnected`.
  public func close() { source.close() }

  /// A list of rows as they are. `window` is as in `LiveDatabase.results`.
  public func results(_ query: Query, window: Range<Int>? = nil) -> FetchedResultsController<ResultRow> {
    FetchedResultsController(query, window: window, source: source) { $0 }
  }

  /// A list of values of a type, decoded of their columns as `RowDecoder` does.
  public func results<Element: Decodable & Sendable>(
    _ query: Query, as type: Element.Type, window: Range<Int>? = nil
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: source) {
      try RowDecoder().decode(Element.self, from: $0)
    }
  }

  /// A list of what a closure makes of rows.
  public func results<Element: Sendable>(
    _ query: Query, window: Range<Int>? = nil, decode: @escaping @Sendable (ResultRow) throws -> Element
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: source, decode: decode)
  }

  /// Runs statements in one transaction, where the server lets its clients write.
  ///
  /// While the server cannot be reached it waits, and is sent once. At most 1,000 transactions wait for their answers. When the connection breaks before the answer, it is repeated under
  /// the same name, and the server runs it once at most.
  ///
  /// - Returns: once it is committed. A list whose `results.commit` has reached that of the outcome shows it.
  /// - Throws: `FreshetError`: what the server says, `outcome_unknown` when the server was restarted before it answered,
  ///   `queue_full` when too many wait.
  @discardableResult
  public func transact(_ statements: SQLStatement...) async throws -> TransactionOutcome {
    try await source.transact(.own(statements.map(\.transactionStatement)))
  }

  /// Runs a statement that the server's operator has published.
  @discardableResult
  public func transact(
    published name: String, parameters: [String: SQLValue] = [:]
  ) async throws -> TransactionOutcome {
    try await source.transact(.published(name: name, parameters: .named(parameters)))
  }
}

/// A statement of a transaction, with the values of its parameters.
public struct SQLStatement: Hashable, Sendable, ExpressibleByStringLiteral {
  public var sql: String
  public var parameters: Query.Parameters

  public init(_ sql: String, _ parameters: Query.Parameters = [:]) {
    self.sql = sql
    self.parameters = parameters
  }

  public init(stringLiteral sql: String) { self.init(sql) }

  var transactionStatement: Transaction.Statement { .init(sql: sql, parameters: parameters) }
}

/// What a transaction did.
public struct TransactionOutcome: Sendable {
  public struct Statement: Sendable {
    /// How many rows it inserted, updated or deleted.
    public let changes: Int
    /// Nil when it inserted none.
    public let lastInsertRowid: Int64?
    /// Those of `RETURNING`, or of a `SELECT`.
    public let rows: [ResultRow]
  }

  /// The state of the database that it led to.
  public let commit: Int64
  /// One for each statement. Empty for a repeated transaction whose results the server does not have any more.
  public let statements: [Statement]
}

extension ErrorCode {
  /// The server cannot be reached at the moment.
  public static let disconnected = ErrorCode(rawValue: "disconnected")
  /// Nobody can tell whether a transaction was committed: the server was restarted before it answered.
  public static let outcomeUnknown = ErrorCode(rawValue: "outcome_unknown")
  /// Too many transactions wait for their answers: this one was not sent.
  public static let queueFull = ErrorCode(rawValue: "queue_full")
}
