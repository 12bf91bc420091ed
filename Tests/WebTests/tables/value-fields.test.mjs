import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { dateForm, fieldText, writtenDate } from "../../../public/browser/date-form.js";
import { hitsQuery } from "../../../public/browser/reference-search.js";
import { plainQuery } from "../../../public/client/sql.js";

const column = (type, members = {}) => ({ name: "c", type, notNull: false, key: 0, ...members });

test("a date field writes what it holds in the form of the column", () => {
  for (const [type, text, held] of [
    ["DATE", "2026-01-31", "2026-01-31"], ["DATETIME", "2026-01-31", "2026-01-31"], ["datetime", "2026-01-31 09:30", "2026-01-31T09:30"],
    ["DATETIME", "2026-01-31 09:30:15", "2026-01-31T09:30:15"], ["TIMESTAMP", "2026-01-31T09:30:15.25Z", "2026-01-31T09:30:15.25"],
    ["TIMESTAMP WITH TIME ZONE", "2026-01-31 09:30:15+02:00", "2026-01-31T09:30:15"], ["DATETIME", "2026-01-31T09:30 Z", "2026-01-31T09:30"],
  ]) {
    const form = dateForm(column(type), text, []);
    assert.ok(form, text);
    assert.equal(fieldText(text, form), held);
    assert.equal(writtenDate(held, form), text);
    assert.equal(writtenDate("", form), "");
  }
  // A browser leaves out seconds that are 0.
  assert.equal(writtenDate("2026-01-31T09:30", dateForm(column("DATETIME"), "2026-01-31 09:30:15.250", [])), "2026-01-31 09:30:00.000");
});

test("what is no date, or more exact than a field, is typed as a text", () => {
  for (const value of ["soon", "2026-02-30", "31.1.2026", "2026-01-31 09:30:15.123456", 1700000000, ""]) assert.equal(dateForm(column("DATETIME"), value, []), null, String(value));
  for (const type of ["TEXT", "TIME", "INTEGER", "timestamp_ms", ""]) assert.equal(dateForm(column(type), "2026-01-31", []), null, type);
});

test("NULL becomes what the others are", () => {
  assert.equal(dateForm(column("DATETIME"), null, [null, 1700000000]), null);
  assert.deepEqual(dateForm(column("DATETIME"), null, [null, "2026-01-31"]), { separator: "", decimals: null, zone: "" });
  assert.equal(writtenDate("2026-01-31T09:30", dateForm(column("DATETIME"), null, [])), "2026-01-31 09:30:00");
  assert.equal(writtenDate("2026-01-31", dateForm(column("DATE"), null, [])), "2026-01-31");
});

/** SQLite's own answer: the rows, one a line. */
function hits(target, key, value, text) {
  const { from, select, where = "1", orderBy, limit, params = {} } = plainQuery(hitsQuery(target, key, value, text));
  const literals = (part) => part.replace(/:v\d+/g, (name) => (typeof params[name.slice(1)] === "number" ? params[name.slice(1)] : `'${params[name.slice(1)].replaceAll("'", "''")}'`));
  const setup = `CREATE TABLE person(id INTEGER PRIMARY KEY, code TEXT, name TEXT);
    INSERT INTO person VALUES (1, 'x', 'Ada'), (2, 'y', 'Canada 17'), (17, 'a%', 'Zoe'), (170, 'b', NULL), (5, 'c', 'adam');`;
  const query = `SELECT ${select.map(literals).join(", ")} FROM ${from} WHERE ${literals(where)} ORDER BY ${orderBy.map(literals).join(", ")} LIMIT ${limit}`;
  return execFileSync("sqlite3", [":memory:", setup + query], { encoding: "utf8" }).trim().split("\n").filter(Boolean);
}

const person = { name: "person", kind: "table", columns: [column("INTEGER", { name: "id", key: 1 }), column("TEXT", { name: "code" }), column("TEXT", { name: "name" })] };

test("a referred-to row is found by its value, then by how its name begins, then by any part of it", () => {
  assert.deepEqual(hits(person, ["id"], "id", "17"), ["17|Zoe", "170|", "2|Canada 17"]);
  assert.deepEqual(hits(person, ["id"], "id", " ADA "), ["1|Ada", "5|adam", "2|Canada 17"]);
  assert.deepEqual(hits(person, ["id"], "code", "%"), ["a%|Zoe"]);
  assert.equal(hits(person, ["id"], "id", "").length, 5);
  const nameless = { ...person, columns: person.columns.slice(0, 1) };
  assert.deepEqual(hits(nameless, ["id"], "id", "17"), ["17|", "170|"]);
});
