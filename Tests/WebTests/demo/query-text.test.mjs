import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { copies, partsOf, queryOf } from "../../../public/demo/query-text.js";

test("lists are cut at commas that are in nothing", () => {
  const cases = {
    "a, b": ["a", "b"], "max(a, b) AS c,d": ["max(a, b) AS c", "d"], "'x,y', \"q,r\", [s,t], `u,v`": ["'x,y'", '"q,r"', "[s,t]", "`u,v`"],
    "'it''s, so' , b": ["'it''s, so'", "b"], "": [], " , ": [],
  };
  for (const [text, parts] of Object.entries(cases)) assert.deepEqual(partsOf(text), parts, text);
});

test("fields become a query, empty ones nothing", () => {
  assert.deepEqual(queryOf({ from: " well ", select: "name, max(a, b)", where: "", params: '{"a": 1}', limit: "10" }),
    { from: "well", select: ["name", "max(a, b)"], params: { a: 1 }, limit: 10 });
  assert.throws(() => queryOf({ params: "{" }), /params must be JSON/);
});

test("what is copied for a shell stays one word, whatever is in it", () => {
  const query = { from: "well", where: "name = 'it''s' AND x = \"$HOME `id` \\\\\"" };
  const { stdout } = spawnSync("bash", ["-c", copies.watch(query, "http://here/").replace("freshet watch", "printf '%s\\n'")], { encoding: "utf8" });
  assert.deepEqual(stdout.trim().split("\n"), ["http://here/", JSON.stringify(query)]);
  const curl = spawnSync("bash", ["-c", copies.curl(query, "http://here/").replace("curl", "printf '%s\\n'")], { encoding: "utf8" });
  assert.equal(curl.stdout.trim().split("\n").pop(), `query=${JSON.stringify(query)}`);
  const snapshot = spawnSync("bash", ["-c", copies.snapshot(query, "http://here/").replace("curl", "printf '%s\\n'")], { encoding: "utf8" });
  assert.deepEqual(snapshot.stdout.trim().split("\n"), ["--get", "http://here/v1/snapshot", "--data-urlencode", `query=${JSON.stringify(query)}`]);
});

test("what is copied for a page stays one attribute, whatever is in it", () => {
  const query = { from: "well", where: `a < 'b' AND c = "&quot;" AND d > 1` };
  const [, attribute] = /query="([^"]*)"/.exec(copies.element(query, "http://here/"));
  assert.doesNotMatch(attribute, /</);
  const read = attribute.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&");
  assert.deepEqual(JSON.parse(read), query);
});

test("what is copied for Swift is what SwiftSnippetTests runs", () => {
  const query = {
    from: "bank", select: ["id", "name"],
    where: `name = :name AND "id" <= :most AND :none IS NULL AND :bytes = x'00ff' AND state <> '\\'`,
    params: { name: 'a "b" \\c', most: { $int: "9007199254740993" }, none: null, bytes: { $blob: "AP8=" } },
    orderBy: ["name DESC"], sectionBy: { by: "state", order: "DESC", name: "lower(state)" },
  };
  const file = readFileSync(new URL("../../Libraries/FreshetClientTests/SwiftSnippetTests.swift", import.meta.url), "utf8");
  const [, run] = /\/\/ snippet\n([^]*)\/\/ end/.exec(file);
  const plain = (text) => text.replaceAll(/\s+/g, "");
  const copied = copies.swift(query, "ADDRESS").replace('"ADDRESS"', "address");
  assert.equal(plain(copied.slice(copied.indexOf("let database"))), plain(run));
});

test("texts in Swift stay texts, whatever is in them", () => {
  const swift = (where) => copies.swift({ from: "t", where }, "http://here/");
  assert.match(swift("a = 'b'"), /where: "a = 'b'"\)/);
  assert.match(swift('a = "b"#1'), /where: ##"a = "b"#1"##\)/);
  assert.match(swift("a = '\\##('"), /where: ###"a = '\\##\('"###\)/);
  assert.match(swift("a\n= 'b'"), /where: #"""\n {4}a\n {4}= 'b'\n {4}"""#\)/);
});
