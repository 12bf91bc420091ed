import GRDBSQLite
package import LiveQuery

/// Compiles what clients wrote on a connection of its own, under SQLite's authorizer, before any other connection sees it.
///
/// Owner: one thread at a time. Nothing is ever stepped here but EXPLAIN.
package final class FragmentChecker {
  private let connection: OpaquePointer
  private let audit = Audit()
  /// Whatever reads a table: see `refreshSchema`.
  private var schemaReader: PreparedStatement?

  /// What the authorizer saw of one statement.
  final class Audit {
    var reads: Set<ColumnRead> = []
    var selects = 0
    var denial: FreshetError?
    /// The statement is the checker's own.
    var isTrusted = false
  }

  struct ColumnRead: Hashable {
    var table: String
    /// Empty when only the table's rows are counted.
    var column: String
  }

  /// Opens the database at `path` for reading.
  package init(path: String) throws(FreshetError) {
    var connection: OpaquePointer?
    let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let connection else {
      let message = connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close(connection)
      throw FreshetError(.internal, "cannot open the database: \(message)")
    }
    self.connection = connection
    sqlite3_busy_timeout(connection, 5_000)
    for (limit, value) in Limits.all { sqlite3_limit(connection, limit, value) }
    sqlite3_set_authorizer(connection, authorize, Unmanaged.passUnretained(audit).toOpaque())
  }

  deinit {
    schemaReader = nil
    sqlite3_close(connection)
  }

  /// Looks whether the schema has changed. To be called before a query is compiled: a statement that is prepared and never
  /// stepped is compiled against the schema that the connection knows, however old.
  func refreshSchema() throws(FreshetError) {
    audit.isTrusted = true
    defer { audit.isTrusted = false }
    do throws(SQLiteFailure) {
      if schemaReader == nil {
        schemaReader = try PreparedStatement(connection, "SELECT 1 FROM main.sqlite_master LIMIT 1")
      }
      defer { schemaReader?.reset() }
      _ = try schemaReader?.step()
    } catch { throw FreshetError(queryFailure: error, place: nil) }
  }

  /// Compiles a statement.
  ///
  /// - Parameter place: the fragment that is new in it, for messages; nil for the whole query.
  /// - Returns: the statement, and what it reads.
  func compile(_ sql: String, place: String?) throws(FreshetError) -> (statement: PreparedStatement, audit: Audit) {
    audit.reads = []
    audit.selects = 0
    audit.denial = nil
    do throws(SQLiteFailure) {
      return (try PreparedStatement(connection, sql, isPersistent: false), audit)
    } catch {
      if let denial = audit.denial {
        throw FreshetError(denial.code, (place.map { "\($0): " } ?? "") + denial.message)
      }
      throw FreshetError(queryFailure: error, place: place)
    }
  }

  /// The collation under which SQLite sorts an expression.
  ///
  /// SQLite alone knows (a column's declaration counts, and which operand's does), and says so only in a program that
  /// compares: the key of the table that DISTINCT uses. Unary plus keeps the collation and keeps any index out.
  func collation(of expression: String, from: String, place: String) throws(FreshetError) -> FieldOrder.Collation {
    let sql = "EXPLAIN SELECT count(DISTINCT +(\(expression))) FROM \(from)"
    let (statement, _) = try compile(sql, place: place)
    let name = try? { () throws -> String? in
      while try statement.step() {
        guard case .text(let opcode) = statement.value(1), opcode.elementsEqual("OpenEphemeral".utf8),
          case .text(let key) = statement.value(5)
        else { continue }
        return String(decoding: key, as: UTF8.self)
      }
      return nil
    }()
    // "k(1,B)", "k(1,NOCASE)"
    let inner = name.flatMap { $0 }?.dropFirst("k(1,".count).dropLast() ?? ""
    if inner == "B" { return .binary }
    guard let collation = FieldOrder.Collation(rawValue: inner.uppercased()) else {
      throw .badQuery("\(place) sorts under a collation that is not BINARY, NOCASE or RTRIM")
    }
    return collation
  }

  /// In bytes.
  static let longestSQL = 256 << 10

  private enum Limits {
    /// Far above what queries need, far below what hurts.
    static let all: [(Int32, Int32)] = [
      (SQLITE_LIMIT_LENGTH, 16 << 20),
      (SQLITE_LIMIT_SQL_LENGTH, Int32(FragmentChecker.longestSQL)),
      (SQLITE_LIMIT_EXPR_DEPTH, 200),
      (SQLITE_LIMIT_COMPOUND_SELECT, 20),
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
      (SQLITE_LIMIT_ATTACHED, 0),
    ]
  }
}

/// SQLite's authorizer: a query selects, reads ordinary tables and calls functions of the list; nothing else.
private func authorize(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?, _ inner: UnsafePointer<CChar>?
) -> Int32 {
  guard let context else { return SQLITE_DENY }
  let audit = Unmanaged<FragmentChecker.Audit>.fromOpaque(context).takeUnretainedValue()
  if audit.isTrusted { return SQLITE_OK }
  let name = { (text: UnsafePointer<CChar>?) in text.map { String(cString: $0) } ?? "" }
  switch action {
  case SQLITE_SELECT:
    audit.selects += 1
    return SQLITE_OK
  case SQLITE_READ:
    let table = name(first)
    if hasNamePrefix(table, "sqlite_") || hasNamePrefix(table, ChangeLogSchema.prefix) {
      audit.denial = FreshetError(.notAllowed, "the table \(table) is not served")
      return SQLITE_DENY
    }
    audit.reads.insert(.init(table: table, column: name(second)))
    return SQLITE_OK
  case SQLITE_FUNCTION:
    if AllowedFunctions.names.contains(name(second).lowercased()) { return SQLITE_OK }
    audit.denial = FreshetError(.notAllowed, "the function \(name(second)) is not allowed")
    return SQLITE_DENY
  default:
    audit.denial = FreshetError(.notAllowed, "a query may do nothing but read")
    return SQLITE_DENY
  }
}

extension FreshetError {
  /// What SQLite says of a client's SQL, under the code that fits.
  init(queryFailure error: SQLiteFailure, place: String?) {
    let message = (place.map { "\($0): " } ?? "") + error.message
    if error.message.hasPrefix("no such table") {
      self.init(.noSuchTable, message)
    } else if error.message.hasPrefix("no such column") {
      self.init(.noSuchColumn, message)
    } else if error.primaryCode == SQLITE_INTERRUPT {
      self.init(.timeout, "the query took longer than it may")
    } else if error.primaryCode == SQLITE_TOOBIG {
      self.init(.tooLarge, message)
    } else if error.primaryCode == SQLITE_BUSY || error.primaryCode == SQLITE_LOCKED {
      self.init(.overloaded, message)
    } else if error.primaryCode == SQLITE_ERROR {
      self.init(.badQuery, message)
    } else {
      self.init(.internal, message)
    }
  }
}
