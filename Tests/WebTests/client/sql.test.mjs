import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, sql } from "../../../public/freshet.js";
import { plainQuery, plainStatement } from "../../../public/client/sql.js";

test("values become parameters, wherever a query takes a fragment", () => {
  const search = sql`name LIKE ${"%a%"}`;
  assert.deepEqual(plainQuery({
    from: "well", select: [sql`depth * ${2} AS twice`], where: sql`county = ${"Weld"} AND ${search}`,
    sectionBy: { by: sql`substr(name, 1, ${1})`, order: "DESC" }, orderBy: ["name"], having: null, limit: 3,
    alongside: { deepest: sql`SELECT max(depth) FROM well WHERE county = ${"Weld"}` }, params: { v2: "mine" },
  }), {
    from: "well", select: ["depth * :v1 AS twice"], where: "county = :v3 AND name LIKE :v4",
    sectionBy: { by: "substr(name, 1, :v5)", order: "DESC" }, orderBy: ["name"], having: null, limit: 3,
    alongside: { deepest: "SELECT max(depth) FROM well WHERE county = :v6" },
    params: { v2: "mine", v1: 2, v3: "Weld", v4: "%a%", v5: 1, v6: "Weld" },
  });
});

test("a query without values stays as it is", () => {
  const query = { from: "well", where: "depth > ?", params: [3] };
  assert.deepEqual(plainQuery(query), query);
  assert.deepEqual(plainQuery({ name: "failedBanks", params: { state: "GA" } }), { name: "failedBanks", params: { state: "GA" } });
});

test("lists, names and joins", () => {
  const columns = sql.join(["a", 'b"c'].map(sql.identifier));
  assert.deepEqual(plainStatement(sql`SELECT ${columns} FROM t WHERE id IN ${[1, 2]} OR x IN ${[]}`), {
    sql: 'SELECT "a", "b""c" FROM t WHERE id IN (:v1, :v2) OR x IN ()', params: { v1: 1, v2: 2 },
  });
  assert.equal(plainStatement(sql`${sql.join([sql`a = ${1}`, sql`b = ${2}`, sql`c`], " AND ")}`).sql, "a = :v1 AND b = :v2 AND c");
  assert.equal(plainStatement(sql`(${sql.join([])})`).sql, "()");
});

test("statements take fragments, text and parameters", () => {
  assert.deepEqual(plainStatement("DELETE FROM t"), { sql: "DELETE FROM t" });
  assert.deepEqual(plainStatement({ sql: "DELETE FROM t WHERE id = ?", params: [1] }), { sql: "DELETE FROM t WHERE id = ?", params: [1] });
  assert.deepEqual(plainStatement({ sql: sql`DELETE FROM t WHERE id = ${true}` }), { sql: "DELETE FROM t WHERE id = :v1", params: { v1: 1 } });
});

test("what SQLite has no values for is refused where it is written", () => {
  for (const value of [undefined, new Date(), {}, Symbol("x"), () => 1]) assert.throws(() => sql`a = ${value}`, TypeError);
  assert.throws(() => plainQuery({ from: "t", where: sql`a = ${1} AND b = ?`, params: [2] }), TypeError);
  const client = connect("http://here", { WebSocket: class { close() {} } });
  assert.throws(() => client.subscribe({ from: "t", where: sql`a = ${1}`, params: [2] }), TypeError);
  client.close();
});
