import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { wholeTable } from "../../../public/browser/address.js";
import { operators } from "../../../public/browser/filters.js";
import { keyCandidates } from "../../../public/browser/key-candidates.js";
import { firstRowsOf, matchOf, queryOf, queryToShare } from "../../../public/browser/table-query.js";
import { toggled } from "../../../public/browser/totals.js";
import { plainQuery } from "../../../public/client/sql.js";

const column = (name, type = "TEXT", key = 0) => ({ name, type, notNull: false, key });
const orders = { name: "orders", kind: "table", columns: [column("id", "INTEGER", 1), column("total", "REAL"), column("note"), column("any", "")] };

/** A value as a literal of SQL. */
const literal = (value) => (typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`);

/** SQLite's own answer: the ids of the rows. */
function ids(query, rows) {
  const { from, where, orderBy = [], params = {} } = plainQuery(query);
  const condition = (where ?? "1").replace(/:v\d+/g, (name) => literal(params[name.slice(1)]));
  const setup = `CREATE TABLE orders(id INTEGER PRIMARY KEY, total REAL, note TEXT, "any"); INSERT INTO orders VALUES ${rows};`;
  const select = `SELECT group_concat(id) FROM (SELECT id FROM ${from} WHERE ${condition}${orderBy.length ? ` ORDER BY ${orderBy.join(", ")}` : ""});`;
  return execFileSync("sqlite3", [":memory:", setup + select], { encoding: "utf8" }).trim();
}

const rows = `(1, 2.5, '50% off', 7), (2, 10, 'it''s', '7'), (3, NULL, NULL, NULL), (4, 7, '500', x'37')`;
const filtered = (filter) => ids(queryOf(orders, { ...wholeTable("orders"), filters: [filter] }, null, ["id"]), rows);

test("filters mean in SQLite what they say", () => {
  const cases = [
    ["note", "contains", "0%", "1"], ["note", "contains", "IT'S", "2"], ["note", "null", "", "3"], ["note", "notnull", "", "1,2,4"],
    ["total", "gt", "9", "2"], ["total", "ge", "7", "2,4"], ["total", "lt", "7", "1"], ["total", "le", "7", "1,4"], ["total", "eq", "10.0", "2"],
    ["note", "eq", "500", "4"], ["note", "ne", "500", "1,2,3"],
    // Without an affinity, 7 and '7' are two values that look alike.
    ["any", "eq", "7", "1,2"], ["any", "ne", "7", "3,4"],
  ];
  for (const [name, operator, value, expected] of cases) {
    assert.equal(filtered({ column: name, operator, value }), expected, `${name} ${operators[operator]} ${value}`);
  }
  assert.throws(() => filtered({ column: "note", operator: "like", value: "" }), /There is no filter “like”/);
});

test("several conditions all have to hold, somebody's OR among them", () => {
  const address = { ...wholeTable("orders"), where: "id = 1 OR id = 4", filters: [{ column: "total", operator: "gt", value: "5" }] };
  assert.equal(ids(queryOf(orders, address, null, ["id"]), rows), "4");
});

test("sorting is by whole values, by several columns", () => {
  const address = { ...wholeTable("orders"), sort: [{ column: "total", descending: true }, { column: "id", descending: false }] };
  assert.equal(ids(queryOf(orders, address, null, ["id"]), rows), "2,4,1,3");
  assert.deepEqual(plainQuery(queryOf(orders, address, null, ["id"])).orderBy, ['"orders"."total" DESC', '"orders"."id"']);
});

test("totals are of all rows, and not asked of the first ones", () => {
  const totals = [{ column: "total", call: "sum" }, { column: "note", call: "max" }, { column: "gone", call: "avg" }];
  const address = { ...wholeTable("orders"), totals };
  const query = queryOf(orders, address, null, ["id"]);
  assert.deepEqual(plainQuery(query).totals, { "sum(total)": 'sum("orders"."total")', "max(note)": 'substr(max("orders"."note"), 1, 60)' });
  assert.equal("totals" in firstRowsOf(query, orders, ["id"]), false);
  assert.deepEqual(queryToShare(orders, address, null, ["id"]).totals, { "sum(total)": "sum(total)", "max(note)": "max(note)" });
  assert.equal("totals" in queryOf(orders, wholeTable("orders"), null, ["id"]), false);
  assert.deepEqual(toggled(toggled(totals, "total", "sum"), "id", "min"), [totals[1], totals[2], { column: "id", call: "min" }]);
});

test("long values are sent only in part, keys and numbers as they are", () => {
  const { select } = queryOf(orders, wholeTable("orders"), null, ["id"]);
  assert.deepEqual(select.slice(0, 2), ['"id"', '"total"']);
  const expression = select.find((part) => part.endsWith('AS "any"'));
  const types = execFileSync("sqlite3", [":memory:", `CREATE TABLE orders("any"); INSERT INTO orders VALUES (7), (2.5), (NULL), ('a'), (zeroblob(100)), (printf('%400s', ''));
    SELECT group_concat(typeof("any") || length("any")) FROM (SELECT ${expression} FROM orders);`], { encoding: "utf8" });
  assert.equal(types.trim(), "integer1,real3,text1,blob64,text301");
});

test("rows without a key are numbered", () => {
  const { from, key } = plainQuery(queryOf(orders, wholeTable("orders"), null, ["#"]));
  assert.equal(from, '(SELECT row_number() OVER () AS "#", * FROM "orders") AS "orders"');
  assert.deepEqual(key, ['"#"']);
});

test("words are looked up in the index, whatever they hold", () => {
  const search = { index: "orders_fts", rowid: "id" };
  const { where, params } = plainQuery(queryOf(orders, { ...wholeTable("orders"), search: 'a" OR b' }, search, ["id"]));
  assert.equal(where, '"orders"."id" IN (SELECT rowid FROM "orders_fts" WHERE "orders_fts" MATCH :v1)');
  assert.equal(params.v1, '"a""" "OR" "b"*');
  const found = execFileSync("sqlite3", [":memory:", `CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('quick brown'), ('brown'), ('quick bread');
    SELECT group_concat(x) FROM f WHERE f MATCH '${matchOf("quick br")}'`], { encoding: "utf8" });
  assert.equal(found.trim(), "quick brown,quick bread");
});

test("what is taken elsewhere is as somebody would write it", () => {
  const address = { ...wholeTable("orders"), where: "total > 1", section: "note", sort: [{ column: "any", descending: true }],
    filters: [{ column: "id", operator: "gt", value: "3" }] };
  assert.deepEqual(queryToShare(orders, address, null, ["id"]),
    { from: "orders", where: "(id > :v1) AND (total > 1)", params: { v1: 3 }, sectionBy: "note", orderBy: ["any DESC"] });
  assert.deepEqual(queryToShare({ ...orders, name: "Order Details", kind: "view" }, wholeTable(""), null, ["id", "order"]),
    { from: '"Order Details"', key: ["id", '"order"'] });
});

test("keys of views are guessed from the names of their columns", () => {
  const guess = (name, ...columns) => keyCandidates({ name, columns: columns.map((each) => ({ name: each })) });
  assert.deepEqual(guess("v", "name", "ID")[0], ["ID"]);
  assert.deepEqual(guess("Orders Qry", "CustomerID", "OrderID", "Freight")[0], ["CustomerID"], "the first that ends in id");
  assert.deepEqual(guess("categories", "name", "product_id", "category_id")[0], ["category_id"]);
  assert.deepEqual(guess("v", "a", "b"), [["a"], ["a", "b"], ["#"]]);
  assert.deepEqual(guess("v", "x", "order_id", "product_id"),
    [["order_id"], ["product_id"], ["x"], ["order_id", "product_id"], ["order_id", "x"], ["product_id", "x"], ["x", "order_id", "product_id"], ["#"]]);
});
