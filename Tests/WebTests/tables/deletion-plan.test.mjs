// Rows that are deleted with a row, and restored: SQLite itself is the oracle.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Catalogue } from "../../../public/browser/catalogue.js";
import { cascadeOf, consequencesIn, countingOf, restoring, unreferredDeletionOf } from "../../../public/browser/deletion-plan.js";
import { plainStatement } from "../../../public/client/sql.js";

const column = (name, key = 0, type = "INTEGER", members = {}) => ({ name, type, notNull: false, key, ...members });
const refers = (columns, table, onDelete, references = []) => ({ columns, table, references, ...(onDelete && { onDelete }) });
// Two paths to the same rows, a table that refers to itself, a circle, keys of two columns, a table without a key, one
// without rowids.
const tables = [
  { name: "customer", kind: "table", columns: [column("id", 1), column("best", 0)], foreignKeys: [refers(["best"], "order", "set null")] },
  { name: "order", kind: "table", columns: [column("id", 1), column("customer"), column("parent"), column("twice", 0, "", { generated: true })],
    foreignKeys: [refers(["customer"], "Customer", "cascade"), refers(["parent"], "order", "cascade")] },
  { name: "item", kind: "table", withoutRowid: true, key: ["o", "line \"no\""], columns: [column("o", 1), column("line \"no\"", 2), column("customer")],
    foreignKeys: [refers(["o"], "order", "cascade"), refers(["customer"], "customer", "cascade")] },
  { name: "serial", kind: "table", columns: [column("o"), column("line")], foreignKeys: [refers(["o", "line"], "item", "cascade", ["o", "line \"no\""])] },
  { name: "note", kind: "table", columns: [column("id", 1), column("o"), column("text", 0, "TEXT")], foreignKeys: [refers(["o"], "order", "set null")] },
  { name: "audit", kind: "table", columns: [column("id", 1), column("o")], foreignKeys: [refers(["o"], "order")] },
];
const schema = `PRAGMA foreign_keys = ON;
  CREATE TABLE customer(id INTEGER PRIMARY KEY, best REFERENCES "order" ON DELETE SET NULL);
  CREATE TABLE "order"(id INTEGER PRIMARY KEY, customer REFERENCES customer ON DELETE CASCADE, parent REFERENCES "order" ON DELETE CASCADE, twice AS (id * 2));
  CREATE TABLE item(o REFERENCES "order" ON DELETE CASCADE, "line ""no""", customer REFERENCES customer ON DELETE CASCADE, PRIMARY KEY (o, "line ""no""")) WITHOUT ROWID;
  CREATE TABLE serial(o, line, FOREIGN KEY (o, line) REFERENCES item ON DELETE CASCADE);
  CREATE TABLE note(id INTEGER PRIMARY KEY, o REFERENCES "order" ON DELETE SET NULL, text);
  CREATE TABLE audit(id INTEGER PRIMARY KEY, o REFERENCES "order");
  INSERT INTO customer(id) VALUES (1), (2), (3), (4);
  INSERT INTO "order" VALUES (10, 1, NULL), (11, 1, 10), (12, 2, 11), (13, 2, NULL), (14, 3, 14), (15, NULL, 13);
  UPDATE customer SET best = 10 WHERE id IN (1, 2); UPDATE customer SET best = 14 WHERE id = 3;
  INSERT INTO item VALUES (10, 1, 1), (10, 2, 2), (11, 1, NULL), (12, 1, 2), (15, 7, 1);
  INSERT INTO serial VALUES (10, 1), (10, 1), (12, 1), (NULL, 1), (15, 7);
  INSERT INTO note VALUES (1, 10, 'a'), (2, 12, 'b'), (3, NULL, 'c'), (4, 13, 'd');
  INSERT INTO audit VALUES (1, 15);`;
const catalogue = new Catalogue(tables);
const literal = (value) => (value === null || value === undefined ? "NULL" : typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value));
const text = (statement) => {
  const { sql, params = {} } = plainStatement(statement);
  return sql.replace(/:v\d+/g, (name) => literal(params[name.slice(1)]));
};

