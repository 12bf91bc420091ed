import Foundation
import GRDB
import LiveQuery
import Store
import Synchronization
import TestSupport

@testable import QueryCompiler

/// Compiles clients' queries against one schema, as a follower does.
struct CompilerFixture {
  static let schema = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE, c REAL, "desc" INT, "odd ""name" TEXT);
    CREATE TABLE u(k TEXT PRIMARY KEY, n INT) WITHOUT ROWID;
    CREATE TABLE v(x);
    CREATE VIEW w AS SELECT 1 AS x;
    CREATE TABLE _freshet_log(x);
    CREATE TABLE _freshet_meta(x);
    CREATE VIRTUAL TABLE f USING fts5(x);
    """

  private let checker: FragmentChecker

  private init() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("t.sqlite")
    try SQLiteShell(path: path).run(Self.schema + "\n;PRAGMA journal_mode=WAL;")
    let schema = try DatabaseQueue(path: path).read { try DatabaseSchema.read($0.sqliteConnection!) }
    checker = try FragmentChecker(path: path, role: RoleSchema(unrestricted: schema))
    // From here on the files are open, and the folder may go.
    _ = try QueryCompiler.compile(Query(from: "t"), checker: checker)
  }

  private static let shared = Mutex(Result { try CompilerFixture() })

  /// The compiled query, or the error.
  static func compile(_ query: Query) throws -> Result<CompiledQuery, FreshetError> {
    try shared.withLock { fixture in
      let fixture = try fixture.get()
      do throws(FreshetError) {
        return .success(try QueryCompiler.compile(query, checker: fixture.checker))
      } catch { return .failure(error) }
    }
  }

  /// The error as `code: message`, or the compiled query.
  static func refusal(_ query: Query) throws -> String {
    switch try compile(query) {
    case .success(let compiled): return "accepted: \(compiled.askedSQL)"
    case .failure(let error): return "\(error.code.rawValue): \(error.message)"
    }
  }

  /// A query over `t` with one fragment.
  static func query(_ place: String, _ text: String) -> Query {
    var query = Query(from: "t")
    switch place {
    case "from": query.from = text
    case "select[0]": query.select = [text]
    case "where": query.filter = text
    case "groupBy[0]":
      query.groupBy = [text]
      query.select = ["count(*) AS n"]
    case "having":
      query.groupBy = ["id"]
      query.having = text
    case "sectionBy": query.sectionBy = .init(text)
    case "sectionBy.indexTitle":
      query.sectionBy = .init("a")
      query.sectionBy?.indexTitle = text
    case "orderBy[0]": query.orderBy = [text]
    case "alongside.x": query.alongside = ["x": text]
    default: query.key = [text]
    }
    return query
  }

  /// The places of a query in which an expression over a row may stand.
  static let expressionPlaces = [
    "select[0]", "where", "groupBy[0]", "having", "sectionBy", "sectionBy.indexTitle", "orderBy[0]", "key[0]",
  ]
}
