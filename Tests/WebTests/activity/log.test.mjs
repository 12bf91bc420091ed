import assert from "node:assert/strict";
import { test } from "node:test";
import { formatActivity, parseActivity } from "../../../public/activity/activity-address.js";
import { ActivityLog, entriesOf } from "../../../public/activity/activity-log.js";

const turns = async () => { for (let count = 0; count < 10; count += 1) await null; };
const row = (id, table = "orders") => ({ table, op: "update", key: { id }, old: { total: 1 }, new: { id, total: 2 } });

/** Makes a log whose feed brings these messages. */
async function logOf(messages) {
  const asked = [];
  const client = { async *changes(options) {
    asked.push(options);
    yield* messages;
  } };
  const log = new ActivityLog(client, async () => 5);
  await log.begin();
  await turns();
  return { log, asked };
}

test("commits come newest first, with the time of those that were seen to happen", async () => {
  const { log, asked } = await logOf([{ position: "p0", changes: [] }, { position: "p1", commit: 5, changes: [row(1)] }, { position: "p2", commit: 6, commits: 2, changes: [row(2)] }]);
  assert.deepEqual(asked, [{ since: "oldest" }]);
  assert.equal(log.isOpen, true);
  assert.equal((await logOf([])).log.isOpen, false, "the server has told nothing yet");
  assert.deepEqual(log.entries.map(({ commit, commits, time }) => [commit, commits, time !== null]), [[6, 2, true], [5, 1, false]]);
});

test("a gap ends what was known", async () => {
  const { log } = await logOf([{ position: "p1", commit: 6, changes: [row(1)] }, { position: "p2", gap: "too old", changes: [] }, { position: "p3", commit: 9, changes: [row(1)] }]);
  assert.deepEqual(log.entries.map(({ commit, gap }) => commit ?? gap), [9, "too old"]);
});

test("no more than the page can hold is remembered", async () => {
  const messages = Array.from({ length: 1200 }, (_, index) => ({ position: `p${index + 1}`, commit: index + 1, changes: [row(index)] }));
  const { log } = await logOf(messages);
  assert.equal(log.entries.length, 1000);
  assert.equal(log.isCut, true);
});

test("one row's changes are told from those of others", () => {
  const entries = [
    { commit: 3, commits: 1, gap: null, time: null, changes: [row(1), row(1, "items"), row(2)] },
    { commit: 2, commits: 1, gap: null, time: null, changes: [row(2)] }, { commit: null, commits: 0, gap: "too old", time: null, changes: [] },
  ];
  const shown = (address) => entriesOf(entries, address, ["id"]).map(({ changes }) => changes.length);
  assert.deepEqual(shown({ table: null, key: null }), [3, 1, 0]);
  assert.deepEqual(shown({ table: "orders", key: null }), [2, 1, 0]);
  assert.deepEqual(shown({ table: "orders", key: [1] }), [1, 0]);
  assert.deepEqual(shown({ table: "orders", key: ["1"] }), [0], "a text is no number");
});

test("the address says which", () => {
  for (const address of [{ table: null, key: null }, { table: "a b", key: null }, { table: "orders", key: [7, "x", null, 9007199254740993n] }]) {
    assert.deepEqual(parseActivity(formatActivity(address)), address);
  }
  assert.deepEqual(parseActivity("#activity?key=[1]"), { table: null, key: null });
});
