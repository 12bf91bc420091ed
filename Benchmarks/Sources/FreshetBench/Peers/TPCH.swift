import Foundation

/// TPC-H's tables with the distributions of its specification, made by SQLite itself, and the indexes that its joins
/// need.
struct TPCH {
  private let folder: Folder
  let path: String
  let orders: Int
  let parts: Int
  let suppliers: Int
  let customers: Int

  /// - Parameter scale: 1 is six million line items.
  init(scale: Double) throws {
    func count(_ atOne: Int) -> Int { Int(Double(atOne) * scale) }
    orders = count(1_500_000)
    (parts, suppliers, customers) = (count(200_000), count(10_000), count(150_000))
    folder = try Folder()
    path = folder.path("tpch.sqlite")
    let database = RawDatabase(path)
    database.execute(Self.schema)
    for table in tables { database.execute(table) }
    database.execute(Self.indexes)
  }

  func remove() { folder.remove() }

  private static let schema = """
    CREATE TABLE region(r_regionkey INTEGER PRIMARY KEY, r_name TEXT);
    CREATE TABLE nation(n_nationkey INTEGER PRIMARY KEY, n_name TEXT, n_regionkey INTEGER);
    CREATE TABLE supplier(s_suppkey INTEGER PRIMARY KEY, s_name TEXT, s_address TEXT, s_nationkey INTEGER, s_phone TEXT, s_acctbal REAL,
      s_comment TEXT);
    CREATE TABLE part(p_partkey INTEGER PRIMARY KEY, p_name TEXT, p_mfgr TEXT, p_brand TEXT, p_type TEXT, p_size INTEGER, p_container TEXT,
      p_retailprice REAL);
    CREATE TABLE partsupp(ps_partkey INTEGER, ps_suppkey INTEGER, ps_availqty INTEGER, ps_supplycost REAL, PRIMARY KEY (ps_partkey, ps_suppkey));
    CREATE TABLE customer(c_custkey INTEGER PRIMARY KEY, c_name TEXT, c_address TEXT, c_nationkey INTEGER, c_phone TEXT, c_acctbal REAL,
      c_mktsegment TEXT, c_comment TEXT);
    CREATE TABLE orders(o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER, o_orderstatus TEXT, o_totalprice REAL, o_orderdate TEXT,
      o_orderpriority TEXT, o_clerk TEXT, o_shippriority INTEGER, o_comment TEXT);
    CREATE TABLE lineitem(l_orderkey INTEGER, l_partkey INTEGER, l_suppkey INTEGER, l_linenumber INTEGER, l_quantity REAL, l_extendedprice REAL,
      l_discount REAL, l_tax REAL, l_returnflag TEXT, l_linestatus TEXT, l_shipdate TEXT, l_commitdate TEXT, l_receiptdate TEXT,
      l_shipinstruct TEXT, l_shipmode TEXT, PRIMARY KEY (l_orderkey, l_linenumber));
    CREATE VIEW revenue AS SELECT l_suppkey AS supplier_no, sum(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem
      WHERE l_shipdate >= '1996-01-01' AND l_shipdate < '1996-04-01' GROUP BY l_suppkey;
    """
  private static let indexes = """
    CREATE INDEX l_part ON lineitem(l_partkey, l_suppkey); CREATE INDEX l_supp ON lineitem(l_suppkey); CREATE INDEX o_cust ON orders(o_custkey);
    CREATE INDEX ps_supp ON partsupp(ps_suppkey); CREATE INDEX c_nation ON customer(c_nationkey); CREATE INDEX s_nation ON supplier(s_nationkey);
    ANALYZE;
    """

  private static let nations = [
    "ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY", "INDIA", "INDONESIA", "IRAN",
    "IRAQ", "JAPAN",
    "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU", "CHINA", "ROMANIA", "SAUDI ARABIA", "VIETNAM", "RUSSIA",
    "UNITED KINGDOM",
    "UNITED STATES",
  ]
  private static let regions = [0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1]
  private static let colours = [
    "almond", "azure", "blue", "brown", "chocolate", "coral", "cream", "cyan", "drab", "forest", "ghost", "green",
    "honeydew", "ivory", "khaki",
    "lemon", "linen", "maroon", "navy", "olive", "peru", "plum", "puff", "red", "rose", "salmon", "sienna", "snow",
    "tan", "violet",
  ]

  /// A whole number from 0 to below `count`, which looks drawn by chance, for row `i` of a table.
  private static func number(_ salt: Int, _ count: Int, _ row: String = "i") -> String {
    "(((\(row)) * 2654435761 + \(salt) * 40503 + (\(row)) / 7 * 97) % 4294967291 * 48271 % 2147483647 % \(count))"
  }

  private static func pick(_ salt: Int, _ texts: [String], _ row: String = "i") -> String {
    let cases = texts.enumerated().map { "WHEN \($0) THEN '\($1)'" }.joined(separator: " ")
    return "CASE \(number(salt, texts.count, row)) \(cases) END"
  }

  private static func rows(_ table: String, _ count: Int, _ values: String) -> String {
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO \(table) SELECT \(values) FROM n"
  }

