import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { deleteOf, insertOf, restoreOf, rowidName, updateOf } from "../../../public/browser/statements.js";
import { plainStatement } from "../../../public/client/sql.js";

const table = { name: 'odd "t', kind: "table", columns: [
  { name: "a", type: "", notNull: false, key: 0 }, { name: "b c", type: "", notNull: false, key: 0 }, { name: "twice", type: "", notNull: false, key: 0, generated: true }] };
const schema = 'CREATE TABLE "odd ""t"(a, "b c", twice AS (a * 2)); INSERT INTO "odd ""t"(rowid, a, "b c") VALUES (5, 1, x\'00ff\'), (9, NULL, \'x\');';

/** The statements one after the other, and the table afterwards. */
function run(...statements) {
  const literal = (value) => (value === null ? "NULL" : typeof value === "string" ? `'${value}'` : value instanceof Uint8Array
    ? `x'${Buffer.from(value).toString("hex")}'` : String(value));
  const texts = statements.map(plainStatement).map(({ sql, params = {} }) => sql.replace(/:v\d+/g, (name) => literal(params[name.slice(1)])));
  const script = `${schema}${texts.join(";\n")};\nSELECT '--', rowid, a, quote("b c"), twice FROM "odd ""t" ORDER BY rowid`;
  return execFileSync("sqlite3", [":memory:", script], { encoding: "utf8" }).trim().split("\n");
}

test("one value of one row is changed, also of a key that is NULL", () => {
  assert.deepEqual(run(updateOf(table, { rowid: 5 }, "b c", "new")), ["--|5|1|'new'|2", "--|9||'x'|"]);
  assert.deepEqual(run(updateOf(table, { a: null, "b c": "x" }, "a", 7)), ["--|5|1|X'00FF'|2", "--|9|7|'x'|14"]);
});

test("a value is changed only where it is still the old one, letter by letter and of the same kind", () => {
  const changed = (stored, old) => {
    const script = `CREATE TABLE t(id INTEGER PRIMARY KEY, "a b" COLLATE NOCASE, n NUMERIC); INSERT INTO t VALUES (1, ${stored}, NULL);`;
    const { sql, params } = plainStatement(updateOf({ name: "t", columns: [] }, { id: 1 }, "a b", "new", old));
    const literal = (value) => (value === null ? "NULL" : typeof value === "string" ? `'${value}'` : value instanceof Uint8Array ? `x'${Buffer.from(value).toString("hex")}'` : String(value));
    return execFileSync("sqlite3", [":memory:", `${script}${sql.replace(/:v\d+/g, (name) => literal(params[name.slice(1)]))}; SELECT changes()`], { encoding: "utf8" }).trim() === "1";
  };
  for (const [stored, old] of [["'Ann'", "Ann"], ["NULL", null], ["5", 5], ["1.5", 1.5], ["x'41'", new Uint8Array([0x41])], ["'Ann'", undefined]]) assert.ok(changed(stored, old), stored);
  for (const [stored, old] of [["'ann'", "Ann"], ["'Ann '", "Ann"], ["NULL", ""], ["''", null], ["'5'", 5], ["5", "5"], ["x'41'", "A"], ["'A'", new Uint8Array([0x41])]]) {
    assert.ok(!changed(stored, old), `${stored} is not ${old}`);
  }
});

test("a large BLOB is known by its length and its ends", () => {
  const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => index % 251);
  const old = (change) => { const other = bytes.slice(); change(other); return other; };
  const changed = (stored, expected) => run(`UPDATE "odd ""t" SET "b c" = x'${Buffer.from(stored).toString("hex")}'`, updateOf(table, { rowid: 5 }, "b c", "new", expected))[0].includes("'new'");
  assert.ok(changed(bytes, bytes));
  for (const other of [bytes.slice(1), old((all) => { all[3] += 1; }), old((all) => { all[19_999] += 1; })]) assert.ok(!changed(other, bytes));
  assert.ok(JSON.stringify(plainStatement(updateOf(table, { rowid: 5 }, "b c", "new", bytes)).params).length < 200_000);
});

test("what is deleted is put back under its rowid, generated columns by themselves", () => {
  const gone = run(deleteOf(table, { rowid: 5 }, "rowid"));
  assert.equal(gone[0].split("|")[0], "5");
  assert.deepEqual(gone.slice(1), ["--|9||'x'|"]);
  const row = { rowid: 5, a: 1, "b c": new Uint8Array([0, 255]), twice: 2 };
  assert.deepEqual(run(deleteOf(table, { rowid: 5 }, "rowid"), restoreOf(table, row, "rowid")).slice(1), ["--|5|1|X'00FF'|2", "--|9||'x'|"]);
});

test("a row is added with some values, or none", () => {
  assert.deepEqual(run(insertOf(table, { a: 4 }, ["rowid"])), ["10", "--|5|1|X'00FF'|2", "--|9||'x'|", "--|10|4|NULL|8"]);
  assert.deepEqual(run(insertOf(table, {})).at(-1), "--|10||NULL|");
});

test("the rowid has a name that no column has", () => {
  const named = (...names) => ({ ...table, columns: names.map((name) => ({ name })) });
  assert.equal(rowidName(named("a"), true), "rowid");
  assert.equal(rowidName(named("ROWID", "oid"), true), "_rowid_");
  assert.equal(rowidName(named("rowid", "oid", "_rowid_"), true), null);
  assert.equal(rowidName(named("a"), false), null);
});
