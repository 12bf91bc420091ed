import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, parseAddress, wholeTable } from "../../../public/browser/address.js";
import { isDate } from "../../../public/browser/cell-text.js";
import { firstGroup } from "../../../public/browser/groups.js";
import { drawnMeasure, measureNames, rowsOfGroup, summaryQuery, summaryToShare } from "../../../public/browser/summary-query.js";
import { plainQuery } from "../../../public/client/sql.js";

const column = (name, type = "TEXT", key = 0) => ({ name, type, notNull: false, key });
const orders = { name: "orders", kind: "table", columns: [column("id", "INTEGER", 1), column("status"), column("total", "REAL"), column("created", "INTEGER")] };
const at = (hash) => parseAddress(hash);

test("an address says the groups, the totals and what is drawn", () => {
  const hash = "#/orders?total=sum%3Atotal&group=month%3Acreated%2Cstatus&chart=count";
  assert.deepEqual(at(hash).groups, [{ column: "created", period: "month" }, { column: "status", period: null }]);
  assert.equal(formatAddress(at(hash)), hash);
  assert.deepEqual(at("#/a?group=x,y,z").groups.length, 2, "no more than can be drawn");
  const odd = { ...wholeTable("a"), groups: [{ column: "month:of,x", period: null }] };
  assert.deepEqual(at(formatAddress(odd)).groups, odd.groups);
});

test("the query has a row for each group, with the count and the totals", () => {
  const query = plainQuery(summaryQuery(orders, at("#/orders?group=status&total=sum:total&filter=total:gt:5"), null));
  assert.deepEqual(query.select, ['"orders"."status" AS "status"', 'count(*) AS "count"', 'sum("orders"."total") AS "sum(total)"']);
  assert.deepEqual(query.groupBy, ['"orders"."status"']);
  assert.deepEqual(query.orderBy, ['sum("orders"."total") DESC']);
  assert.deepEqual([query.where, query.params], ['"orders"."total" > :v1', { v1: 5 }]);
});

test("periods come newest first, unless the address sorts otherwise", () => {
  const { orderBy: [usual] } = plainQuery(summaryQuery(orders, at("#/orders?group=month:created"), null));
  assert.match(usual, /^strftime\('%Y-%m', CASE .* 'auto'\) DESC$/);
  const { orderBy } = plainQuery(summaryQuery(orders, at("#/orders?group=week:created&sort=count,gone"), null));
  assert.deepEqual(orderBy, ["count(*)"]);
});

test("what is drawn is what the address says, the first total, or the count", () => {
  assert.equal(drawnMeasure(orders, at("#/orders?group=status")), "count");
  assert.equal(drawnMeasure(orders, at("#/orders?group=status&total=avg:total")), "avg(total)");
  assert.equal(drawnMeasure(orders, at("#/orders?group=status&total=avg:total&chart=count")), "count");
  assert.equal(drawnMeasure(orders, at("#/orders?group=status&chart=max(gone)")), "count");
});

test("a group that is called count is not mistaken for the number of rows", () => {
  const table = { name: "t", kind: "table", columns: [column("count", "INTEGER")] };
  assert.deepEqual(measureNames(table, at("#/t?group=count")), ["count(*)"]);
});

test("a group leads to its rows", () => {
  const address = at("#/orders?group=month:created,status&where=total > 1 OR id = 1");
  const { where, filters, groups } = rowsOfGroup(orders, address, { "month of created": "2024-03", status: null, count: 7 });
  assert.match(where, /^\(total > 1 OR id = 1\) AND strftime\('%Y-%m', .*"created".*\) IS '2024-03'$/);
  assert.deepEqual([filters, groups], [[{ column: "status", operator: "null", value: "" }], []]);
  const [filter] = rowsOfGroup(orders, at("#/orders?group=status"), { status: "it's" }).filters;
  assert.deepEqual(filter, { column: "status", operator: "eq", value: "it's" });
});

test("a summary begins with the sections on the screen, then with a date, then with a text", () => {
  assert.deepEqual(firstGroup(orders, "status", isDate), { column: "status", period: null });
  assert.deepEqual(firstGroup(orders, null, isDate), { column: "created", period: "month" });
  const plain = { ...orders, columns: orders.columns.filter(({ name }) => name !== "created") };
  assert.deepEqual(firstGroup(plain, null, isDate), { column: "status", period: null });
});

test("the query is shared as JSON", () => {
  const query = summaryToShare(orders, at("#/orders?group=status"), null);
  assert.deepEqual(query, { from: '"orders"', select: ['"orders"."status" AS "status"', 'count(*) AS "count"'], groupBy: ['"orders"."status"'], orderBy: ["count(*) DESC"] });
});
