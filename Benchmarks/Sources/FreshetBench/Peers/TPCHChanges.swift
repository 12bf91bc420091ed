/// For each of TPC-H's queries a change that concerns its result: which rows can be changed, and how, with `$1` for one
/// of them.
extension TPCH.Query {
  struct Change {
    let rows: String
    let sql: String

    /// A line item costs more.
    static func price(_ rows: String) -> Change {
      Change(rows: rows, sql: "UPDATE lineitem SET l_extendedprice = l_extendedprice + 1 WHERE rowid = $1")
    }
  }

  var change: Change {
    let shown = { (column: String) in "(SELECT \(column) FROM (\(sql)))" }
    switch number {
    case 1: return .price("SELECT rowid FROM lineitem WHERE l_shipdate <= '1998-09-02'")
    case 2:
      return Change(
        rows: """
          SELECT s_suppkey FROM (\(sql))
          """, sql: "UPDATE supplier SET s_acctbal = s_acctbal + 1 WHERE s_suppkey = $1")
    case 3:
      return .price(
        "SELECT rowid FROM lineitem WHERE l_shipdate > '1995-03-15' AND l_orderkey IN \(shown("l_orderkey"))")
    case 4:
      return Change(
        rows: """
          SELECT o_orderkey FROM orders WHERE o_orderdate >= '1993-07-01' AND o_orderdate < '1993-10-01' AND EXISTS (SELECT * \
          FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
          """,
        sql: """
          UPDATE orders SET o_orderpriority = CASE o_orderpriority WHEN '1-URGENT' THEN '2-HIGH' ELSE '1-URGENT' END WHERE \
          o_orderkey = $1
          """)
    case 5:
      return .price(
        """
        SELECT lineitem.rowid FROM customer, orders, lineitem, supplier, nation, region WHERE c_custkey = o_custkey AND \
        l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND \
        n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= '1994-01-01' AND o_orderdate < '1995-01-01'
        """)
    case 6:
      return .price(
        """
        SELECT rowid FROM lineitem WHERE l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01' AND l_discount BETWEEN 0.05 \
        AND 0.07 AND l_quantity < 24
        """)
    case 7:
      return .price(
        """
        SELECT lineitem.rowid FROM supplier, lineitem, orders, customer WHERE s_suppkey = l_suppkey AND o_orderkey = \
        l_orderkey AND c_custkey = o_custkey AND s_nationkey = 6 AND c_nationkey = 7 AND l_shipdate BETWEEN '1995-01-01' AND \
        '1996-12-31'
        """)
    case 8:
      return .price(
        """
        SELECT lineitem.rowid FROM part, lineitem, orders, customer, nation WHERE p_partkey = l_partkey AND l_orderkey = \
        o_orderkey AND o_custkey = c_custkey AND c_nationkey = n_nationkey AND n_regionkey = 1 AND o_orderdate BETWEEN \
        '1995-01-01' AND '1996-12-31' AND p_type = 'ECONOMY ANODIZED STEEL'
        """)
    case 9:
      return .price(
        """
        SELECT lineitem.rowid FROM part, lineitem WHERE p_partkey = l_partkey AND p_name LIKE '%green%'
        """)
    case 10:
      return .price(
        """
        SELECT lineitem.rowid FROM orders, lineitem WHERE l_orderkey = o_orderkey AND o_orderdate >= '1993-10-01' AND \
        o_orderdate < '1994-01-01' AND l_returnflag = 'R' AND o_custkey IN \(shown("c_custkey"))
        """)
    case 11:
      return Change(
        rows: """
          SELECT partsupp.rowid FROM partsupp, supplier WHERE ps_suppkey = s_suppkey AND s_nationkey = 7 AND ps_partkey IN \
          \(shown("ps_partkey"))
          """,
        sql: "UPDATE partsupp SET ps_supplycost = ps_supplycost + 1 WHERE rowid = $1")
    case 12:
      return Change(
        rows: """
          SELECT rowid FROM lineitem WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < \
          l_commitdate AND l_receiptdate >= '1994-01-01' AND l_receiptdate < '1995-01-01'
          """,
        sql: """
          UPDATE lineitem SET l_shipmode = CASE l_shipmode WHEN 'MAIL' THEN 'SHIP' ELSE 'MAIL' END WHERE rowid = $1
          """)
    case 13:
      return Change(
        rows: "SELECT o_orderkey FROM orders WHERE o_comment NOT LIKE '%special%requests%'",
        sql: """
          UPDATE orders SET o_custkey = 1 + (o_custkey + 2) % (SELECT max(c_custkey) FROM customer) WHERE o_orderkey = $1
          """)
    case 14:
      return .price(
        """
        SELECT rowid FROM lineitem WHERE l_shipdate >= '1995-09-01' AND l_shipdate < '1995-10-01'
        """)
    case 15:
      return .price(
        """
        SELECT rowid FROM lineitem WHERE l_shipdate >= '1996-01-01' AND l_shipdate < '1996-04-01' AND l_suppkey IN \
        \(shown("s_suppkey"))
        """)
    case 16:
      return Change(
        rows: """
          SELECT p_partkey FROM part WHERE p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, \
          23, 45, 19, 3, 36, 9)
          """,
        sql: "UPDATE part SET p_size = CASE p_size WHEN 49 THEN 14 ELSE 49 END WHERE p_partkey = $1")
    case 17:
      return .price(
        """
        SELECT lineitem.rowid FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED \
        BOX' AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)
        """)
    case 18:
      return Change(
        rows: """
          SELECT o_orderkey FROM (\(sql))
          """, sql: "UPDATE orders SET o_totalprice = o_totalprice + 1 WHERE o_orderkey = $1")
    case 19:
      return .price(
        """
        SELECT lineitem.rowid FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN \
        ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10 AND \
        l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON'
        """)
    case 20:
      return Change(
        rows: """
          SELECT s_suppkey FROM (\(sql))
          """, sql: "UPDATE supplier SET s_address = s_address || '.' WHERE s_suppkey = $1")
    case 21:
      return Change(
        rows: """
          SELECT l1.rowid FROM supplier, lineitem l1, orders WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND \
          o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = \
          l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey) AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = \
          l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate) AND s_nationkey = 20
          """,
        sql: "UPDATE lineitem SET l_receiptdate = l_commitdate WHERE rowid = $1")
    default:
      return Change(
        rows: """
          SELECT c_custkey FROM customer WHERE c_acctbal > 9000 AND substr(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', \
          '18', '17') AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)
          """,
        sql: "UPDATE customer SET c_acctbal = c_acctbal + 1 WHERE c_custkey = $1")
    }
  }
}