/** The rows of the last statement. */
function run(...statements) {
  const output = execFileSync("sqlite3", ["-json", ":memory:", `${schema}\n${statements.map((each) => (typeof each === "string" ? each : text(each))).join(";\n")};`], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return output.trim() === "" ? [] : JSON.parse(output.slice(output.lastIndexOf("\n[") + 1));
}

const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
/** A SELECT of all rows of all tables, with their rowids if these are hidden. */
const everything = tables.map(({ name, columns }) => {
  const number = name === "serial" ? "rowid" : "0";
  return `SELECT '${name}' AS t, ${number} AS r, json_array(${columns.map((each) => quoted(each.name)).join(", ")}) AS v FROM ${quoted(name)}`;
}).join(" UNION ALL ") + " ORDER BY 1, 2, 3";
const keys = [["customer", { id: 1 }], ["customer", { id: 2 }], ["customer", { id: 3 }], ["customer", { id: 4 }], ...[10, 11, 12, 13, 14, 15].map((id) => ["order", { id }]), ["item", { o: 10, "line \"no\"": 1 }], ["note", { id: 1 }]];
const isRow = (key) => Object.entries(key).map(([name, value]) => `${quoted(name)} = ${value}`).join(" AND ");

test("what goes with a row, changes or forbids it is what SQLite then does", () => {
  assert.deepEqual(cascadeOf(catalogue, tables[0]).map(({ name }) => name), ["customer", "order", "item", "serial"]);
  const before = run(everything);
  for (const [name, key] of keys) {
    const { statement, tables: named } = countingOf(catalogue, catalogue.find(name), [key]);
    const { deleted, changed, refusing } = consequencesIn(run(statement), named);
    const after = refusing.length > 0 ? null : run(`DELETE FROM ${quoted(name)} WHERE ${isRow(key)}`, everything);
    if (after === null) {
      assert.throws(() => execFileSync("sqlite3", ["-bail", ":memory:", `${schema} DELETE FROM ${quoted(name)} WHERE ${isRow(key)}`], { stdio: "ignore" }), `${name} ${JSON.stringify(key)}`);
      continue;
    }
    const ids = (rows) => new Set(rows.map(({ t, r, v }) => (t === "customer" || t === "note" ? `${t} ${JSON.parse(v)[0]}` : `${t} ${r} ${v}`)));
    const gone = [...ids(before)].filter((id) => !ids(after).has(id)).map((id) => id.split(" ")[0]);
    gone.splice(gone.indexOf(name), 1);
    const expected = Object.fromEntries([...new Set(gone)].sort().map((table) => [table, gone.filter((each) => each === table).length]));
    assert.deepEqual(Object.fromEntries(deleted.map(({ table, rows }) => [table, rows]).sort()), expected, `${name} ${JSON.stringify(key)}`);
    const different = after.filter(({ t, v }) => !before.some((row) => row.t === t && row.v === v)).map(({ t }) => t);
    assert.equal(changed.reduce((sum, { rows }) => sum + rows, 0), different.length, `${name} ${JSON.stringify(key)} changes`);
  }
  const { statement, tables: named } = countingOf(catalogue, tables[0], [{ id: 1 }]);
  assert.deepEqual(consequencesIn(run(statement), named).refusing, [], "15 is not among them");
  const refused = countingOf(catalogue, catalogue.find("order"), [{ id: 13 }]);
  assert.deepEqual(consequencesIn(run(refused.statement), refused.tables).refusing, [{ table: "audit", rows: 1 }]);
});

/**
 * The feed's changes for a deletion: first the deletions, in random order of parents and children, then the updates.
 */
function changesBy(name, key, seed) {
  const before = run(everything);
  const after = run(`DELETE FROM ${quoted(name)} WHERE ${isRow(key)}`, everything);
  const rowOf = ({ t, r, v }) => {
    const table = catalogue.find(t);
    const row = Object.fromEntries(table.columns.map((each, index) => [each.name, JSON.parse(v)[index]]));
    return { table, row, key: Object.fromEntries(catalogue.keyOf(table).map((column) => [column, column === "rowid" ? r : row[column]])) };
  };
  const found = new Map(after.map((each) => { const { table, row, key: its } = rowOf(each); return [`${table.name} ${JSON.stringify(its)}`, row]; }));
  const changes = before.flatMap((each) => {
    const { table, row, key: its } = rowOf(each);
    const now = found.get(`${table.name} ${JSON.stringify(its)}`);
    if (!now) return [{ table: table.name, op: "delete", key: its, old: row }];
    const old = Object.fromEntries(Object.entries(row).filter(([column, value]) => now[column] !== value));
    return Object.keys(old).length > 0 ? [{ table: table.name, op: "update", key: its, old, new: now }] : [];
  });
  return changes.map((change, index) => [((index + 1) * seed) % 17, change]).sort(([left], [right]) => left - right).map(([, change]) => change);
}

test("all rows of a deletion come back, parents first, under their rowids, with what referred to them", () => {
  const before = run(everything);
  for (const [name, key] of keys) {
    if (run(countingOf(catalogue, catalogue.find(name), [key]).statement).some(({ effect, n }) => effect === "refusing" && n > 0)) continue;
    for (const seed of [3, 5, 11]) {
      const statements = restoring(catalogue, changesBy(name, key, seed));
      // `-bail` ends the script at the first error.
      const script = [`${schema}\nDELETE FROM ${quoted(name)} WHERE ${isRow(key)}`, "BEGIN", ...statements.map(text), "COMMIT", everything].join(";\n");
      const found = execFileSync("sqlite3", ["-json", "-bail", ":memory:", `${script};`], { encoding: "utf8" });
      assert.deepEqual(JSON.parse(found), before, `${name} ${JSON.stringify(key)}`);
    }
  }
  assert.equal(restoring(catalogue, [{ table: "note", op: "delete", key: { id: 1 } }]), null, "the former row is not known");
});

test("what another program has changed since stays", () => {
  const [statement] = restoring(catalogue, [{ table: "note", op: "update", key: { id: 1 }, old: { o: 10 }, new: { id: 1, o: null, text: "a" } }]);
  const find = "SELECT o FROM note WHERE id = 1";
  assert.deepEqual(run("UPDATE note SET o = NULL WHERE id = 1", statement, find), [{ o: 10 }]);
  assert.deepEqual(run("UPDATE note SET o = 12 WHERE id = 1", statement, find), [{ o: 12 }]);
});

test("a row that is referred to by now is not deleted by undoing its insertion", () => {
  const left = (name, key) => run(unreferredDeletionOf(catalogue, catalogue.find(name), key), `SELECT count(*) AS n FROM ${quoted(name)} WHERE ${isRow(key)}`)[0].n;
  assert.deepEqual([left("customer", { id: 4 }), left("customer", { id: 1 }), left("order", { id: 10 }), left("note", { id: 1 })], [0, 1, 1, 0]);
});
