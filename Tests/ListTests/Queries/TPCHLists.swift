import ServerSupport

/// The 22 queries of TPC-H as lists, over just enough data to give each of them rows.
///
/// Prices and discounts are multiples of powers of two, so that SQLite's own sums are exact in any order. Constants are
/// adapted to the data; joins, comparisons and counts are those of the specification.
enum TPCHLists {
  static let schema = """
    CREATE TABLE region(r_regionkey INTEGER PRIMARY KEY, r_name TEXT);
    CREATE TABLE nation(n_nationkey INTEGER PRIMARY KEY, n_name TEXT, n_regionkey INTEGER);
    CREATE TABLE supplier(s_suppkey INTEGER PRIMARY KEY, s_name TEXT, s_nationkey INTEGER, s_acctbal REAL, s_comment TEXT);
    CREATE TABLE part(p_partkey INTEGER PRIMARY KEY, p_name TEXT, p_brand TEXT, p_type TEXT, p_size INTEGER, p_container TEXT);
    CREATE TABLE partsupp(ps_partkey INTEGER, ps_suppkey INTEGER, ps_availqty INTEGER, ps_supplycost REAL,
      PRIMARY KEY (ps_partkey, ps_suppkey));
    CREATE TABLE customer(c_custkey INTEGER PRIMARY KEY, c_name TEXT, c_nationkey INTEGER, c_phone TEXT, c_acctbal REAL,
      c_mktsegment TEXT);
    CREATE TABLE orders(o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER, o_orderstatus TEXT, o_totalprice REAL, o_orderdate TEXT,
      o_orderpriority TEXT, o_shippriority INTEGER, o_comment TEXT);
    CREATE TABLE lineitem(l_orderkey INTEGER, l_linenumber INTEGER, l_partkey INTEGER, l_suppkey INTEGER, l_quantity REAL,
      l_extendedprice REAL, l_discount REAL, l_tax REAL, l_returnflag TEXT, l_linestatus TEXT, l_shipdate TEXT, l_commitdate TEXT,
      l_receiptdate TEXT, l_shipinstruct TEXT, l_shipmode TEXT, PRIMARY KEY (l_orderkey, l_linenumber));
    CREATE INDEX l_part ON lineitem(l_partkey);
    CREATE INDEX l_supp ON lineitem(l_suppkey);
    CREATE INDEX o_cust ON orders(o_custkey);
    CREATE INDEX ps_supp ON partsupp(ps_suppkey);
    CREATE VIEW revenue AS SELECT l_suppkey AS supplier_no, sum(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem
      WHERE l_shipdate >= '1996-01-01' AND l_shipdate < '1996-07-01' GROUP BY l_suppkey;
    """

