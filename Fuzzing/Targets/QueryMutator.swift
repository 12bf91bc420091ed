import CFuzzing
import LiveQuery

@testable import Store

/// Changes queries token by token: changes byte by byte, which are libFuzzer's own, rarely leave SQL that compiles.
struct QueryMutator {
  private var generator: Generator

  private init(seed: UInt32) { generator = Generator(state: UInt64(seed) | 1) }

  /// - Returns: the new length; nil to have libFuzzer do it.
  static func mutate(_ bytes: UnsafeMutableRawBufferPointer, count: Int, seed: UInt32) -> Int? {
    var mutator = QueryMutator(seed: seed)
    if mutator.chance(30) { return nil }
    var lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
    for _ in 0...mutator.below(3) { mutator.change(&lines) }
    let result = Array(lines.joined(separator: "\n").utf8)
    guard result.count <= bytes.count, !result.isEmpty else { return nil }
    bytes.copyBytes(from: result)
    return result.count
  }

  private mutating func change(_ lines: inout [String]) {
    if lines.isEmpty || chance(10) {
      lines.append(pick(["s", "w", "g", "h", "S", "T", "N", "o", "k", "a", "p"]) + phrase())
      return
    }
    let index = below(lines.count)
    if chance(5), lines.count > 1 {
      lines.remove(at: index)
      return
    }
    let letter = lines[index].prefix(1)
    if letter == "R" {
      lines[index] = "R\(below(3))"
    } else if chance(15) {
      lines[index] = letter + (letter == "f" ? source() : phrase())
    } else {
      lines[index] = letter + changed(String(lines[index].dropFirst()))
    }
  }

  /// A text with one of its tokens replaced, taken out, doubled, or another put in front.
  private mutating func changed(_ text: String) -> String {
    let tokenizer = SQLTokenizer(text)
    var tokens = tokenizer.map { tokenizer.text(of: $0) }
    if tokens.isEmpty { return phrase() }
    let index = below(tokens.count)
    switch below(6) {
    case 0, 1: tokens[index] = word()
    case 2: tokens.insert(word(), at: index)
    case 3: tokens.remove(at: index)
    case 4: tokens[index] = "(\(phrase()))"
    default: tokens.swapAt(index, below(tokens.count))
    }
    return tokens.joined(separator: " ")
  }

  private mutating func word() -> String { pick(chance(50) ? Self.names : Self.words) }

  private mutating func source() -> String {
    switch below(5) {
    case 0: "\(pick(Self.tables)) JOIN \(pick(Self.tables)) ON \(phrase())"
    case 1: "\(pick(Self.tables)) AS \(pick(Self.names)), \(pick(Self.tables))"
    case 2: "(SELECT \(phrase()) AS id FROM \(pick(Self.tables))) AS s"
    case 3: "\(pick(Self.tables)) LEFT JOIN \(pick(Self.tables)) USING (\(pick(Self.names)))"
    default: pick(Self.tables)
    }
  }

  private mutating func phrase(depth: Int = 0) -> String {
    if depth > 2 { return pick(Self.names) }
    switch below(12) {
    case 0: return "(SELECT \(phrase(depth: depth + 1)) FROM \(pick(Self.tables)))"
    case 1: return "EXISTS (SELECT 1 FROM \(pick(Self.tables)) WHERE \(phrase(depth: depth + 1)))"
    case 2: return "\(pick(Self.names)) IN \(pick(Self.tables))"
    case 3: return "\(pick(Self.functions))(\(phrase(depth: depth + 1)))"
    case 4:
      return
        "(WITH \(pick(Self.tables)) AS (SELECT * FROM \(pick(Self.tables))) SELECT \(phrase(depth: depth + 1)) FROM \(pick(Self.tables)))"
    case 5: return "\(pick(Self.names)) \(pick(Self.operators)) \(phrase(depth: depth + 1))"
    case 6: return "\(pick(Self.tables)).\(pick(Self.names))"
    case 7: return "CASE WHEN \(phrase(depth: depth + 1)) THEN \(phrase(depth: depth + 1)) ELSE \(pick(Self.names)) END"
    case 8:
      return
        "(SELECT \(pick(Self.names)) FROM \(pick(Self.tables)) UNION ALL SELECT \(pick(Self.names)) FROM \(pick(Self.tables)))"
    case 9: return "count(*) OVER (PARTITION BY \(phrase(depth: depth + 1)))"
    default: return pick(Self.names)
    }
  }

  private mutating func below(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  private mutating func pick(_ list: [String]) -> String { list[below(list.count)] }

  private static let tables = [
    "account", "entry", "item", "log", "part", "doc", "page", "owned", "sums", "vault", "main.account", "temp.account",
    "'account'", "\"vault\"", "[entry]", "sqlite_master", "json_each('[1,2]')", "sqlite_schema",
    "pragma_table_info('vault')",
    "doc('first')", "page_content", "doc_data", "fts5vocab", "account_region", "(account)", "generate_series(1,3)",
  ]
  private static let names = [
    "id", "owner", "region", "balance", "note", "account_id", "n", "memo", "secret", "name", "price", "x", "y", "a",
    "b", "c", "d",
    "\"e \"\"f\"", "code", "title", "body", "text", "total", "most", "rowid", "_rowid_", "oid", "*", "account.note",
    "account.*",
    "entry.secret", "main.account.note", "rank", "1", "'ann'", "NULL", "?", ":claims_sub", "2.5", "x'00'", "-1",
    "9223372036854775807", "page", "doc", "excluded.note", "sqlite_master.sql",
  ]
  private static let words = [
    "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "EXISTS", "AS", "UNION", "ALL", "EXCEPT", "INTERSECT", "WITH",
    "RECURSIVE", "MATERIALIZED", "VALUES", "JOIN", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "ON", "USING", "GROUP",
    "ORDER",
    "BY", "HAVING", "LIMIT", "OFFSET", "COLLATE", "NOCASE", "DESC", "ASC", "NULLS", "FIRST", "CASE", "WHEN", "THEN",
    "ELSE", "END",
    "CAST", "OVER", "PARTITION", "WINDOW", "FILTER", "INDEXED", "MATCH", "LIKE", "GLOB", "ESCAPE", "BETWEEN", "IS",
    "DISTINCT",
    "(", ")", ",", ".", "=", "<", ">", "||", "->", "->>", "+", "-", "*", "/", "%", "~", "'", "\"", "[", "]", ";", "--",
    "/*",
  ]
  private static let operators = [
    "=", "<", ">", "<>", "||", "+", "IS", "LIKE", "MATCH", "AND", "OR", "IN", "COLLATE", "->>", "%",
  ]
  private static let functions = [
    "count", "sum", "max", "min", "group_concat", "total", "avg", "length", "upper", "hex", "quote", "json",
    "json_extract", "abs",
    "typeof", "coalesce", "substr", "instr", "bm25", "snippet", "highlight", "load_extension", "randomblob", "printf",
    "json_group_array", "sqlite_offset", "unicode", "zeroblob", "row_number", "lag",
  ]

  private struct Generator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state >> 8
    }
  }
}

/// libFuzzer calls this instead of mutating by itself.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ capacity: Int, _ seed: UInt32) -> Int {
  let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: capacity)
  if name == "query", let length = QueryMutator.mutate(buffer, count: count, seed: seed) { return length }
  return LLVMFuzzerMutate(bytes, count, capacity)
}
