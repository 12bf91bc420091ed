import CSQLite
import Ground
import LiveQuery
import Store

/// A digest of some rows of a table, in the order of the table's key, which replicas compare with their own.
///
/// Digests with the same hash are of the same rows, with the same values in the same storage classes.
struct TableDigest: Equatable {
  /// The key after which the rows begin, packed; empty: they begin with the first row.
  var after: [UInt8] = []
  /// The key of the last row, packed; empty: the rows reach to the table's end.
  var through: [UInt8] = []
  var count = 0
  /// SHA-256.
  var hash: [UInt8] = []
}

/// Reads rows of one table in the order of its key, in the state that the connection's transaction sees.
struct TableDigester {
  private let table: LogTable
  private let connection: OpaquePointer
  private let encoding: TextEncoding
  /// The columns of the key, in the order that rows are sorted by.
  private let terms: [Term]

  private struct Term {
    /// The column; with a collation if the key's differs from the column's.
    let expression: String
    let isPlain: Bool
    let isDescending: Bool
  }

  /// - Throws: if the table does not exist, or has another key.
  init(_ table: LogTable, _ connection: OpaquePointer, _ encoding: TextEncoding) throws {
    self.table = table
    self.connection = connection
    self.encoding = encoding
    let key = table.columns.prefix(table.keyCount)
    let index = try PreparedStatement(
      connection,
      """
      SELECT info.name, info.coll, info."desc"
      FROM pragma_table_list(?1) AS list, pragma_index_list(?1, 'main') AS indexes, pragma_index_xinfo(indexes.name, 'main') AS info
      WHERE list.schema = 'main' AND list.wr AND indexes.origin = 'pk' AND info."key" ORDER BY info.seqno
      """, isPersistent: false)
    index.bind(.text(table.name), at: 1)
    var order: [Term] = []
    while try index.step() {
      let (name, collation) = (index.text(0) ?? "", index.text(1) ?? "BINARY")
      let isPlain = isSameName(collation, Self.collation(of: name, table.name, connection))
      let column = quotedIdentifier(name)
      let expression = isPlain ? column : "\(column) COLLATE \(quotedIdentifier(collation))"
      order.append(Term(expression: expression, isPlain: isPlain, isDescending: index.integer(2) == 1))
    }
    terms =
      order.isEmpty
      ? key.map { Term(expression: quotedIdentifier($0), isPlain: true, isDescending: false) } : order
    guard terms.count == table.keyCount else { throw ReplicationFailure("the table \(table.name) has another key") }
  }

  private static func collation(of column: String, _ table: String, _ connection: OpaquePointer) -> String {
    var name: UnsafePointer<CChar>?
    _ = sqlite3_table_column_metadata(connection, "main", table, column, nil, &name, nil, nil, nil)
    return name.map { String(cString: $0) } ?? "BINARY"
  }

  /// The digest of the rows after a key, up to the table's end or until `isEnough`.
  ///
  /// - Parameter isEnough: asked after each row.
  func digest(after key: [UInt8], isEnough: () -> Bool) throws -> TableDigest {
    var part = TableDigest(after: key)
    part.hash = try hash(of: part) { row, keyLength in
      part.count += 1
      if isEnough() { part.through = Array(row[..<keyLength]) }
      return part.through.isEmpty
    }
    return part
  }

  /// Whether the rows here have the given digest.
  func matches(_ other: TableDigest) throws -> Bool {
    var count = 0
    let hash = try hash(of: other) { _, _ in
      count += 1
      return count <= other.count
    }
    return count == other.count && hash == other.hash
  }

  /// - Parameter body: gets a row as in the log, and the length of its key in bytes; returns whether to continue.
  private func hash(of part: TableDigest, _ body: (_ row: [UInt8], _ keyLength: Int) -> Bool) throws -> [UInt8] {
    let digest = Digest()
    let statement = try select(part)
    var row = ByteWriter()
    while try statement.step() {
      row.removeAll()
      row.add(statement, 0..<table.keyCount, encoding)
      let keyLength = row.bytes.count
      row.add(statement, table.keyCount..<table.columns.count, encoding)
      digest.add(row.bytes)
      if !body(row.bytes, keyLength) { break }
    }
    return digest.value()
  }

  /// A statement that returns the rows of a digest.
  func select(_ part: TableDigest) throws -> PreparedStatement {
    var bounds: [String] = []
    if !part.after.isEmpty { bounds.append(bound(isAfter: true, first: 1)) }
    if !part.through.isEmpty { bounds.append(bound(isAfter: false, first: 1 + terms.count)) }
    let filter = bounds.isEmpty ? "" : " WHERE \(bounds.joined(separator: " AND "))"
    let order = terms.map { $0.isDescending ? "\($0.expression) DESC" : $0.expression }.joined(separator: ", ")
    let statement = try PreparedStatement(
      connection, "\(table.selectStatement)\(filter) ORDER BY \(order)", isPersistent: false)
    try bind(part.after, to: statement, 1)
    try bind(part.through, to: statement, 1 + terms.count)
    return statement
  }

  /// The condition that a row comes after a key, or not after it. The key's values are bound from parameter `first` on.
  private func bound(isAfter: Bool, first: Int) -> String {
    func comparison(_ term: Term) -> String { term.isDescending == isAfter ? "<" : ">" }
    let expressions = terms.map(\.expression)
    let values = terms.indices.map { "?\(first + $0)" }
    if terms.allSatisfy({ $0.isPlain && $0.isDescending == terms[0].isDescending }) {
      let row = "(\(expressions.joined(separator: ", ")))"
      return "\(row) \(comparison(terms[0]))\(isAfter ? "" : "=") (\(values.joined(separator: ", ")))"
    }
    // SQLite cannot seek to such a key as a whole: the conditions let it seek to the first column's value.
    var (equal, ways) = ([String](), [String]())
    for (index, term) in terms.enumerated() {
      ways.append((equal + ["\(term.expression) \(comparison(term)) \(values[index])"]).joined(separator: " AND "))
      equal.append("\(term.expression) = \(values[index])")
    }
    if !isAfter { ways.append(equal.joined(separator: " AND ")) }
    let seek = "\(expressions[0]) \(comparison(terms[0]))= \(values[0])"
    return "\(seek) AND (\(ways.map { "(\($0))" }.joined(separator: " OR ")))"
  }

  private func bind(_ key: [UInt8], to statement: PreparedStatement, _ first: Int) throws {
    if key.isEmpty { return }
    try key.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      for index in first..<first + terms.count {
        statement.bind(packed: try reader.value(), encoding, at: Int32(index))
      }
    }
  }
}

extension ByteWriter {
  /// Values of the statement's current row; text in the database's own encoding.
  mutating func add(_ statement: PreparedStatement, _ columns: Range<Int>, _ encoding: TextEncoding) {
    for column in columns {
      if encoding != .utf8, statement.isText(column) {
        encoding.bytes(of: statement.handle, Int32(column)).withUnsafeBytes { add(.text($0)) }
      } else {
        add(statement.value(column))
      }
    }
  }

  mutating func add(_ digest: TableDigest) {
    add(.digest)
    add(digest.after)
    add(digest.through)
    add(digest.count)
    add(plain: digest.hash)
  }
}

extension ByteReader {
  mutating func digest() throws(Malformed) -> TableDigest {
    TableDigest(
      after: Array(try counted()), through: Array(try counted()), count: try number(),
      hash: Array(try bytes(Digest.size)))
  }
}
