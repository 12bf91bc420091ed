/// Names an SQL text without showing it, for logs, metrics and versions. The name is the same in every process and on
/// every machine.
///
/// It is a hash of 64 bits (FNV-1a). Two texts with the same hash would share a line in the list of slow queries. A
/// client that claims to hold a version of another query spoils only its own list.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  private mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

  /// This byte, which UTF-8 text cannot contain, separates texts.
  private mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    add(0xFF)
  }

  package mutating func add(_ texts: [String]) {
    for text in texts { add(text) }
    add(0xFE)
  }

  package mutating func add(_ bytes: [UInt8]) { for byte in bytes { add(byte) } }

  package init() {}

  package init(of bytes: [UInt8]) { add(bytes) }

  /// A number from 0 to `count` - 1.
  package func choice(of count: Int) -> Int { Int((hash >> 32) % UInt64(count)) }

  /// Sixteen hexadecimal digits.
  package var description: String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension Fingerprint {
  /// The fingerprint of a query's text, without the values of its parameters, its limit and its client.
  package init(of query: Query) {
    add(query.from)
    add([query.filter, query.having, query.sectionBy?.expression, query.sectionBy?.indexTitle].map { $0 ?? "" })
    add(query.sectionBy?.isDescending == true ? 1 : 0)
    for list in [query.select, query.groupBy, query.orderBy, query.key] { add(list) }
    add(query.sortedAlongside.flatMap { [$0.name, $0.sql] })
    // A query without totals keeps the fingerprint from before totals were introduced.
    if !query.totals.isEmpty { add(query.sortedTotals.flatMap { [$0.name, $0.sql] }) }
  }

  /// The fingerprint of a transaction's SQL.
  package init(of statements: [Transaction.Statement]) { add(statements.map(\.sql)) }
}
