import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { affinityOf, numberIn, typedText, valueOf } from "../../../public/browser/affinity.js";
import { cellText, columnForm, fileKind, sizeText } from "../../../public/browser/cell-text.js";
import { naturalWidth, spread } from "../../../public/browser/column-widths.js";
import { namingColumn } from "../../../public/browser/naming-column.js";

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
    [null, "TEXT", "NULL", "null"], ["", "TEXT", "empty", "empty"], [1234.5, "REAL", "1,234.5", "number"], [4.663194330112515, "REAL", "4.66319", "number"], [12, "DECIMAL(10,2)", "12.00", "number"], [9007199254740993n, "INTEGER", "9,007,199,254,740,993", "number"],
    ["a\n b", "TEXT", "a ⏎ b", "text"], ["1996-07-04 00:00:00.000", "DATETIME", "1996-07-04 00:00:00", "date"], ["2026-01-02T03:04:05Z", "TEXT", "2026-01-02 03:04:05", "date"],
    ["2026-01-02T03:04:05+02:00", "TEXT", "2026-01-02 03:04:05 +02:00", "date"], [1, "BOOLEAN", "true", "boolean"], [2, "BOOLEAN", "2", "number"],
    [2460000.5, "DATE", "2023-02-25 00:00:00", "date"], [new Uint8Array([1]), "BLOB", "BLOB, 1 byte", "blob"], [new Uint8Array([0xff, 0xd8, 0xff, 1]), "", "JPEG, 4 bytes", "blob"],
  ];
  for (const [value, type, text, kind] of cases) assert.deepEqual(cellText(value, column(type)), { text, kind, isCut: false }, String(value));
  assert.equal(cellText(1700000000, column("INTEGER", "created_at")).text, "2023-11-14 22:13:20");
  assert.equal(cellText(1700000000123, column("INTEGER", "createdAt")).text, "2023-11-14 22:13:20");
  assert.equal(cellText(1700000000, column("INTEGER", "population")).kind, "number");
  assert.equal(cellText(12, column("INTEGER", "created_at")).text, "12");
});

test("numbers of a column have one form, and names no thousands", () => {
  const texts = (values, of, isReference) => {
    const form = columnForm(of, values, isReference);
    return values.map((value) => cellText(value, { ...of, form }).text);
  };
  assert.deepEqual(texts([1.5, 12, 1234.25], column("REAL")), ["1.50", "12.00", "1,234.25"]);
  assert.deepEqual(texts([4.663194330112515, 123.4], column("REAL")), ["4.663", "123.400"]);
  const weights = column("REAL");
  assert.equal(cellText(12345.678901, { ...weights, form: columnForm(weights, [4.663194330112515]) }).text, "12,345.7", "never more than six digits");
  assert.deepEqual(texts([0.00001, 1000.5], column("REAL")), ["0.00001", "1,000.50"], "what would be 0 is not");
  assert.deepEqual(texts([1, 78, 237.3], column("DECIMAL(10,2)")), ["1.00", "78.00", "237.30"]);
  assert.deepEqual(texts([1, 20000], column("INTEGER")), ["1", "20,000"]);
  for (const name of ["customer_id", "OrderID", "year", "zip"]) assert.deepEqual(texts([20000], column("INTEGER", name)), ["20000"], name);
  assert.deepEqual(texts([20000], { ...column("INTEGER"), key: 1 }), ["20000"]);
  assert.deepEqual(texts([20000], column("INTEGER"), true), ["20000"]);
  assert.deepEqual(texts([1e300, Infinity], column("REAL")), ["1e+300", "Infinity"]);
});

test("times are times in the whole column", () => {
  const of = column("DATETIME");
  const texts = (values) => values.map((value) => cellText(value, { ...of, form: columnForm(of, values) }).text);
  assert.deepEqual(texts(["1996-07-04 00:00:00", "1996-07-05T00:00:00.000"]), ["1996-07-04", "1996-07-05"]);
  assert.deepEqual(texts(["1996-07-04 00:00:00", "1996-07-05 12:00"]), ["1996-07-04 00:00:00", "1996-07-05 12:00"]);
});

test("what a row is called is a text of that name", () => {
  assert.equal(namingColumn([column("TEXT", "city"), column("TEXT", "company_name")]), "company_name");
  assert.equal(namingColumn([column("TEXT", "last_name"), column("TEXT", "title")]), "title");
  assert.equal(namingColumn([column("INTEGER", "id"), column("TEXT", "status"), column("INTEGER", "name")]), null);
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
  assert.deepEqual(spread([{ width: 100, needs: 100 }, { width: 100, needs: 100, grows: true }, { width: 200, needs: 200, grows: true }], 700), [100, 200, 400], "none is more than twice as wide");
});
