import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, parseAddress, wholeTable } from "../../../public/browser/address.js";

test("an address is read as it was written, whatever is in it", () => {
  const addresses = [
    wholeTable("orders"),
    wholeTable("Order Details"),
    wholeTable("a/b?c#d%e"),
    {
      table: "orders", where: "total > 3 AND note LIKE '%a&b=c%'", search: "ann b", section: "a,b", key: ["a,b", "-c", "%"],
      groups: [{ column: "week:of,x", period: null }, { column: "a", period: "week" }], chart: "sum(a:b,c)", totals: [{ column: "a:b,c", call: "sum" }, { column: "-x", call: "max" }],
      sort: [{ column: "-x,y", descending: true }, { column: "name", descending: false }],
      filters: [{ column: "a:b", operator: "eq", value: "x:y" }, { column: "note", operator: "null", value: "" }],
      row: [1, "a", null, 9007199254740993n, new Uint8Array([0, 255])],
    },
  ];
  for (const address of addresses) assert.deepEqual(parseAddress(formatAddress(address)), address);
});

test("an address can be typed", () => {
  const { table, where, sort, filters, totals } = parseAddress("#/orders?where=total>3&sort=-total,name&filter=state:eq:GA&total=sum:total,nothing:x,max:,avg:n");
  assert.equal(table, "orders");
  assert.equal(where, "total>3");
  assert.deepEqual(sort, [{ column: "total", descending: true }, { column: "name", descending: false }]);
  assert.deepEqual(filters, [{ column: "state", operator: "eq", value: "GA" }]);
  assert.deepEqual(totals, [{ column: "total", call: "sum" }, { column: "n", call: "avg" }]);
  assert.equal(formatAddress(wholeTable("orders")), "#/orders");
});

test("nonsense is an address of nothing in particular", () => {
  for (const hash of ["", "#", "#/", "#/?row={", "#/?row=1"]) assert.deepEqual(parseAddress(hash), wholeTable(""));
  assert.equal(parseAddress("#/100%").table, "100%");
});
