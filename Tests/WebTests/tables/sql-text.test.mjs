import assert from "node:assert/strict";
import { test } from "node:test";
import { formatSQLAddress, parseSQLAddress } from "../../../public/sql/sql-address.js";
import { isReading, numbered, statementsIn } from "../../../public/sql/sql-text.js";

test("statements end at semicolons, outside of texts, names and comments", () => {
  assert.deepEqual(statementsIn("SELECT 1; ;\n-- nothing;\n; DELETE FROM a WHERE b = 'x;''y;' ;"), ["SELECT 1", "DELETE FROM a WHERE b = 'x;''y;'"]);
  for (const whole of [`SELECT "a;b", [c;d], \`e;f\``, "SELECT 1 -- a;b\n + 2", "SELECT /* ; */ 1", "SELECT 'never closed; at all"]) assert.deepEqual(statementsIn(whole), [whole]);
  for (const nothing of ["", " \n", ";;", "-- just a comment", "/* and */ -- another"]) assert.deepEqual(statementsIn(nothing), []);
});

test("a statement reads where its verb is SELECT or VALUES", () => {
  for (const reading of ["select 1", "-- first\nSELECT 1", "VALUES (1)", "WITH a AS (DELETE) SELECT 1", "WITH RECURSIVE insert_ AS (SELECT 1) SELECT * FROM insert_", "WITH a AS MATERIALIZED (VALUES (1)) SELECT 'delete'"]) {
    assert.equal(isReading(reading), true, reading);
  }
  for (const writing of ["DELETE FROM a", "WITH a AS (SELECT 1) UPDATE b SET c = (SELECT 1)", "INSERT INTO a SELECT 1", "REPLACE INTO a VALUES (1)", "CREATE TABLE a(b)", "/* SELECT */ delete from a", "'SELECT'", ""]) {
    assert.equal(isReading(writing), false, writing);
  }
});

test("a comment at the end of a SELECT ends before its rows are numbered", () => {
  assert.equal(numbered("SELECT 1 -- one", "#"), 'SELECT row_number() OVER () AS "#", * FROM (SELECT 1 -- one\n)');
});

test("the address has the SELECT, its key and its order", () => {
  const address = { sql: "SELECT a, '#&?' FROM b\nWHERE c = 1", key: ["a,b", "c"], sort: [{ column: "-d", descending: true }, { column: "e", descending: false }] };
  assert.deepEqual(parseSQLAddress(formatSQLAddress(address)), address);
  assert.deepEqual(parseSQLAddress("#sql"), { sql: "", key: [], sort: [] });
  assert.equal(formatSQLAddress(parseSQLAddress("#sql")), "#sql");
});
