import assert from "node:assert/strict";
import { test } from "node:test";
import { canPutBack, inPutBackOrder, putBackOf, repeatOf } from "../../../public/activity/put-back.js";
import { plainStatement } from "../../../public/client/sql.js";

const column = (name, generated) => ({ name, type: "TEXT", notNull: false, key: name === "id" ? 1 : 0, generated });
const table = { name: "orders", kind: "table", columns: [column("id"), column("total"), column("tax", true)] };
const text = (statement) => {
  const { sql, params } = plainStatement(statement);
  return sql.replace(/:v\d+/g, (name) => JSON.stringify(params[name.slice(1)]));
};

test("a changed row gets its old values, where it still has the new ones", () => {
  const change = { table: "orders", op: "update", key: { id: 7 }, old: { total: 10, tax: 1 }, new: { id: 7, total: 12, tax: 2 } };
  assert.equal(text(putBackOf(table, change)), 'UPDATE "orders" SET "total" = 10 WHERE "id" IS 7 AND "total" COLLATE BINARY IS 12');
  assert.equal(text(repeatOf(table, change)), 'UPDATE "orders" SET "total" = 12 WHERE "id" IS 7 AND "total" COLLATE BINARY IS 10');
});

test("a deleted row comes back, without columns that the database computes", () => {
  const change = { table: "orders", op: "delete", key: { id: 8 }, old: { id: 8, total: null, tax: 0 } };
  assert.equal(text(putBackOf(table, change)), 'INSERT INTO "orders" ("id", "total") VALUES (8, null)');
  assert.equal(text(repeatOf(table, change)), 'DELETE FROM "orders" WHERE "id" IS 8 AND "id" COLLATE BINARY IS 8 AND "total" COLLATE BINARY IS null');
});

test("a deleted row without a key comes back under its number", () => {
  const log = { name: "log", kind: "table", columns: [column("line")] };
  assert.equal(text(putBackOf(log, { table: "log", op: "delete", key: { rowid: 3 }, old: { line: "x" } })), 'INSERT INTO "log" ("rowid", "line") VALUES (3, "x")');
});

test("an added row goes, unless it has changed since", () => {
  const change = { table: "orders", op: "insert", key: { id: 9 }, new: { id: 9, total: 1, tax: 0 } };
  assert.equal(text(putBackOf(table, change)), 'DELETE FROM "orders" WHERE "id" IS 9 AND "id" COLLATE BINARY IS 9 AND "total" COLLATE BINARY IS 1');
  assert.equal(text(repeatOf(table, change)), 'INSERT INTO "orders" ("id", "total") VALUES (9, 1)');
});

test("what is not known cannot be put back, and rows that refer to others go before and come after them", () => {
  assert.equal(canPutBack({ table: "orders", op: "delete", key: { id: 1 } }), false);
  assert.equal(canPutBack({ table: "orders", op: "schema" }), false);
  const changes = [{ op: "delete", old: {}, table: "a" }, { op: "delete", old: {}, table: "b" }, { op: "update", old: {}, table: "c" }, { op: "insert", new: {}, table: "d" }];
  assert.deepEqual(inPutBackOrder(changes).map(({ table: name }) => name), ["d", "c", "b", "a"]);
});