  private var tables: [String] {
    let (number, pick, rows) = (Self.number, Self.pick, Self.rows)
    let colour = { (salt: Int) in pick(salt, Self.colours, "i") }
    let supplier = "(p + s * (\(suppliers) / 4 + (p - 1) / \(suppliers))) % \(suppliers) + 1"
    let price = "(90000 + p / 10 % 20001 + 100 * (p % 1000)) / 100.0"
    let phone = { (salt: Int) in "(10 + \(number(salt, 25, "i"))) || '-' || (100 + i % 900) || '-' || (1000 + i % 9000)"
    }
    return [
      rows(
        "region", 5,
        "i - 1, CASE i WHEN 1 THEN 'AFRICA' WHEN 2 THEN 'AMERICA' WHEN 3 THEN 'ASIA' WHEN 4 THEN 'EUROPE' ELSE 'MIDDLE EAST' END"
      ),
      "INSERT INTO nation VALUES "
        + zip(Self.nations, Self.regions).enumerated().map { "(\($0), '\($1.0)', \($1.1))" }.joined(separator: ", "),
      rows(
        "supplier", suppliers,
        "i, 'Supplier#' || i, 'address ' || i, \(number(1, 25, "i")), \(phone(1)), \(number(2, 1_099_998, "i")) / 100.0 - 999.99, CASE WHEN i % 2000 = 7 THEN 'the Customer had Complaints' ELSE 'nothing ' || i END"
      ),
      rows(
        "part", parts,
        "i, \(colour(3)) || ' ' || \(colour(4)) || ' ' || \(colour(5)), 'Manufacturer#' || (1 + \(number(6, 5, "i"))), 'Brand#' || (1 + \(number(6, 5, "i"))) || (1 + \(number(7, 5, "i"))), \(pick(8, ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"], "i")) || ' ' || \(pick(9, ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"], "i")) || ' ' || \(pick(10, ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"], "i")), 1 + \(number(11, 50, "i")), \(pick(12, ["SM", "LG", "MED", "JUMBO", "WRAP"], "i")) || ' ' || \(pick(13, ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"], "i")), \(price.replacing("p", with: "i"))"
      ),
      """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(parts * 4 - 1)), m AS (SELECT i, i / 4 + 1 AS p, i % 4 AS s FROM n)
      INSERT INTO partsupp SELECT p, \(supplier), 1 + \(number(14, 9_999, "i")), (100 + \(number(15, 99_901, "i"))) / 100.0 FROM m
      """,
      rows(
        "customer", customers,
        "i, 'Customer#' || i, 'address ' || i, \(number(16, 25, "i")), \(phone(16)), \(number(17, 1_099_998, "i")) / 100.0 - 999.99, \(pick(18, ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"], "i")), 'comment ' || i"
      ),
      // Eight of each 32 numbers are used, and a third of the customers has no orders.
      rows(
        "orders", orders,
        "(i - 1) / 8 * 32 + (i - 1) % 8 + 1, (\(number(19, customers / 3, "i"))) * 3 + 1 + i % 2, 'O', 0.0, date('1992-01-01', '+' || \(number(20, 2_406, "i")) || ' days'), \(pick(21, ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"], "i")), 'Clerk#' || (1 + \(number(22, 1_000, "i"))), 0, CASE WHEN \(number(23, 100, "i")) = 0 THEN 'the special, pending requests' ELSE 'comment ' || i END"
      ),
      """
      WITH RECURSIVE l(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM l WHERE n < 7),
        m AS (SELECT o_orderkey AS k, n, o_orderkey * 8 + n AS i, o_orderdate AS d FROM orders JOIN l ON n <= 1 + \(number(24, 7, "o_orderkey"))),
        x AS (SELECT k, n, i, d, 1 + \(number(25, parts, "i")) AS p, \(number(26, 4, "i")) AS s, 1 + \(number(27, 50, "i")) AS q,
          date(d, '+' || (1 + \(number(28, 121, "i"))) || ' days') AS shipped FROM m),
        y AS (SELECT *, date(shipped, '+' || (1 + \(number(29, 30, "i"))) || ' days') AS received FROM x)
      INSERT INTO lineitem SELECT k, p, \(supplier), n, q, q * \(price), \(number(30, 11, "i")) / 100.0, \(number(31, 9, "i")) / 100.0,
        CASE WHEN received > '1995-06-17' THEN 'N' WHEN \(number(32, 2, "i")) THEN 'R' ELSE 'A' END, CASE WHEN shipped > '1995-06-17' THEN 'O' ELSE 'F' END,
        shipped, date(d, '+' || (30 + \(number(33, 61, "i"))) || ' days'), received,
        \(pick(34, ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"], "i")), \(pick(35, ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"], "i")) FROM y
      """,
      """
      UPDATE orders SET o_totalprice = total, o_orderstatus = status FROM (SELECT l_orderkey, round(sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)), 2) AS total,
        CASE min(l_linestatus) || max(l_linestatus) WHEN 'FF' THEN 'F' WHEN 'OO' THEN 'O' ELSE 'P' END AS status FROM lineitem GROUP BY l_orderkey)
      WHERE l_orderkey = o_orderkey
      """,
    ]
  }
}
