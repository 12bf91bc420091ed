// The hook against the real server: whatever a component requests and other programs write, in the end it shows what
// SQLite selects.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement as h, StrictMode, Suspense } from "react";
import renderer from "react-test-renderer";
import { connect } from "freshet";
import { FreshetProvider, useLiveQuery } from "freshet/react";
import { randomNumbers } from "../client/patch-writer.mjs";
import { MinimalSocket } from "./minimal-socket.mjs";
import { served } from "./served.mjs";

const { act } = renderer;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
const seed = Number(process.env.FRESHET_SEED ?? 0) || Math.floor(Math.random() * 2 ** 31);
const random = randomNumbers(seed);
const one = (values) => values[random(values.length)];

const wheres = ["id % 2 = 0", "depth > 40", "name < 'm'", "1"];
const orders = ["name", "depth DESC", "id"];
const windows = [undefined, { offset: 0, limit: 7 }, { offset: 5, limit: 10 }, { offset: 0, limit: 7 }, { offset: 12, limit: 3 }];
const wanted = () => ({ query: { from: "well", where: one(wheres), orderBy: [one(orders)] }, options: { window: one(windows), suspense: random(2) === 0 } });
/** A window that does not begin at 0 follows its rows, so its present offset is read from the state. */
const selected = ({ query }, window) =>
  `SELECT id, name, depth FROM well WHERE ${query.where} ORDER BY ${query.orderBy}, id LIMIT ${window?.limit ?? -1} OFFSET ${window?.offset ?? 0}`;

function write() {
  const id = 1 + random(60);
  return one([
    `UPDATE well SET depth = ${random(100)} WHERE id = ${id}`,
    `UPDATE well SET name = '${String.fromCharCode(97 + random(26))}' WHERE id = ${id}`,
    `DELETE FROM well WHERE id = ${id}`,
    `INSERT OR IGNORE INTO well VALUES (${id}, '${String.fromCharCode(97 + random(26))}', ${random(100)})`,
  ]);
}

test(`random queries, windows and writes end in what SQLite selects (FRESHET_SEED=${seed})`, async (context) => {
  const { address, sql } = await served(context, `CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT, depth);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO well SELECT i, char(97 + i * 7 % 26), i * 37 % 100 FROM n`);
  const client = connect(address, { WebSocket: globalThis.WebSocket ?? MinimalSocket });
  context.after(() => client.close());
  const results = [];
  const Wells = ({ index, query, options }) => {
    results[index] = useLiveQuery(query, options);
    return null;
  };
  const asked = [wanted(), wanted(), wanted()];
  const page = () => h(StrictMode, null, h(FreshetProvider, { client },
    asked.map((one, index) => h(Suspense, { key: index, fallback: null }, h(Wells, { index, ...one })))));
  let tree;
  await act(async () => {
    tree = renderer.create(page(), { unstable_isConcurrent: true });
  });
  const isShown = (index) => {
    const rows = results[index]?.rows.map(({ id, name, depth }) => [id, name, depth].join("|")).join("\n");
    return results[index]?.isPending === false && rows === sql(selected(asked[index], results[index].state.window))
      && results[index].state.window?.limit === asked[index].options.window?.limit;
  };
  const patience = async (condition) => {
    for (const end = Date.now() + 10_000; !condition() && Date.now() < end;) await act(() => new Promise((resolve) => { setTimeout(resolve, 5); }));
    return condition();
  };
  const settled = async (round) => {
    for (const index of asked.keys()) {
      const { status, isPending, error, rows } = results[index] ?? {};
      assert.ok(await patience(() => isShown(index)), JSON.stringify({ round, index, asked: asked[index], status, isPending, error: error?.message, rows }));
    }
  };
  for (let round = 0; round < 60; round += 1) {
    for (let change = random(4); change > 0; change -= 1) asked[random(3)] = wanted();
    await act(async () => tree.update(page()));
    for (let change = random(3); change > 0; change -= 1) sql(write());
    if (random(3) === 0) await settled(round);
  }
  await settled("the last");
  await act(async () => tree.unmount());
});
