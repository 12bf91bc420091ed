import CSQLite
import Foundation
public import FreshetResults
public import GRDB
import Store

extension LiveDatabase {
  /// A list of GRDB's records.
  public func results<Record: FetchableRecord & Sendable>(
    _ query: Query, as type: Record.Type, window: Range<Int>? = nil
  ) -> FetchedResultsController<Record> {
    results(query, window: window) { try Record(row: GRDB.Row($0)) }
  }

  /// A list of what a GRDB request fetches, optionally in sections.
  ///
  /// ```swift
  /// try database.results(Player.filter(Column("score") > 100).order(Column("name")), sectionBy: "team")
  /// try database.results(SQLRequest<Player>(sql: "SELECT * FROM player WHERE team = ?", arguments: ["Red"]))
  /// ```
  ///
  /// - Parameters:
  ///   - request: selects the list's rows.
  ///   - sectionBy: the values that the rows of a section share.
  ///   - key: what identifies a row, if not the primary key of the first table, the columns of GROUP BY, or all columns
  ///     of DISTINCT, UNION, INTERSECT and EXCEPT.
  ///   - window: the offsets whose contents are wanted at first; nil: all.
  /// - Throws: `FreshetError` for a request whose records combine several tables' rows (`including(required:)`);
  ///   `DatabaseError` for one that SQLite rejects. Associations that GRDB fetches with separate requests
  ///   (`including(all:)`) are not part of the list.
  public func results<Request: FetchRequest>(
    _ request: Request, key: [String] = [], sectionBy: Query.SectionBy? = nil, window: Range<Int>? = nil
  ) throws -> FetchedResultsController<Request.RowDecoder>
  where Request.RowDecoder: FetchableRecord & Sendable {
    var configuration = GRDB.Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { db in if let connection = db.sqliteConnection { WALResetBug.avoid(connection) } }
    // A request does not name its columns: SQLite and the schema do.
    let query = try DatabaseQueue(path: path, configuration: configuration).read { db in
      try Query(request, in: db, key: key, sectionBy: sectionBy)
    }
    return results(query, as: Request.RowDecoder.self, window: window)
  }
}

extension Query {
  /// The query of a GRDB request.
  ///
  /// - Throws: see `LiveDatabase.results(_:key:sectionBy:window:)`.
  public init(
    _ request: some FetchRequest, in db: Database, key: [String] = [], sectionBy: SectionBy? = nil
  ) throws {
    let prepared = try request.makePreparedRequest(db, forSingleResult: false)
    guard prepared.adapter == nil else {
      throw FreshetError(.badQuery, "a request whose rows are adapted, as those with associations are, is no list")
    }
    let sql = prepared.statement.sql
    let parameters = try Self.parameters(of: prepared.statement, db)
    try self.init(sql: sql, parameters: parameters, sectionBy: sectionBy, key: key)
    // GRDB writes this for all columns of the request's table.
    if select == ["*"] || select.count == 1 && select[0].hasSuffix(".*") && from.hasPrefix(select[0].dropLast(2)) {
      select = []
    }
  }

  /// A statement does not expose its arguments. Binding them to another statement lets SQLite print them.
  private static func parameters(of statement: Statement, _ db: Database) throws -> Parameters {
    let count = sqlite3_bind_parameter_count(statement.sqliteStatement)
    if count == 0 { return [:] }
    let names = (1...count).map {
      sqlite3_bind_parameter_name(statement.sqliteStatement, $0).map { String(cString: $0) }
    }
    let terms = names.map { $0 ?? "?" }.joined(separator: ", ")
    guard let row = try GRDB.Row.fetchOne(db, sql: "SELECT \(terms)", arguments: statement.arguments) else {
      return [:]
    }
    let values = Array(row.databaseValues.map { SQLValue($0) })
    if names.allSatisfy({ $0 == nil }) { return .positional(values) }
    guard names.allSatisfy({ $0 != nil && $0?.first != "?" }) else {
      throw FreshetError(.badQuery, "a request has parameters with names or without, not both")
    }
    return .named(Dictionary(zip(names.map { String($0!.dropFirst()) }, values)) { first, _ in first })
  }
}

extension SQLValue {
  init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let number): self = .integer(number)
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .blob(let data): self = .blob(Array(data))
    }
  }
}

extension GRDB.Row {
  /// - Precondition: column names are distinct, because GRDB's rows are built from a dictionary.
  fileprivate convenience init(_ row: ResultRow) {
    self.init(Dictionary(zip(row.columns, row.values.map(\.databaseValue))) { first, _ in first })
  }
}

extension SQLValue: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .real(let number): number.databaseValue
    case .text(let text): text.databaseValue
    case .blob(let bytes): Data(bytes).databaseValue
    }
  }

  public static func fromDatabaseValue(_ value: DatabaseValue) -> SQLValue? { SQLValue(value) }
}
