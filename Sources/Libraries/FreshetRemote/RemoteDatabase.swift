@_exported public import FreshetResults
import LiveQuery
import Wire

/// A database on a Freshet server: lists that stay up to date over the network.
///
/// ```swift
/// let database = RemoteDatabase("https://example.org", token: { try await session.token() })
/// let banks = database.results(Query(from: "bank", orderBy: ["name"], sectionBy: "state"), as: Bank.self)
/// try await banks.performFetch()
/// ```
///
/// All lists share one connection, which the first of them opens. When it breaks, lists keep their results, report the
/// reason (`FetchedResultsController.delay`), and continue with the changes since then as soon as the server can be
/// reached again.
public final class RemoteDatabase: Sendable {
  private let source: ConnectionSource

  /// - Parameters:
  ///   - address: `http(s)://host:port` or `ws(s)://host:port/path`.
  ///   - database: the name of one of the server's databases, where it has several.
  ///   - token: returns the token that identifies the client. Called for each connection, before a token expires, and
  ///     when the server rejects it; lists and transactions meanwhile continue.
  ///   - transport: how to connect.
  /// - Throws: `FreshetError` for an invalid address.
  public init(
    _ address: String, database: String? = nil, token: (@Sendable () async throws -> String)? = nil,
    transport: any LiveTransport
  ) throws {
    source = ConnectionSource(
      Connection(try ServerAddress(address, database: database), token: token, transport: transport))
  }

  /// Ends the connection. Lists fail with `shutting_down`, unanswered transactions with `disconnected`.
  public func close() { source.close() }

  /// A list of rows. `window` is as in `LiveDatabase.results`.
  public func results(_ query: Query, window: Range<Int>? = nil) -> FetchedResultsController<ResultRow> {
    FetchedResultsController(query, window: window, source: source) { $0 }
  }

  /// A list of values of a type, decoded from their columns by `RowDecoder`.
  public func results<Element: Decodable & Sendable>(
    _ query: Query, as type: Element.Type, window: Range<Int>? = nil
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: source) {
      try RowDecoder().decode(Element.self, from: $0)
    }
  }

  /// A list of values that a closure makes of rows.
  public func results<Element: Sendable>(
    _ query: Query, window: Range<Int>? = nil, decode: @escaping @Sendable (ResultRow) throws -> Element
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: source, decode: decode)
  }

  /// Every change of the rows that the client may read, by any program.
  /// A connection that breaks is opened again, and the changes since then follow. A slow reader gets more after it has
  /// read its messages.
  ///
  /// - Parameters:
  ///   - tables: nil: all.
  ///   - columns: by table, the columns that changes contain; all for tables that are missing here.
  ///   - conditions: by table, SQL that is true for the rows whose changes are wanted.
  ///   - position: the position of an earlier change, to continue after it.
  public func changes(
    of tables: [String]? = nil, columns: [String: [String]] = [:], where conditions: [String: String] = [:],
    since position: String? = nil
  ) -> DatabaseChanges {
    let request = ChangesRequest(tables: tables, columns: columns, filters: conditions)
    return DatabaseChanges { [source] in ConnectionChanges(source, request, since: position) }
  }

  /// Runs statements in one transaction, if the server lets its clients write.
  ///
  /// Without a connection the transaction waits, at most 1,000 of them. If the connection breaks before the answer, it
  /// is sent again under the same name, and the server runs it at most once.
  ///
  /// - Returns: the outcome, once it is committed. A list shows it when its `results.commit` has reached the outcome's.
  /// - Throws: `FreshetError`: the server's, `outcome_unknown` if the server was restarted before it answered,
  ///   `queue_full` if too many transactions wait.
  @discardableResult
  public func transact(_ statements: SQLStatement...) async throws -> TransactionOutcome {
    try await source.transact(.own(statements.map(\.transactionStatement)))
  }

  /// Runs a published statement.
  @discardableResult
  public func transact(
    published name: String, parameters: [String: SQLValue] = [:]
  ) async throws -> TransactionOutcome {
    try await source.transact(.published(name: name, parameters: .named(parameters)))
  }
}

/// A statement of a transaction, with its parameters' values.
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

/// The outcome of a transaction.
public struct TransactionOutcome: Sendable {
  public struct Statement: Sendable {
    /// How many rows the statement inserted, updated or deleted.
    public let changes: Int
    /// Nil if it inserted none.
    public let lastInsertRowid: Int64?
    /// The rows of `RETURNING` or of a `SELECT`.
    public let rows: [ResultRow]
  }

  /// The commit that shows the transaction.
  public let commit: Int64
  /// One entry per statement. Empty for a repeated transaction whose results the server no longer has.
  public let statements: [Statement]
}

extension ErrorCode {
  /// The server cannot be reached at present.
  public static let disconnected = ErrorCode(rawValue: "disconnected")
  /// It is unknown whether a transaction was committed, because the server was restarted before it answered.
  public static let outcomeUnknown = ErrorCode(rawValue: "outcome_unknown")
  /// Too many transactions wait for answers; this one was not sent.
  public static let queueFull = ErrorCode(rawValue: "queue_full")
}
