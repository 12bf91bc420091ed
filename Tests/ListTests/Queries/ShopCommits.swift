import ServerSupport
import TestSupport

/// Random transactions of a shop, and runs of lists through them.
struct ShopCommits {
  var random: SeededGenerator
  private let seed: UInt64
  /// The highest ids of orders and customers.
  private var ids = (orders: 40, customers: 6)

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }
  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }

  // MARK: - Transactions

  /// Texts that sort differently in UTF-16 and in UTF-8.
  private mutating func status() -> String {
    pick(["'s0'", "'s1'", "'s2'", "'s3'", "'\u{141}'", "char(128512)", "char(65533)"])
  }

  /// Multiples of a quarter, so that SQLite's own sums are exact in any order.
  private mutating func total() -> String { chance(10) ? "NULL" : "\(Double(number(-8..<60)) / 4)" }
  private mutating func loose() -> String { pick(["1", "1.0", "2", "'1'", "'b'", "NULL", "x'62'", "2.5"]) }
  private mutating func order() -> String { "\(number(0..<ids.orders))" }
  private mutating func customer() -> String { chance(5) ? "NULL" : "\(number(0..<ids.customers + 1))" }

  private mutating func statement() -> String {
    switch number(0..<17) {
    case 0, 1:
      ids.orders += 1
      return
        "INSERT INTO orders(id, customer, status, total, n, loose) VALUES (\(ids.orders), \(customer()), \(status()), \(total()), \(number(0..<9)), \(loose()))"
    case 2, 3: return "UPDATE orders SET total = \(total()) WHERE id = \(order())"
    case 4: return "UPDATE orders SET status = \(status()) WHERE id = \(order())"
    case 5: return "UPDATE orders SET customer = \(customer()), n = n + 1 WHERE id = \(order())"
    // Often one of the first rows changes, because a group shows 1 or 1.0 depending on which comes first.
    case 6: return "UPDATE orders SET loose = \(loose()) WHERE id \(chance(50) ? "<" : "=") \(order()) AND id % 4 = 1"
    case 7: return "DELETE FROM orders WHERE id = \(order())"
    case 8: return "DELETE FROM orders WHERE status = 's\(number(0..<4))' AND id % 3 = \(number(0..<3))"
    case 9: return "UPDATE customers SET region = 'r\(number(0..<3))', rank = \(total()) WHERE id = \(customer())"
    case 10: return "UPDATE OR REPLACE customers SET id = \(number(0..<ids.customers)) WHERE id = \(customer())"
    case 11:
      ids.customers = min(ids.customers + 1, 12)
      return "INSERT OR REPLACE INTO customers VALUES (\(ids.customers), 'c\(number(0..<4))', 'r1', 1)"
    case 12: return "DELETE FROM customers WHERE id = \(customer())"
    case 13: return "UPDATE orders SET total = total + 0.25 WHERE n = \(number(0..<9))"
    case 14: return "INSERT OR REPLACE INTO kept VALUES ('\(pick(["p", "q", "x"]))', '\(number(0..<4))', \(loose()))"
    case 15: return "DELETE FROM kept WHERE b = '\(number(0..<4))'"
    default: return "UPDATE OR REPLACE orders SET id = \(order()) WHERE id = \(order())"
    }
  }

  private mutating func transaction(_ index: Int) -> String {
    if chance(2) { return "ALTER TABLE orders ADD COLUMN added\(index) DEFAULT 3;" }
    if chance(3) { return "BEGIN; \(statement()); ROLLBACK;" }
    if chance(3) { return "PRAGMA wal_checkpoint(TRUNCATE);" }
    let count = chance(15) ? number(10..<30) : number(1..<4)
    return "BEGIN; \((0..<count).map { _ in statement() }.joined(separator: "; ")); COMMIT;"
  }

  static let schema = """
    CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, region TEXT, rank REAL);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, status TEXT, total REAL, n INTEGER, loose);
    CREATE TABLE kept(a TEXT, b TEXT, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE INDEX orders_customer ON orders(customer);
    INSERT INTO customers VALUES (0, 'a', 'r0', 1), (1, 'b', 'r1', 2), (2, 'a', 'r1', NULL), (3, 'c', NULL, 0.5);
    WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 39)
      INSERT INTO orders SELECT i, i % 6, 's' || (i % 4), i * 0.25, i % 7, i % 3 FROM s;
    """

  /// Runs lists through transactions. Rare journal modes and encodings take turns with the usual ones.
  mutating func run(_ queries: [OracleQuery], transactions: Int, views: String = "") -> ListRun {
    let mode = seed % 6 == 0 ? "delete" : "wal"
    let encoding = seed % 5 == 0 ? "UTF-16le" : "UTF-8"
    var steps: [RunStep] = []
    for index in 0..<transactions {
      steps.append(.commit(transaction(index)))
      switch number(0..<9) {
      case 0..<3: steps.append(.step)
      case 3..<6: steps.append(.tick)
      case 6: steps.append(.readers)
      case 7: steps.append(.open(number(0..<queries.count)))
      default: break
      }
      if chance(50) || index == transactions - 1 { steps.append(.compare) }
    }
    return ListRun(
      .stepped,
      setUp:
        "PRAGMA encoding = '\(encoding)'; PRAGMA page_size = 512; PRAGMA journal_mode = \(mode);\n\(Self.schema)\n\(views)",
      preparation: "PRAGMA journal_mode = \(mode); PRAGMA cache_size = 5;",
      captureBytes: seed % 7 == 0 ? 2_000 : nil, queries, steps: steps)
  }
}
