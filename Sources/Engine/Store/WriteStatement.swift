import CSQLite
import GRDBSQLite
import LiveQuery

/// One statement of a transaction as a client wrote it, checked as far as its text allows, and with its patterns replaced
/// (`PatternRules`).
struct WriteStatement {
  private(set) var sql: String
  /// Whether something in it costs more than the length of a value.
  let isCostly: Bool
  /// Those that it names, in lower case.
  let tableFunctions: Set<String>

  /// In bytes: a statement may bring many rows.
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
    // SQLite would pass over whatever follows the first.
    if tokens.dropLast().contains(where: { tokenizer.text(of: $0) == ";" }) {
      throw .badQuery("\(place) holds more than one statement: write a list")
    }
    try StatementRules.check(of: tokens, in: tokenizer, place: place)
    isCostly = tokens.indices.contains { PatternRules.isCostly(at: $0, of: tokens, in: tokenizer) }
    tableFunctions = AllowedFunctions.tables.intersection(tokens.map { tokenizer.unquotedText(of: $0).lowercased() })
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

/// What the authorizer saw of one statement of a transaction.
///
/// Owner: the thread of the writer. Mutable state: the weight so far, and the first reason to refuse the statement.
final class WriteAudit {
  var weight = StatementWeight()
  var denial: FreshetError?

  /// - Returns: what the authorizer answers.
  fileprivate func counts(_ count: (inout StatementWeight) throws(FreshetError) -> Void) -> Int32 {
    do throws(FreshetError) { try count(&weight) } catch {
      denial = error
      return SQLITE_DENY
    }
    return sqlite_budget_work(1) == 0 ? SQLITE_OK : SQLITE_DENY
  }
}

/// SQLite's authorizer for what clients write.
func authorizeWrite(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?, _ inner: UnsafePointer<CChar>?
) -> Int32 {
  guard let context else { return SQLITE_DENY }
  let audit = Unmanaged<WriteAudit>.fromOpaque(context).takeUnretainedValue()
  // What triggers and views do is their maker's doing.
  let isInner = inner != nil
  let isOwn = first.map { hasNamePrefix(String(cString: $0), ReservedNames.prefix) } ?? false
  switch action {
  case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
  case SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
    let isSchema = first.map { hasNamePrefix(String(cString: $0), "sqlite_") } ?? false
    guard isInner || (!isOwn && (action == SQLITE_READ || !isSchema)) else { return SQLITE_DENY }
    let table = first.map { String(cString: $0) } ?? ""
    return audit.counts { (weight) throws(FreshetError) in try weight.addColumn(of: table) }
  case SQLITE_FUNCTION:
    let name = second.map { String(cString: $0).lowercased() } ?? ""
    if ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"].contains(name) { return SQLITE_DENY }
    return audit.counts { (weight) throws(FreshetError) in try weight.addCall(of: name) }
  default: return SQLITE_DENY
  }
}