  private static func rows(_ table: String, _ count: Int, _ values: String) -> String {
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1)) INSERT INTO \(table) SELECT \(values) FROM n"
  }

  /// A few hundred rows, one statement a line.
  static let data =
    [
      rows("region", 3, "i, CASE i WHEN 0 THEN 'EUROPE' WHEN 1 THEN 'ASIA' ELSE 'AMERICA' END"),
      rows(
        "nation", 6,
        "i, CASE i WHEN 0 THEN 'FRANCE' WHEN 1 THEN 'GERMANY' WHEN 2 THEN 'CANADA' ELSE 'N' || i END, i % 3"),
      rows(
        "supplier", 8,
        "i, 's' || i, i % 6, (i * 37) % 50, CASE i % 5 WHEN 0 THEN 'a Customer said Complaints' ELSE 'fine' END"),
      rows(
        "part", 24,
        "i, CASE i % 3 WHEN 0 THEN 'forest green' ELSE 'red' END || i, 'Brand#' || (i % 3), CASE i % 4 WHEN 0 THEN 'PROMO BRASS' WHEN 1 THEN 'ECONOMY STEEL' ELSE 'MEDIUM BRASS' END, i % 4, CASE i % 2 WHEN 0 THEN 'MED BOX' ELSE 'SM CASE' END"
      ),
      rows("partsupp", 72, "i / 3, (i * 5 + i / 3) % 8, (i * 13) % 40, (i * 7) % 30"),
      rows(
        "customer", 20,
        "i, 'c' || i, i % 6, (10 + i % 4) || '-555', (i * 17) % 40 - 8, CASE i % 2 WHEN 0 THEN 'BUILDING' ELSE 'MACHINERY' END"
      ),
      rows(
        "orders", 60,
        "i, (i * 7) % 17, substr('FOP', 1 + i % 3, 1), (i * 31) % 90, date('1995-01-01', '+' || ((i * 37) % 700) || ' days'), (1 + i % 5) || '-P', 0, CASE i % 4 WHEN 0 THEN 'special requests' ELSE 'none' END"
      ),
      rows(
        "lineitem", 150,
        "i % 60, 1 + i / 60, (i * 11) % 24, (i * 3 + i / 8) % 8, 1 + (i * 7) % 30, (i * 29) % 100, (i % 4) * 0.0625, (i % 3) * 0.125, substr('RAN', 1 + i % 3, 1), substr('FO', 1 + i % 2, 1), date('1995-01-10', '+' || ((i * 41) % 700) || ' days'), date('1995-01-15', '+' || ((i * 41) % 690) || ' days'), date('1995-01-12', '+' || ((i * 43) % 720) || ' days'), 'DELIVER', CASE i % 3 WHEN 0 THEN 'MAIL' WHEN 1 THEN 'SHIP' ELSE 'AIR' END"
      ),
    ].joined(separator: ";\n") + ";"

  private static let amount = "l_extendedprice * (1 - l_discount)"

  private static func list(
    _ from: String, _ keys: [String], _ select: [String], _ filter: String, groupBy: [String] = [],
    having: String? = nil, orderBy: [String] = [], limit: Int? = nil
  ) -> OracleQuery {
    OracleQuery(
      table: from, keys: keys, select: select, filter: filter.isEmpty ? nil : filter, orderBy: orderBy, limit: limit,
      groupBy: groupBy, having: having, tellsKey: keys != ["1 AS key"])
  }

  private static func ofEverything(_ from: String, _ value: String, _ filter: String) -> OracleQuery {
    list(from, ["1 AS key"], ["\(value) AS value"], filter)
  }

  /// The queries in the order of their numbers.
  static let queries: [OracleQuery] = [
    list(
      "lineitem", ["l_returnflag", "l_linestatus"],
      [
        "sum(l_quantity) AS q", "sum(\(amount)) AS d", "sum(\(amount) * (1 + l_tax)) AS c", "avg(l_discount) AS a",
        "count(*) AS n",
      ], "l_shipdate <= '1996-09-02'", groupBy: ["l_returnflag", "l_linestatus"]),
    list(
      "part, supplier, partsupp, nation, region", ["p_partkey", "s_suppkey"], ["s_acctbal", "s_name", "n_name"],
      "p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size < 3 AND p_type LIKE '%BRASS' AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE' AND ps_supplycost = (SELECT min(ps_supplycost) FROM partsupp, supplier, nation, region WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE')",
      orderBy: ["s_acctbal DESC", "n_name"], limit: 20),
    list(
      "customer, orders, lineitem", ["l_orderkey", "o_orderdate", "o_shippriority"], ["sum(\(amount)) AS revenue"],
      "c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < '1996-03-15' AND l_shipdate > '1995-03-15'",
      groupBy: ["l_orderkey", "o_orderdate", "o_shippriority"], orderBy: ["revenue DESC", "o_orderdate"], limit: 10),
    list(
      "orders", ["o_orderpriority"], ["count(*) AS n"],
      "o_orderdate >= '1995-03-01' AND o_orderdate < '1996-06-01' AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)",
      groupBy: ["o_orderpriority"]),
    list(
      "customer, orders, lineitem, supplier, nation, region", ["n_name"], ["sum(\(amount)) AS revenue"],
      "c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= '1995-01-01'",
      groupBy: ["n_name"], orderBy: ["revenue DESC"]),
    ofEverything(
      "lineitem", "sum(l_extendedprice * l_discount)",
      "l_shipdate >= '1995-02-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"),
    list(
      "(SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, strftime('%Y', l_shipdate) AS l_year, \(amount) AS volume FROM supplier, lineitem, orders, customer, nation n1, nation n2 WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')) AND l_shipdate BETWEEN '1995-01-01' AND '1996-12-31') AS shipping",
      ["supp_nation", "cust_nation", "l_year"], ["sum(volume) AS revenue"], "",
      groupBy: ["supp_nation", "cust_nation", "l_year"]),
    list(
      "(SELECT strftime('%Y', o_orderdate) AS o_year, \(amount) AS volume, n2.n_name AS nation FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA' AND s_nationkey = n2.n_nationkey AND p_type LIKE '%S%') AS all_nations",
      ["o_year"], ["sum(CASE WHEN nation = 'CANADA' THEN volume ELSE 0 END) / sum(volume) AS share"], "",
      groupBy: ["o_year"]),
    list(
      "(SELECT n_name AS nation, strftime('%Y', o_orderdate) AS o_year, \(amount) - ps_supplycost * l_quantity AS amount FROM part, supplier, lineitem, partsupp, orders, nation WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS profit",
      ["nation", "o_year"], ["sum(amount) AS sum_profit"], "", groupBy: ["nation", "o_year"],
      orderBy: ["nation", "o_year DESC"]),
    list(
      "customer, orders, lineitem, nation", ["c_custkey"],
      ["c_name", "sum(\(amount)) AS revenue", "c_acctbal", "n_name"],
      "c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= '1995-02-01' AND l_returnflag = 'R' AND c_nationkey = n_nationkey",
      groupBy: ["c_custkey", "c_name", "c_acctbal", "n_name"], orderBy: ["revenue DESC"], limit: 20),
    list(
      "partsupp, supplier, nation", ["ps_partkey"], ["sum(ps_supplycost * ps_availqty) AS value"],
      "ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'", groupBy: ["ps_partkey"],
      having:
        "sum(ps_supplycost * ps_availqty) > (SELECT sum(ps_supplycost * ps_availqty) * 0.0625 FROM partsupp, supplier, nation WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY')",
      orderBy: ["value DESC"]),
    list(
      "orders, lineitem", ["l_shipmode"],
      [
        "sum(CASE WHEN o_orderpriority = '1-P' OR o_orderpriority = '2-P' THEN 1 ELSE 0 END) AS high",
        "sum(CASE WHEN o_orderpriority <> '1-P' AND o_orderpriority <> '2-P' THEN 1 ELSE 0 END) AS low",
      ],
      "o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_receiptdate >= '1995-02-01'",
      groupBy: ["l_shipmode"]),
    list(
      "(SELECT c_custkey, count(o_orderkey) AS c_count FROM customer LEFT OUTER JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) AS c_orders",
      ["c_count"], ["count(*) AS custdist"], "", groupBy: ["c_count"], orderBy: ["custdist DESC", "c_count DESC"]),
    ofEverything(
      "lineitem, part", "100.0 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN \(amount) ELSE 0 END) / sum(\(amount))",
      "l_partkey = p_partkey AND l_shipdate >= '1995-09-01'"),
    list(
      "supplier, revenue", ["s_suppkey"], ["s_name", "total_revenue"],
      "s_suppkey = supplier_no AND total_revenue = (SELECT max(total_revenue) FROM revenue)"),
    list(
      "partsupp, part", ["p_brand", "p_type", "p_size"], ["count(DISTINCT ps_suppkey) AS n"],
      "p_partkey = ps_partkey AND p_brand <> 'Brand#1' AND p_type NOT LIKE 'PROMO%' AND p_size IN (0, 1, 3) AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')",
      groupBy: ["p_brand", "p_type", "p_size"], orderBy: ["n DESC", "p_brand"]),
    ofEverything(
      "lineitem, part", "sum(l_extendedprice) / 7.0",
      "p_partkey = l_partkey AND p_brand = 'Brand#2' AND p_container = 'MED BOX' AND l_quantity < (SELECT 0.75 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)"
    ),
    list(
      "customer, orders, lineitem", ["c_custkey", "o_orderkey"],
      ["c_name", "o_orderdate", "o_totalprice", "sum(l_quantity) AS qty"],
      "o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 45) AND c_custkey = o_custkey AND o_orderkey = l_orderkey",
      groupBy: ["c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice"], orderBy: ["o_totalprice DESC"],
      limit: 100),
    ofEverything(
      "lineitem, part", "sum(\(amount))",
      "(p_partkey = l_partkey AND p_brand = 'Brand#0' AND p_container = 'MED BOX' AND l_quantity BETWEEN 1 AND 20) OR (p_partkey = l_partkey AND p_brand = 'Brand#1' AND l_quantity >= 10 AND l_shipmode IN ('AIR', 'MAIL') AND l_shipinstruct = 'DELIVER')"
    ),
    list(
      "supplier, nation", ["s_suppkey"], ["s_name"],
      "s_suppkey IN (SELECT ps_suppkey FROM partsupp WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%') AND ps_availqty > (SELECT 0.5 * sum(l_quantity) FROM lineitem WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= '1995-02-01')) AND s_nationkey = n_nationkey AND n_name <> 'CANADA'",
      orderBy: ["s_name"]),
    list(
      "supplier, lineitem l1, orders, nation", ["s_name"], ["count(*) AS numwait"],
      "s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey) AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate) AND s_nationkey = n_nationkey AND n_name <> 'FRANCE'",
      groupBy: ["s_name"], orderBy: ["numwait DESC"], limit: 100),
    list(
      "(SELECT substr(c_phone, 1, 2) AS cntrycode, c_acctbal FROM customer WHERE substr(c_phone, 1, 2) IN ('10', '11', '12') AND c_acctbal > (SELECT avg(c_acctbal) FROM customer WHERE c_acctbal > 0.0 AND substr(c_phone, 1, 2) IN ('10', '11', '12')) AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS custsale",
      ["cntrycode"], ["count(*) AS numcust", "sum(c_acctbal) AS totacctbal"], "", groupBy: ["cntrycode"]),
  ]

  /// Numbers of queries that are run again after a change.
  static let runAgain: Set<Int> = []
}
