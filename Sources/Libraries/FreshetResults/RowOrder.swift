import LiveQuery

/// The order of a query's rows and sections, as far as it can be known here: where both are columns of the rows.
///
/// Columns sort by the collation that the query names for them, BINARY without one. Pure.
struct RowOrder: Sendable {
  /// Nil: the order is the server's to know.
  private let terms: [Term]?
  /// Nil: the rows are one section, or it is not known what they are cut by.
  let section: Term?
  /// Whether sections come in the order of their names.
  let sortsSections: Bool
  let isSectioned: Bool

  struct Term: Sendable {
    let column: Int
    let collation: Collation
    let isDescending: Bool
    let areNullsFirst: Bool

    func compare(_ left: SQLValue, _ right: SQLValue) -> Int {
      if (left == .null) != (right == .null) { return (left == .null) == areNullsFirst ? -1 : 1 }
      let order = collation.compare(left, right)
      return isDescending ? -order : order
    }
  }

  init(_ query: Query, columns: [String], key: [String]) {
    let reader = TermReader(query: query, columns: columns)
    isSectioned = query.sectionBy != nil
    sortsSections = query.sectionBy?.name == nil
    section = query.sectionBy.flatMap { reader.term($0.name ?? $0.expression, isDescending: $0.isDescending) }
    let read = query.orderBy.map { reader.term($0) }
    let keys = key.map { name in
      columns.firstIndex(of: name).map {
        Term(column: $0, collation: .binary, isDescending: false, areNullsFirst: true)
      }
    }
    let known = (read + keys).compactMap { $0 }
    terms = query.publishedName == nil && known.count == read.count + keys.count ? known : nil
  }

  /// Of two rows in one section: negative, zero or positive; nil where that is not known.
  func compare(_ left: [SQLValue], _ right: [SQLValue]) -> Int? {
    guard let terms else { return nil }
    for term in terms {
      let order = term.compare(left[term.column], right[term.column])
      if order != 0 { return order }
    }
    return 0
  }

  /// Whether a row that changes stays between the same rows of the same section; nil where that is not known.
  func keepsPlace(_ before: [SQLValue], _ after: [SQLValue]) -> Bool? {
    guard let order = compare(before, after) else { return nil }
    guard isSectioned else { return order == 0 }
    guard let section else { return nil }
    return order == 0 && section.compare(before[section.column], after[section.column]) == 0
  }
}

/// SQLite's own collations.
enum Collation: String, Sendable {
  case binary = "BINARY"
  case noCase = "NOCASE"
  case rtrim = "RTRIM"

  /// NULL, then numbers, then text, then blobs.
  func compare(_ left: SQLValue, _ right: SQLValue) -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): Self.order(left, right)
    case (.real(let left), .real(let right)): Self.order(left, right)
    case (.integer(let left), .real(let right)): Self.order(left, right)
    case (.real(let left), .integer(let right)): -Self.order(right, left)
    case (.text(let left), .text(let right)): Self.order(bytes(of: left), bytes(of: right))
    case (.blob(let left), .blob(let right)): Self.order(left, right)
    default: Self.rank(left) - Self.rank(right)
    }
  }

  private static func rank(_ value: SQLValue) -> Int {
    switch value {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  /// Exact also beyond 2^53: Swift compares the numbers, not their nearest doubles.
  private static func order(_ left: Int64, _ right: Double) -> Int {
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = Int64(right.rounded(.down))
    return left == whole ? (Double(whole) < right ? -1 : 0) : order(left, whole)
  }

  private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.lexicographicallyPrecedes(right) ? -1 : left == right ? 0 : 1
  }

  private func bytes(of text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    switch self {
    case .binary: break
    case .noCase: for index in bytes.indices where (65...90).contains(bytes[index]) { bytes[index] += 32 }
    case .rtrim: while bytes.last == 32 { bytes.removeLast() }
    }
    return bytes
  }
}

/// Reads terms of `ORDER BY` that name a column of the rows.
private struct TermReader {
  let query: Query
  let columns: [String]

  /// - Returns: nil for any other term.
  func term(_ sql: String, isDescending: Bool = false) -> Term? {
    var words = sql.split(whereSeparator: \.isWhitespace).map(String.init)
    var isDescending = isDescending
    var nulls: String?
    if words.count > 2, words[words.count - 2].uppercased() == "NULLS" {
      nulls = words.removeLast().uppercased()
      words.removeLast()
    }
    if let last = words.last?.uppercased(), words.count > 1, last == "ASC" || last == "DESC" {
      isDescending = last == "DESC"
      words.removeLast()
    }
    var collation = Collation.binary
    if words.count > 2, words[words.count - 2].uppercased() == "COLLATE" {
      guard let named = Collation(rawValue: unquoted(words.removeLast()).uppercased()) else { return nil }
      collation = named
      words.removeLast()
    }
    guard words.count == 1, query.publishedName == nil, let column = column(words[0]) else { return nil }
    return Term(
      column: column, collation: collation, isDescending: isDescending,
      areNullsFirst: nulls.map { $0 == "FIRST" } ?? !isDescending)
  }

  typealias Term = RowOrder.Term

  private func column(_ name: String) -> Int? {
    let parts = name.split(separator: ".").map { unquoted(String($0)) }
    guard let last = parts.last, Int(last) == nil else { return nil }
    let isOfTable = parts.count == 1 || (parts.count == 2 && same(parts[0], unquoted(query.from)))
    // Another column, or an expression, may be selected under the name of a column of the table.
    let isSelected = query.select.isEmpty || query.select.contains { same($0, name) || same(unquoted($0), last) }
    return isOfTable && isSelected ? columns.firstIndex { same($0, last) } : nil
  }

  private func same(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

  private func unquoted(_ name: String) -> String {
    guard let first = name.first, name.count > 1, "\"`[".contains(first) else { return name }
    return String(name.dropFirst().dropLast())
  }
}
