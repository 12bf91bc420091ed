// The order of rows as far as the client knows it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareValues } from "../../../public/client/collation.js";
import { Ordering } from "../../../public/client/ordering.js";
import { term } from "./patch-writer.mjs";

test("values come in SQLite's order", () => {
  const ordered = [
    null, -Infinity, -9007199254740993n, -1.5, 0, 1n, 1.5, 9007199254740992, 9007199254740993n, "", "B", "a", "ab", "é", "\uffff", "😀",
    new Uint8Array([]), new Uint8Array([1]), new Uint8Array([1, 0]), new Uint8Array([2]),
  ];
  ordered.forEach((left, row) => ordered.forEach((right, column) => {
    assert.equal(Math.sign(compareValues(left, right)), Math.sign(row - column), `${String(left)} and ${String(right)}`);
  }));
  assert.equal(compareValues(1, 1n), 0);
});

for (const [collation, left, right, expected] of [
  ["NOCASE", "a", "B", -1], ["NOCASE", "ABC", "abc", 0], ["NOCASE", "É", "é", -1], ["NOCASE", "_", "a", -1],
  ["RTRIM", "a  ", "a", 0], ["RTRIM", "a b ", "a b", 0], ["RTRIM", " a", "a", -1], ["BINARY", "a", "B", 1], ["BINARY", "a ", "a", 1],
]) {
  test(`${collation}: ${JSON.stringify(left)} and ${JSON.stringify(right)}`, () => {
    assert.equal(Math.sign(compareValues(left, right, collation)), expected);
    assert.equal(Math.sign(compareValues(right, left, collation)), -expected || 0);
  });
}

const row = (members) => ({ id: 1, name: "b", depth: 2, operator: "o", ...members });

const key = term("id");

// Terms, and how rows compare by them (undefined: not known here).
for (const [order, left, right, expected] of [
  [[key], { id: 1 }, { id: 2 }, -1],
  [[term("name"), key], { name: "a", id: 2 }, { name: "b", id: 1 }, -1],
  [[term("name"), key], { id: 2 }, { id: 1 }, 1],
  [[term("depth", { descending: true, nulls: "last" }), key], { depth: 1 }, { depth: 2 }, 1],
  [[term("depth", { descending: true, nulls: "first" }), key], { depth: null }, { depth: 2 }, -1],
  [[term("depth", { descending: true, nulls: "last" }), key], { depth: null }, { depth: 2 }, 1],
  [[term("depth"), key], { depth: null }, { depth: 2 }, -1],
  [[term("depth", { nulls: "last" }), key], { depth: null }, { depth: 2 }, 1],
  [[term("name", { collation: "NOCASE", descending: true }), key], { name: "a" }, { name: "B" }, 1],
  [[term("name", { collation: "NOCASE" }), key], { name: "a" }, { name: "B" }, -1],
  [[term("name", { collation: "own" }), key], { name: "a" }, { name: "B" }, undefined],
  [[term(null, { of: { column: "name", calls: [["substr", 1, 1]] } }), term(null, { of: { column: "name", calls: [["substr", 2], ["upper"]] } }), key], { name: "ab", id: 2 }, { name: "aB", id: 1 }, 1],
  [[term(null, { of: { column: "name", calls: [["lower"]] } }), key], { name: "a" }, { name: "B" }, -1],
  [[term(null, { of: { column: "depth", calls: [["substr", 1, 1]] } }), key], { depth: 1 }, { depth: 2 }, undefined],
  [[term(null, { of: { column: "name", calls: [["soundex"]] } }), key], { name: "a" }, { name: "b" }, undefined],
  [[term(null), key], { depth: 1 }, { depth: 2 }, undefined],
  [undefined, { depth: 1 }, { depth: 2 }, undefined],
]) {
  test(`${JSON.stringify(order)}: ${JSON.stringify(left)} and ${JSON.stringify(right)}`, () => {
    const result = new Ordering({ order }).compare(row(left), row(right));
    assert.equal(result === undefined ? undefined : Math.sign(result), expected);
  });
}

test("sections have names by which rows find theirs", () => {
  const ordering = (sectionOrder) => new Ordering({ order: [key], sectionOrder });
  assert.deepEqual([ordering().isSectioned, ordering().section, new Ordering({}).isSectioned], [false, null, null]);
  assert.equal(ordering(term(null, { of: { column: "name", calls: [["substr", 1, 1]] }, sorted: true })).section.value(row({ name: "Abc" })), "A");
  assert.ok(ordering(term("name", { descending: true, sorted: true })).section.compare("a", "b") > 0);
  const named = ordering(term("name", { sorted: false }));
  assert.deepEqual([named.sortsSections, named.section.value(row({ name: "new" }))], [false, "new"]);
  assert.deepEqual([ordering(term(null, { sorted: true })).section, ordering(term(null, { sorted: true })).isSectioned], [null, true]);
});
