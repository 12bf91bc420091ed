import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { affinityOf, numberIn, typedText, valueOf } from "../../../public/browser/affinity.js";
import { cellText, fileKind, sizeText } from "../../../public/browser/cell-text.js";
import { naturalWidth, spread } from "../../../public/browser/column-widths.js";

const column = (type, name = "x") => ({ name, type, notNull: false, key: 0 });

test("affinities are SQLite's", () => {
  const types = ["INT", "BIGINT", "VARCHAR(20)", "CLOB", "", "BLOB", "DOUBLE", "FLOATING POINT", "REAL", "DECIMAL(10,5)", "DATE", "BOOLEAN", "STRING", "nvarchar"];
  const sql = `CREATE TABLE t(${types.map((type, index) => `c${index} ${type}`).join(", ")}); INSERT INTO t VALUES (${types.map(() => "'1.0'").join(", ")});
    SELECT ${types.map((_, index) => `typeof(c${index})`).join(" || ',' || ")} FROM t`;
  // '1.0' becomes an integer by INTEGER and NUMERIC, a real by REAL, and stays what it is otherwise.
  const kept = { integer: ["INTEGER", "NUMERIC"], real: ["REAL"], text: ["TEXT", "BLOB"] };
  const stored = execFileSync("sqlite3", [":memory:", sql], { encoding: "utf8" }).trim().split(",");
  stored.forEach((type, index) => assert.ok(kept[type].includes(affinityOf(types[index])), `${types[index]}: ${affinityOf(types[index])}, stored as ${type}`));
});

test("what is typed becomes a value of the column's kind", () => {
  const cases = [
    ["12", "INTEGER", 12], [" 12 ", "INTEGER", 12], ["12", "TEXT", "12"], ["012", "TEXT", "012"], ["1.5", "REAL", 1.5], ["abc", "INTEGER", "abc"],
    ["", "INTEGER", null], ["", "TEXT", ""], ["9007199254740993", "INTEGER", 9007199254740993n], ["1e3", "NUMERIC", 1000], ["2024-01-02", "DATE", "2024-01-02"],
    ["x'0aFF'", "BLOB", new Uint8Array([10, 255])], ["x'00'", "TEXT", "x'00'"], ["7", "", 7], ["99999999999999999999", "INTEGER", 1e20],
  ];
  for (const [text, type, value] of cases) assert.deepEqual(valueOf(text, column(type)), value, `${text} in ${type}`);
  assert.equal(valueOf("7", column(""), "six"), "7", "a text stays one where the column leaves that open");
  assert.throws(() => valueOf("x'0'", column("BLOB"), new Uint8Array()), /hexadecimal/);
});

test("a value that is typed as it is shown stays the same", () => {
  const values = [0, -1.5, 1e21, 9007199254740993n, "a'b", new Uint8Array([0, 1, 254])];
  for (const value of values) assert.deepEqual(valueOf(typedText(value), column(""), value), value);
  for (const text of ["", "-", "1.2.3", "0x10", "1 2", "Infinity", "NaN", "."]) assert.equal(numberIn(text), null, text);
});

test("values are shown as people read them", () => {
  const cases = [
    [null, "TEXT", "NULL", "null"], ["", "TEXT", "empty", "empty"], [1234.5, "REAL", "1234.5", "number"], [9007199254740993n, "INTEGER", "9007199254740993", "number"],
    ["a\n b", "TEXT", "a ⏎ b", "text"], ["1996-07-04 00:00:00.000", "DATETIME", "1996-07-04", "date"], ["2026-01-02T03:04:05Z", "TEXT", "2026-01-02 03:04:05", "date"],
    ["2026-01-02T03:04:05+02:00", "TEXT", "2026-01-02 03:04:05 +02:00", "date"], [1, "BOOLEAN", "true", "boolean"], [2, "BOOLEAN", "2", "number"],
    [2460000.5, "DATE", "2023-02-25", "date"], [new Uint8Array([1]), "BLOB", "BLOB, 1 byte", "blob"], [new Uint8Array([0xff, 0xd8, 0xff, 1]), "", "JPEG, 4 bytes", "blob"],
  ];
  for (const [value, type, text, kind] of cases) assert.deepEqual(cellText(value, column(type)), { text, kind, isCut: false }, String(value));
  assert.equal(cellText(1700000000, column("INTEGER", "created_at")).text, "2023-11-14 22:13:20");
  assert.equal(cellText(1700000000123, column("INTEGER", "createdAt")).text, "2023-11-14 22:13:20");
  assert.equal(cellText(1700000000, column("INTEGER", "population")).kind, "number");
  assert.equal(cellText(12, column("INTEGER", "created_at")).text, "12");
});

test("long values are cut, and say so", () => {
  const { text, isCut } = cellText("a".repeat(301), column("TEXT"));
  assert.deepEqual([text.length, text.at(-1), isCut], [301, "…", true]);
  assert.deepEqual(cellText(new Uint8Array(64), column("BLOB"), 21_000), { text: "BLOB, 21 kB", kind: "blob", isCut: true });
  assert.deepEqual([999, 1000, 9_999_999, 2e9].map(sizeText), ["999 bytes", "1.0 kB", "10.0 MB", "2.0 GB"]);
  assert.equal(fileKind(new Uint8Array([0x25, 0x50, 0x44, 0x46, 1])), "PDF");
});

test("columns are as wide as most of their rows need, within reason", () => {
  const measure = (text) => text.length * 10;
  assert.equal(naturalWidth(["id"], ["1", "2"], measure), 64, "never narrower than can be grasped");
  assert.equal(naturalWidth(["a"], Array(9).fill("1234567890").concat("x".repeat(100)), measure), 124, "one long row in ten is cut");
  assert.equal(naturalWidth(["a"], ["x".repeat(100)], measure), 340);
  assert.equal(naturalWidth(["a long title of it"], [], measure), 224);
  assert.deepEqual(spread([{ width: 100, needs: 100 }, { width: 100, needs: 300 }], 300), [100, 200]);
  assert.deepEqual(spread([{ width: 100, needs: 150 }], 900), [150]);
  assert.deepEqual(spread([{ width: 300, needs: 350 }], 200), [300]);
});
