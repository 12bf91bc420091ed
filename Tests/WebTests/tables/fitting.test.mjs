import assert from "node:assert/strict";
import { test } from "node:test";
import { editedText, fitted, withLineBreaks } from "../../../public/browser/fitting.js";

const column = (type, members = {}) => ({ name: "c", type, notNull: false, key: 0, ...members });
const value = (type, text, held = [], old = null) => fitted(text, column(type), old, held);
const fits = (type, text, expected, held, old) => assert.deepEqual(value(type, text, held, old), { value: expected, warning: null }, `${type} ${text}`);
const warns = (type, text, expected, sentence, held, old) => {
  const found = value(type, text, held, old);
  assert.equal(found.value, expected, `${type} ${text}`);
  assert.match(found.warning ?? "", sentence);
};

test("booleans are numbers, unless the column holds words", () => {
  for (const type of ["BOOL", "BOOLEAN", "boolean"]) {
    for (const text of ["false", "False", "no", "0", "off"]) fits(type, text, 0);
    for (const text of ["true", "1", "Yes", " on "]) fits(type, text, 1, [0, 1]);
    warns(type, "maybe", "maybe", /neither true nor false/);
    warns(type, "2", 2, /neither/);
    fits(type, "", null, [1]);
  }
  fits("BOOL", "t", "t", ["t", "f"]);
  warns("BOOL", "true", "true", /“t” and “f”/, ["t", "f", "t"]);
  fits("BOOL", "true", 1, ["true", 0]);
  assert.deepEqual([1, 0, 2, "t", null].map((each) => editedText(each, column("BOOL"))), ["true", "false", "2", "t", ""]);
});

test("what is no number is doubted in a column of numbers", () => {
  warns("DECIMAL(10,2)", "12,50", "12,50", /no number.*DECIMAL\(10,2\).*Is 12\.50 meant\?/);
  warns("INTEGER", "x1", "x1", /would be a text/, [1, 2]);
  warns("INTEGER", "1.5", 1.5, /whole number/, [1, 2]);
  fits("INTEGER", "1.5", 1.5, [2.5]);
  fits("DECIMAL(10,2)", "12.50", 12.5);
  fits("REAL", "-1e3", -1000);
  fits("INTEGER", "9007199254740993", 9007199254740993n);
  fits("NUMERIC", "", null);
  // Values in the same form as the column's.
  fits("NUMERIC", "7,25", "7,25", ["12,50"]);
  // SQLite treats unknown types as numeric; users do not expect that.
  for (const type of ["STRING", "JSON", "UUID", "TEXT", "VARCHAR(9)", ""]) fits(type, "x,y", "x,y");
});

test("what is no date is doubted in a column of dates", () => {
  for (const type of ["DATETIME", "DATE", "TIMESTAMP", "timestamp with time zone"]) {
    warns(type, "yesterday", "yesterday", /no date/);
    warns(type, "2026-02-30", "2026-02-30", /no date/);
    warns(type, "31.1.2026", "31.1.2026", /no date/, ["2026-01-31"]);
    fits(type, "2024-02-29", "2024-02-29");
    fits(type, "31.1.2026", "31.1.2026", ["1.12.2025"]);
    fits(type, "  ", null, ["2026-01-31"]);
  }
  for (const text of ["2026-01-31 09:30", "2026-01-31T09:30:05.25Z", "2026-01-31 09:30:05 +0100"]) fits("DATETIME", text, text);
  warns("DATE", "2026-01-31 09:30", "2026-01-31 09:30", /no date/);
  fits("DATE", "2026-01-31 09:30:00", "2026-01-31 09:30:00", ["1992-05-01 00:00:00"]);
  fits("TIME", "09:30", "09:30");
  warns("TIME", "half past", "half past", /no time/);
  // A number fits if the column has numbers.
  warns("DATETIME", "1700000000", 1700000000, /no date.*2026/, ["2026-01-01"]);
  warns("DATETIME", "2026-01-31", "2026-01-31", /has them: 1700000000/, [1700000000]);
  fits("DATETIME", "1700000001", 1700000001, [], 1700000000);
  // A text column whose values all are dates.
  const dates = ["2026-01-01", "2026-01-02", "2026-01-03"];
  warns("TEXT", "tomorrow", "tomorrow", /no date/, dates);
  fits("TEXT", "", null, dates);
  fits("TEXT", "", "", ["a", "b", "c"]);
  assert.deepEqual(fitted("", column("DATETIME", { notNull: true }), null, []).value, null, "SQLite refuses it");
});

test("BLOBs are bytes or nothing", () => {
  assert.throws(() => value("BLOB", "abc", [], new Uint8Array([1])), /hexadecimal/);
  assert.deepEqual(value("", "x'0aff'").value, new Uint8Array([10, 255]));
});

test("line breaks stay as they were, outside of what was edited", () => {
  const fielded = (text) => text.replace(/\r\n?/g, "\n");
  for (const old of ["a\r\nb\r\nc", "a\rb", "a\nb", "one\r\ntwo\nthree\rfour", "\r\n", "\r\r\n\n", "", "🙂\r\n🙂"]) {
    assert.equal(withLineBreaks(fielded(old), old), old);
    assert.equal(withLineBreaks(`${fielded(old)}!`, old), `${old}!`);
    assert.equal(withLineBreaks(`>${fielded(old)}`, old), `>${old}`);
  }
  assert.equal(withLineBreaks("a\nnew\nc", "a\r\nb\r\nc"), "a\r\nnew\r\nc");
  assert.equal(withLineBreaks("a\nx\ny\nc", "a\r\nb\r\nc"), "a\r\nx\r\ny\r\nc");
  assert.equal(withLineBreaks("plain\n", null), "plain\n");
});
