import Store

/// The clauses of a plain `SELECT` that other code has written: `SELECT … FROM … WHERE … GROUP BY … HAVING … ORDER BY …
/// LIMIT …`.
struct SelectStatement {
  private(set) var columns: [String] = []
  private(set) var from = ""
  private(set) var filter: String?
  private(set) var groupBy: [String] = []
  private(set) var having: String?
  private(set) var orderBy: [String] = []
  private(set) var limit: Int?

  /// - Returns: nil for any other statement: a compound one, one with common table expressions, `DISTINCT` or `OFFSET`.
  init?(_ sql: String) {
    let bytes = Array(sql.utf8)
    let tokenizer = SQLTokenizer(bytes)
    var depth = 0
    var clause = Clause.start
    var begin = 0
    var commas: [Int] = []
    var parts: [Clause: [String]] = [:]
    var end = bytes.count
    var previous = ""

    func close(at position: Int) {
      var bounds = [begin] + commas.flatMap { [$0, $0 + 1] } + [position]
      if clause == .from || clause == .filter || clause == .having { bounds = [begin, position] }
      parts[clause] = stride(from: 0, to: bounds.count, by: 2).map { Self.text(bytes[bounds[$0]..<bounds[$0 + 1]]) }
      commas = []
    }

    for token in tokenizer {
      let text = tokenizer.text(of: token)
      let word = token.kind == .identifier ? text.uppercased() : text
      defer { previous = word }
      switch word {
      case "(": depth += 1
      case ")": depth -= 1
      case "," where depth == 0: commas.append(token.range.lowerBound)
      case ";" where depth == 0: end = min(end, token.range.lowerBound)
      case "DISTINCT" where depth == 0 && previous == "SELECT": return nil
      case "WITH", "UNION", "INTERSECT", "EXCEPT", "WINDOW", "OFFSET":
        if depth == 0 && token.kind == .identifier { return nil }
      // `GROUP BY`, `ORDER BY`.
      case "BY" where depth == 0 && token.kind == .identifier: begin = token.range.upperBound
      default:
        guard depth == 0, token.kind == .identifier, let next = Clause(rawValue: word) else { continue }
        if clause != .start { close(at: token.range.lowerBound) }
        (clause, begin) = (next, token.range.upperBound)
      }
    }
    close(at: end)
    guard let from = parts[.from]?.first else { return nil }
    self.from = from
    columns = parts[.select] ?? []
    filter = parts[.filter]?.first
    groupBy = parts[.group] ?? []
    having = parts[.having]?.first
    orderBy = parts[.order] ?? []
    if let text = parts[.limit] {
      guard text.count == 1, let number = Int(text[0]) else { return nil }
      limit = number
    }
  }

  private enum Clause: String {
    /// Before `SELECT`; not a keyword.
    case start = ""
    case select = "SELECT"
    case from = "FROM"
    case filter = "WHERE"
    case group = "GROUP"
    case having = "HAVING"
    case order = "ORDER"
    case limit = "LIMIT"
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    let bytes = bytes.drop(while: isSpace)
    guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(decoding: bytes[...last], as: UTF8.self)
  }
}
