// The order of rows as far as the client knows it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareValues } from "../../../public/client/collation.js";
import { Ordering } from "../../../public/client/ordering.js";

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

const columns = ["id", "name", "depth", "operator"];
const row = (members) => ({ id: 1, name: "b", depth: 2, operator: "o", ...members });

// A query, its collations, and how the rows compare (undefined: not known here).
for (const [query, left, right, expected, collations] of [
  [{ from: "well" }, { id: 1 }, { id: 2 }, -1],
  [{ from: "well", orderBy: ["name"] }, { name: "a", id: 2 }, { name: "b", id: 1 }, -1],
  [{ from: "well", orderBy: ["name"] }, { id: 2 }, { id: 1 }, 1],
  [{ from: "well", orderBy: ["depth DESC"] }, { depth: 1 }, { depth: 2 }, 1],
  [{ from: "well", orderBy: ["depth desc  nulls  first"] }, { depth: null }, { depth: 2 }, -1],
  [{ from: "well", orderBy: ["depth DESC"] }, { depth: null }, { depth: 2 }, 1],
  [{ from: "well", orderBy: ["depth"] }, { depth: null }, { depth: 2 }, -1],
  [{ from: "well", orderBy: ["depth NULLS LAST"] }, { depth: null }, { depth: 2 }, 1],
  [{ from: "well", orderBy: ["NAME COLLATE nocase DESC"] }, { name: "a" }, { name: "B" }, 1],
  [{ from: "well", orderBy: ["name COLLATE \"NOCASE\""] }, { name: "a" }, { name: "B" }, -1],
  [{ from: "well", orderBy: ["name"] }, { name: "a" }, { name: "B" }, -1, { name: "NOCASE" }],
  [{ from: "well", orderBy: ["name COLLATE BINARY"] }, { name: "a" }, { name: "B" }, 1, { name: "NOCASE" }],
  [{ from: "well", orderBy: ["name COLLATE own"] }, { name: "a" }, { name: "B" }, undefined],
  [{ from: "well", orderBy: ["well.name"] }, { name: "a" }, { name: "b" }, -1],
  [{ from: "well JOIN operator ON 1", orderBy: ["well.name"] }, { name: "a" }, { name: "b" }, -1],
  [{ from: "well JOIN operator ON 1", orderBy: ["operator.name"] }, { name: "a" }, { name: "b" }, undefined],
  [{ from: "well w", orderBy: ["well.name"] }, { name: "a" }, { name: "b" }, undefined],
  [{ from: "well JOIN operator ON 1", select: ["well.id", "well.name", "operator.name AS operator"], orderBy: ["operator.name"] }, { operator: "a" }, { operator: "b" }, -1],
  [{ from: "well", select: ["id", "upper(name) AS name"], orderBy: ["name"] }, { name: "a" }, { name: "b" }, undefined],
  [{ from: "well", orderBy: ["substr(name, 1, 1)", "upper(substr(name, 2))"] }, { name: "ab", id: 2 }, { name: "aB", id: 1 }, 1],
  [{ from: "well", orderBy: ["substr(depth, 1, 1)"] }, { depth: 1 }, { depth: 2 }, undefined],
  [{ from: "well", orderBy: ["abs(depth)"] }, { depth: 1 }, { depth: 2 }, undefined],
  [{ from: "well", orderBy: ["depth + 1"] }, { depth: 1 }, { depth: 2 }, undefined],
  [{ from: "well", orderBy: ["CASE name WHEN 'x' THEN 1 END"] }, { depth: 1 }, { depth: 2 }, undefined],
  [{ from: "well", orderBy: ['"order"'] }, { depth: 1 }, { depth: 2 }, undefined],
  [{ from: "well", orderBy: ['well."shown depth" DESC'] }, { depth: 1 }, { depth: 2 }, 1],
  [{ from: '"well"', select: ['"id"', 'substr("well"."name", 1, 9) AS "name"', '"depth"'], orderBy: ['"well"."depth"'] }, { depth: 1 }, { depth: 2 }, -1],
  [{ from: '"well"', select: ['"id"', 'substr("well"."name", 1, 9) AS "name"'], orderBy: ['"well"."name"'] }, { name: "a" }, { name: "b" }, undefined],
  [{ name: "published", params: {} }, { depth: 1 }, { depth: 2 }, undefined],
]) {
  test(`${JSON.stringify(query)}: ${JSON.stringify(left)} and ${JSON.stringify(right)}`, () => {
    const order = new Ordering(query, columns, ["id"], { collations, sources: { depth: '"well"."shown depth"' } }).compare(row(left), row(right));
    assert.equal(order === undefined ? undefined : Math.sign(order), expected);
  });
}

test("sections have names by which rows find theirs", () => {
  const sectioning = (sectionBy, members = {}) => new Ordering({ from: "well", sectionBy, ...members }, columns, ["id"]).sectioning;
  assert.equal(sectioning(null), null);
  assert.equal(sectioning("substr(name, 1, 1)").name.evaluate(row({ name: "Abc" })), "A");
  assert.ok(sectioning({ by: "name", order: "DESC" }).by.compare("a", "b") > 0);
  const named = sectioning({ by: "CASE name WHEN 'new' THEN 0 ELSE 1 END", name: "name" });
  assert.deepEqual([named.by, named.name.evaluate(row({ name: "new" }))], [null, "new"]);
  assert.equal(sectioning("depth / 10").name, null);
});
