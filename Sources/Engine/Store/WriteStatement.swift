import CSQLite
import LiveQuery

/// One statement of a client's transaction, checked as far as its text allows, and with its patterns replaced
/// (`PatternRules`).
struct WriteStatement {
  private(set) var sql: String
  /// Whether the statement contains an operation whose cost is more than proportional to the length of its values.
  let isCostly: Bool
  /// Whether it is a SELECT, INSERT, UPDATE or DELETE. Compiling such a statement has no effect, except for
  /// constructors of virtual tables' modules.
  let isHarmlessToCompile: Bool

  private static let verbs: Set<String> = ["select", "values", "with", "insert", "replace", "update", "delete"]

  /// The longest statement, in bytes. It is long because a statement may insert many rows.
  private static let longest = 1 << 20

  /// - Throws: `bad_query`, `too_large`.
  init(_ sql: String, place: String) throws(FreshetError) {
    if sql.utf8.count > Self.longest {
      throw FreshetError(.tooLarge, "\(place) is longer than \(Self.longest) bytes")
    }
    let tokenizer = SQLTokenizer(sql)
    let tokens = tokenizer.filter { $0.kind != .comment }
    guard !tokens.isEmpty else { throw .badQuery("\(place) is empty") }
    if sql.utf8.contains(0) { throw .badQuery("\(place) holds a NUL character") }
    // SQLite would ignore everything after the first statement.
    if tokens.dropLast().contains(where: { tokenizer.text(of: $0) == ";" }) {
      throw .badQuery("\(place) holds more than one statement: write a list")
    }
    try StatementRules.check(of: tokens, in: tokenizer, place: place)
    isCostly = tokens.indices.contains { PatternRules.isCostly(at: $0, of: tokens, in: tokenizer) }
    isHarmlessToCompile = Self.verbs.contains(tokenizer.text(of: tokens[0]).lowercased())
    self.sql = Self.replaced(sql, tokens, tokenizer)
  }

  private static func replaced(_ sql: String, _ tokens: [SQLToken], _ tokenizer: SQLTokenizer) -> String {
    let bytes = Array(sql.utf8)
    var result: [UInt8] = []
    var position = 0
    for (index, token) in tokens.enumerated() {
      guard let new = PatternRules.replacement(at: index, of: tokens, in: tokenizer) else { continue }
      result += bytes[position..<token.range.lowerBound]
      result += Array(new.utf8)
      position = token.range.upperBound
    }
    return position == 0 ? sql : String(decoding: result + bytes[position...], as: UTF8.self)
  }
}

extension WriteStatement {
  /// Compiles the statement under `authorizeWrite`.
  ///
  /// SQLite connects a virtual table when a statement or trigger first names it. The table's constructor runs SQL on
  /// the same connection (FTS5: `PRAGMA data_version`). The authorizer cannot distinguish this SQL from the client's,
  /// and denies it. In that case the statement is compiled without the authorizer, which only connects the tables that
  /// it names, and then once more with it.
  ///
  /// - Parameter withoutAuthorizer: calls its argument while the connection has no authorizer.
  func compiled(
    on connection: OpaquePointer, _ audit: WriteAudit, withoutAuthorizer: (() -> Void) -> Void
  ) throws(SQLiteFailure) -> PreparedStatement {
    do throws(SQLiteFailure) { return try audit.compiling(sql, connection) } catch {
      guard audit.hasDenied, isHarmlessToCompile else { throw error }
    }
    withoutAuthorizer { _ = try? PreparedStatement(bounded: sql, connection) }
    return try audit.compiling(sql, connection)
  }
}

/// Records the reads and writes of one statement of a transaction, from the authorizer.
///
/// Owner: the thread of the writer. Mutable state: the weight so far, and the first reason to refuse the statement.
final class WriteAudit {
  var weight = StatementWeight()
  var denial: FreshetError?
  /// Whether the client's statement is being compiled. Otherwise SQLite compiles statements of a module: full-text and
  /// R*Tree indexes maintain their tables with statements, which have the rights of the index's maker, as triggers do.
  private var isCompiling = false
  /// Whether something was denied that the client's statement or a module's constructor requested.
  fileprivate private(set) var hasDenied = false

  fileprivate func compiling(_ sql: String, _ connection: OpaquePointer) throws(SQLiteFailure) -> PreparedStatement {
    (weight, denial, hasDenied, isCompiling) = (StatementWeight(), nil, false, true)
    defer { isCompiling = false }
    return try PreparedStatement(bounded: sql, connection)
  }

  /// - Returns: the authorizer's answer.
  fileprivate func counts(_ count: (inout StatementWeight) throws(FreshetError) -> Void) -> Int32 {
    if isCompiling {
      do throws(FreshetError) { try count(&weight) } catch {
        denial = error
        return SQLITE_DENY
      }
    }
    return sqlite_budget_work(1) == 0 ? SQLITE_OK : SQLITE_DENY
  }

  /// - Returns: the authorizer's answer to an action that clients may not do.
  fileprivate func answer(_ action: Int32, to name: String, hasArgument: Bool) -> Int32 {
    hasDenied = true
    if isCompiling { return SQLITE_DENY }
    switch action {
    // FTS3 creates its table of statistics when it first needs one.
    case SQLITE_SAVEPOINT, SQLITE_CREATE_TABLE: return SQLITE_OK
    case SQLITE_PRAGMA: return !hasArgument && Self.pragmas.contains(name.lowercased()) ? SQLITE_OK : SQLITE_DENY
    default: return SQLITE_DENY
    }
  }

  /// The pragmas that full-text indexes use. They read a number.
  private static let pragmas: Set<String> = ["data_version", "page_size"]

  /// Whether a statement may change the schema's table. Only modules may, to create a table.
  fileprivate var mayChangeSchema: Bool { !isCompiling }
}

/// SQLite's authorizer for clients' SQL.
func authorizeWrite(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?, _ inner: UnsafePointer<CChar>?
) -> Int32 {
  guard let context else { return SQLITE_DENY }
  let audit = Unmanaged<WriteAudit>.fromOpaque(context).takeUnretainedValue()
  // Triggers and views have the rights of their maker.
  let isInner = inner != nil
  let name = first.map { String(cString: $0) } ?? ""
  switch action {
  case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
  case SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
    let isOwn = hasNamePrefix(name, ReservedNames.prefix)
    let isSchema = hasNamePrefix(name, "sqlite_") && !audit.mayChangeSchema
    guard isInner || (!isOwn && (action == SQLITE_READ || !isSchema)) else {
      return audit.answer(action, to: name, hasArgument: false)
    }
    return audit.counts { (weight) throws(FreshetError) in try weight.addColumn(of: name) }
  case SQLITE_FUNCTION:
    let name = second.map { String(cString: $0).lowercased() } ?? ""
    if ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"].contains(name) { return SQLITE_DENY }
    return audit.counts { (weight) throws(FreshetError) in try weight.addCall(of: name) }
  default: return audit.answer(action, to: name, hasArgument: second != nil)
  }
}
