@_exported public import FreshetResults
public import Logging

/// An SQLite file whose queries are followed: lists stay up to date when any process writes to it.
///
/// ```swift
/// let database = try LiveDatabase(path: "app.sqlite")
/// let banks = database.results(Query(from: "bank", orderBy: ["name"], sectionBy: "state"))
/// try await banks.performFetch()
/// ```
///
/// Its own threads read changed rows from the pages that commits wrote, and write nothing to the file: this process may
/// write with GRDB, with SQLite's C functions, or not at all. Lists with equal queries share the work.
///
/// The file may be absent at first, and may be replaced: lists follow the file that has the name. One `LiveDatabase`
/// per file and process is enough.
public final class LiveDatabase: Sendable {
  public struct Configuration: Sendable {
    /// Threads that follow lists. One thread follows thousands of lists.
    public var followers = 1
    /// Threads that run queries for the first time, and queries that cannot be followed incrementally.
    public var readers = 2
    /// The longest that a query may run.
    public var queryTimeout = Duration.seconds(30)
    /// The most rows that a list may have.
    public var rowLimit = 10_000_000
    /// The most memory for finding changed rows, in bytes. Beyond it, following large tables reads more.
    public var captureMemory = 256 << 20
    /// How long a list without a controller is still followed, so that it reopens at once.
    public var linger = Duration.seconds(60)
    /// A folder of this user in which the state of the file is kept for the next `LiveDatabase` of the file, in this or
    /// another process: tables are not read again, and positions of changes stay valid. It holds rows of tables whose
    /// changes are read. nil: nothing is kept.
    public var stateFolder: String?
    /// Receives the reason when the file cannot be read.
    public var logger = Logger(label: "freshet")

    public init() {}
  }

  let engine: Engine
  public let path: String

  /// - Throws: `FreshetError` if the file exists and cannot be read as a database. An absent file is waited for.
  public init(path: String, configuration: Configuration = Configuration()) throws {
    self.path = path
    engine = try Engine(path: path, configuration)
  }

  /// Ends all lists: their controllers fail with `shutting_down`. Blocks until the threads have ended.
  public func close() { engine.close() }
}

extension LiveDatabase {
  /// A list of rows.
  ///
  /// - Parameters:
  ///   - query: selects the list's rows.
  ///   - window: the offsets whose contents are wanted at first; nil: all. A list of a million rows needs a window:
  ///     sections, counts and index paths cover all rows, and the visible rows have contents.
  public func results(_ query: Query, window: Range<Int>? = nil) -> FetchedResultsController<ResultRow> {
    FetchedResultsController(query, window: window, source: engine) { $0 }
  }

  /// A list of values of a type, decoded from their columns by `RowDecoder`.
  @_disfavoredOverload
  public func results<Element: Decodable & Sendable>(
    _ query: Query, as type: Element.Type, window: Range<Int>? = nil
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: engine) { try RowDecoder().decode(Element.self, from: $0) }
  }

  /// A list of values that a closure makes of rows.
  public func results<Element: Sendable>(
    _ query: Query, window: Range<Int>? = nil, decode: @escaping @Sendable (ResultRow) throws -> Element
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: engine, decode: decode)
  }
}
