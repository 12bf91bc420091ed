import LiveQuery

/// The order of a list's rows and sections, as far as its columns determine it. Pure.
struct Ordering: Sendable {
  /// Nil: only the server knows the order.
  private let terms: [Term]?
  /// The name of sections; nil: the rows are one section, or the name is unknown.
  let section: Term?
  /// Whether sections are in the order of their names.
  let sortsSections: Bool
  /// Whether the rows are divided into sections; nil: unknown.
  let isSectioned: Bool?

  struct Term: Sendable {
    let column: Int
    let term: RowOrder.Term

    /// Nil for an expression that is not among the columns.
    init?(_ term: RowOrder.Term, columns: [String]) {
      guard let column = term.column.flatMap(columns.firstIndex(of:)) else { return nil }
      (self.column, self.term) = (column, term)
    }

    /// Nil if only the server knows it: the text of a number.
    func value(_ row: [SQLValue]) -> SQLValue? {
      term.calls.reduce(row[column]) { value, call in
        switch value {
        case .null?: .null
        case .text(let text)?: .text(call.applied(to: text))
        default: nil
        }
      }
    }

    func compare(_ left: SQLValue, _ right: SQLValue) -> Int {
      if (left == .null) != (right == .null) { return (left == .null) == term.areNullsFirst ? -1 : 1 }
      let order = term.collation.compare(left, right)
      return term.isDescending ? -order : order
    }
  }

  init(_ order: RowOrder, columns: [String]) {
    let isKnown = !order.terms.isEmpty
    let known = order.terms.compactMap { Term($0, columns: columns) }
    terms = isKnown && known.count == order.terms.count ? known : nil
    section = order.section.flatMap { Term($0, columns: columns) }
    sortsSections = order.sortsSections
    isSectioned = isKnown ? order.section != nil : nil
  }

  /// Compares two rows of one section: negative, zero or positive; nil: unknown.
  func compare(_ left: [SQLValue], _ right: [SQLValue]) -> Int? {
    guard let terms else { return nil }
    for term in terms {
      guard let one = term.value(left), let other = term.value(right) else { return nil }
      let order = term.compare(one, other)
      if order != 0 { return order }
    }
    return 0
  }

  /// Whether a changed row stays between the same rows of the same section; nil: unknown.
  func isSamePlace(_ before: [SQLValue], _ after: [SQLValue]) -> Bool? {
    guard let order = compare(before, after), let isSectioned else { return nil }
    guard isSectioned else { return order == 0 }
    guard let section, let one = section.value(before), let other = section.value(after) else { return nil }
    return order == 0 && section.compare(one, other) == 0
  }
}

extension RowOrder.Call {
  /// As in SQLite, which folds the case of ASCII letters only.
  fileprivate func applied(to text: String) -> String {
    switch self {
    case .upper: text.mapped { (97...122).contains($0) ? $0 - 32 : $0 }
    case .lower: text.mapped { (65...90).contains($0) ? $0 + 32 : $0 }
    case .substr(let start, let length):
      String(String.UnicodeScalarView(text.unicodeScalars.dropFirst(start - 1).prefix(length ?? .max)))
    }
  }
}

extension String {
  fileprivate func mapped(_ byte: (UInt8) -> UInt8) -> String { String(decoding: utf8.map(byte), as: UTF8.self) }
}

extension Collation {
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

  /// Exact beyond 2^53 as well: Swift compares the numbers, not their nearest doubles.
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
    case .nocase: for index in bytes.indices where (65...90).contains(bytes[index]) { bytes[index] += 32 }
    case .rtrim: while bytes.last == 32 { bytes.removeLast() }
    }
    return bytes
  }
}
