// The installed package in plain Node: what it exports, and a live list of the real server.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { MinimalSocket } from "./minimal-socket.mjs";
import { served } from "./served.mjs";

const root = process.env.PACKAGE_ROOT;
const own = JSON.parse(readFileSync("node_modules/freshet/package.json", "utf8"));

test("the version is the program's", () => {
  const source = readFileSync(`${root}/Sources/Network/Server/FreshetVersion.swift`, "utf8");
  assert.equal(own.version, source.match(/freshetVersion = "([^"]+)"/)[1]);
  assert.equal(own.name, "freshet");
});

test("each export has its module and its types", () => {
  for (const [name, target] of Object.entries(own.exports)) {
    if (name === "./package.json") continue;
    for (const path of [target.types, target.default]) assert.ok(existsSync(join("node_modules/freshet", path)), path);
  }
  assert.deepEqual(Object.keys(own.exports), [".", "./adapters", "./chart", "./element", "./react", "./package.json"]);
});

test("modules export what the sources do, and share one client", async () => {
  const client = await import("freshet");
  const adapters = await import("freshet/adapters");
  assert.deepEqual(Object.keys(adapters).sort(), ["changeSet", "documentChanges", "externalStore", "fetchedResults"]);
  for (const [name, value] of Object.entries(adapters)) assert.equal(client[name], value);
  assert.deepEqual(Object.keys(await import("freshet/react")).sort(), ["FreshetProvider", "useFreshet", "useLiveQuery"]);
  await assert.rejects(import("freshet/public/client/apply.js"), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
});

test("nothing of the pages is in it", () => {
  for (const name of ["demo", "shell", "browser", "index.html", "freshet.min.js"]) {
    assert.ok(!existsSync(`node_modules/freshet/public/${name}`), name);
  }
});

test("a list of the real server follows what another process writes", async (context) => {
  const { connect, sql } = await import("freshet");
  const { address, sql: write } = await served(context, `CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT);
    INSERT INTO bank VALUES (1, 'First', 'GA')`);
  const client = connect(address, { WebSocket: globalThis.WebSocket ?? MinimalSocket });
  const list = client.subscribe({ from: "bank", where: sql`state = ${"GA"}`, orderBy: ["name"] });
  const states = list[Symbol.asyncIterator]();
  const names = ({ value }) => Array.from(value.entries(), ([, row]) => row.name);
  const first = await states.next();
  assert.deepEqual(names(first), ["First"]);
  write("INSERT INTO bank VALUES (2, 'Citizens', 'GA'), (3, 'Elsewhere', 'FL')");
  const second = await states.next();
  assert.deepEqual(names(second), ["Citizens", "First"]);
  assert.equal(second.value.at(1), first.value.at(0), "a row that did not change is the same object");
  client.close();
});
