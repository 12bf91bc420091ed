import assert from "node:assert/strict";
import { test } from "node:test";
import { Catalogue } from "../../../public/browser/catalogue.js";

const column = (name, key = 0, type = "INTEGER") => ({ name, type, notNull: false, key });
const tables = [
  { name: "__migrations", kind: "table", columns: [column("id", 1)] },
  { name: "a_view", kind: "view", columns: [column("x")] },
  { name: "customer", kind: "table", columns: [column("id", 1), column("name", 0, "TEXT")] },
  { name: "notes", kind: "virtual", columns: [column("body")], module: "fts5", content: "Customer", contentRowid: "id" },
  { name: "notes_data", kind: "table", columns: [column("id", 1), column("block")] },
  { name: "my_data", kind: "table", columns: [column("x")] },
  { name: "orders", kind: "table", columns: [column("number", 1), column("buyer")],
    foreignKeys: [{ columns: ["buyer"], table: "CUSTOMER", references: [] }, { columns: ["buyer"], table: "gone", references: ["id"] }] },
  { name: "part", kind: "table", key: ["b", "a"], withoutRowid: true, columns: [column("a", 2), column("b", 1)] },
];
const catalogue = new Catalogue(tables);
const find = (name) => catalogue.find(name);

test("the first table is one that people keep something in", () => {
  assert.equal(catalogue.first.name, "customer");
  assert.equal(new Catalogue(tables.slice(0, 2)).first.name, "__migrations");
  assert.equal(new Catalogue(tables.slice(1, 2)).first.name, "a_view");
  assert.equal(new Catalogue([]).first, null);
});

test("what a full-text index keeps for itself is put aside, other tables with such names are not", () => {
  const names = (group) => group.map(({ name }) => name);
  assert.deepEqual(names(catalogue.groups.tables), ["__migrations", "customer", "my_data", "orders", "part"]);
  assert.deepEqual(names(catalogue.groups.views), ["a_view"]);
  assert.deepEqual(names(catalogue.groups.others), ["notes", "notes_data"]);
});

test("keys are declared, or the rowid", () => {
  assert.deepEqual(catalogue.keyOf(find("part")), ["b", "a"]);
  assert.deepEqual(catalogue.keyOf({ ...find("part"), key: undefined }), ["b", "a"]);
  assert.deepEqual(catalogue.keyOf(find("my_data")), ["rowid"]);
  assert.equal(catalogue.keyOf(find("a_view")), null);
  assert.deepEqual(["customer", "my_data", "part", "notes", "a_view"].map((name) => catalogue.hasHiddenRowid(find(name))), [false, true, false, false, false]);
});

test("references lead both ways, to keys that were not named and names in another case", () => {
  assert.deepEqual(catalogue.referencesFrom(find("orders")), [{ columns: ["buyer"], table: "customer", references: ["id"], isKey: true }]);
  assert.deepEqual(catalogue.referencesTo(find("customer")), [{ columns: ["buyer"], table: "orders", references: ["id"], isKey: true }]);
});

test("a table is searched by the index over it", () => {
  assert.deepEqual(catalogue.searchOf(find("customer")), { index: "notes", rowid: "id" });
  assert.deepEqual(catalogue.searchOf(find("notes")), { index: "notes", rowid: "rowid" });
  assert.equal(catalogue.searchOf(find("orders")), null);
});
