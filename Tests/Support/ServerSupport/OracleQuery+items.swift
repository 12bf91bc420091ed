extension OracleQuery {
  /// Lists over the tables `item(id, kind, n, note)` and `kind(name, label)`.
  package static let overItems = [
    OracleQuery(table: "item", keys: ["id"], select: ["n", "note"], orderBy: ["n"]),
    OracleQuery(
      table: "item", keys: ["id"], select: ["note"], filter: "n > 4", section: ("kind", false), orderBy: ["note DESC"]),
    OracleQuery(table: "item", keys: ["id"], select: ["n"], orderBy: ["n DESC"], limit: 7),
    OracleQuery(
      table: "item JOIN kind ON kind.name = item.kind", keys: ["item.id AS id"], select: ["label"],
      orderBy: ["label"], tellsKey: true),
    // This query is run again after every change.
    OracleQuery(
      table: "(SELECT kind AS name, sum(n) OVER (ORDER BY kind) AS sum, min(id) AS first FROM item GROUP BY kind)",
      keys: ["name"], select: ["sum", "first"], orderBy: ["sum"], tellsKey: true),
    OracleQuery(
      table: "item", keys: ["id"], select: ["n"], filter: "id < 6", orderBy: [],
      alongside: ["most": "SELECT max(n) FROM item"]),
    // The totaled column is not selected.
    OracleQuery(
      table: "item", keys: ["id"], select: ["note"], filter: "id > 2", section: ("kind", true), orderBy: ["note"],
      totals: ["rows": "count(*)", "n": "sum(n)", "most": "max(n) FILTER (WHERE n < 9)"]),
  ]
}
