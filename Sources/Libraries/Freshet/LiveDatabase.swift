import Controllers
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
/// Changed rows are read from the pages that commits wrote, by threads of its own, and nothing is written to the file: this process may
/// write with GRDB, with SQLite's C functions, or not at all. Lists with equal queries share the work.
///
/// The file may be absent at first, and may be replaced: lists follow what has the name. One `LiveDatabase` a file and process is enough.
public final class LiveDatabase: Sendable {
  public struct Configuration: Sendable {
    /// Threads that follow lists. One follows thousands.
    public var followers = 1
    /// Threads that run queries for the first time, and those that have to run again.
    public var readers = 2
    /// The longest that a query may run.
    public var queryTimeout = Duration.seconds(30)
    /// The most rows that a list may have.
    public var rowLimit = 10_000_000
    /// The most memory that finding changed rows may take, in bytes. Larger tables are followed with more reading.
    public var captureMemory = 256 << 20
    /// How long a list without a controller is still followed, so that it opens at once.
    public var linger = Duration.seconds(60)
    /// Where it says that the file cannot be read.
    public var logger = Logger(label: "freshet")

    public init() {}
  }

  let engine: Engine
  public let path: String

  /// - Throws: `FreshetError`, when there is a file that cannot be read as a database. A file that is not there yet is waited for.
  public init(path: String, configuration: Configuration = Configuration()) throws {
    self.path = path
    engine = try Engine(path: path, configuration)
  }

  /// Ends all its lists: their controllers fail with `shutting_down`. Blocks until its threads have ended.
  public func close() { engine.close() }
}

extension LiveDatabase {
  /// A list of rows as they are.
  ///
  /// - Parameters:
  ///   - query: what the list shows.
  ///   - window: the offsets whose contents are wanted at first; nil for all. A list of a million rows takes a window: all of it has
  ///     sections, counts and index paths, and the rows that are seen have contents.
  public func results(_ query: Query, window: Range<Int>? = nil) -> FetchedResultsController<ResultRow> {
    FetchedResultsController(query, window: window, source: engine) { $0 }
  }

  /// A list of values of a type, decoded of their columns as `RowDecoder` does.
  @_disfavoredOverload
  public func results<Element: Decodable & Sendable>(
    _ query: Query, as type: Element.Type, window: Range<Int>? = nil
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: engine) { try RowDecoder().decode(Element.self, from: $0) }
  }

  /// A list of what a closure makes of rows.
  public func results<Element: Sendable>(
    _ query: Query, window: Range<Int>? = nil, decode: @escaping @Sendable (ResultRow) throws -> Element
  ) -> FetchedResultsController<Element> {
    FetchedResultsController(query, window: window, source: engine, decode: decode)
  }
}
