// The feed of changes against a socket that the test plays.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { connect } from "../../../public/freshet.js";
import { clock } from "../fake-clock.mjs";
import { FakeSocket, turns } from "./fake-socket.mjs";

beforeEach(() => {
  FakeSocket.all = [];
  clock.start();
});
afterEach(() => clock.stop());

async function opened(options) {
  const client = connect("http://here/", { WebSocket: FakeSocket });
  await turns();
  FakeSocket.last.open();
  const feed = client.changes(options);
  await turns();
  return { client, feed, iterator: feed[Symbol.asyncIterator](), asked: FakeSocket.last.lastSent };
}

const say = (id, members) => FakeSocket.last.say({ type: "changes", id, ...members });
const row = { table: "t", op: "update", key: { id: 1 }, old: { a: { $int: "9007199254740993" } }, new: { id: 1, a: { $blob: "AQ==" } } };

test("asks for what it is told, and gives values as they are", async () => {
  const { iterator, asked, feed } = await opened({ tables: ["t"], columns: { t: ["a"] }, where: { t: "a > 1" }, since: "p.1" });
  assert.deepEqual(asked, { type: "changes", tables: ["t"], columns: { t: ["a"] }, where: { t: "a > 1" }, since: "p.1", id: asked.id });
  say(asked.id, { position: "p.1" });
  say(asked.id, { position: "p.2", commit: 5, commits: 1, changes: [row] });
  FakeSocket.last.say({ type: "gap", id: asked.id, position: "p.9", reason: "too old" });
  assert.deepEqual((await iterator.next()).value, { position: "p.1", changes: [] });
  const change = (await iterator.next()).value;
  assert.deepEqual(change, { position: "p.2", commit: 5, commits: 1, changes: [
    { table: "t", op: "update", key: { id: 1 }, old: { a: 9007199254740993n }, new: { id: 1, a: new Uint8Array([1]) } }] });
  assert.deepEqual((await iterator.next()).value, { position: "p.9", gap: "too old", changes: [] });
  assert.equal(feed.position, "p.9");
});

test("goes on behind what it has, over a broken connection", async () => {
  const { asked } = await opened();
  say(asked.id, { position: "p.3", commit: 1, commits: 1, changes: [row] });
  FakeSocket.last.drop();
  clock.tick(300);
  await turns();
  FakeSocket.last.open();
  await turns();
  assert.deepEqual(FakeSocket.last.lastSent, { type: "changes", since: "p.3", id: asked.id });
});

test("a request that the server cannot read ends the loop with its reason", async () => {
  const { iterator, asked } = await opened({ table: "t" });
  const next = iterator.next();
  FakeSocket.last.say({ type: "error", id: asked.id, code: "bad_message", message: "table is no member", retryable: false, fatal: false });
  await assert.rejects(next, { code: "bad_message", message: "table is no member" });
});

test("a loop that takes nothing has the server wait, and loses nothing", async () => {
  const { iterator, asked } = await opened();
  for (let number = 1; number <= 1_000; number += 1) say(asked.id, { position: `p.${number}`, commit: number, commits: 1, changes: [row] });
  assert.deepEqual(FakeSocket.last.lastSent, { type: "unsubscribe", id: asked.id });
  say(asked.id, { position: "p.1001", commit: 1001, commits: 1, changes: [row] });
  for (let number = 1; number <= 1_000; number += 1) assert.equal((await iterator.next()).value.commit, number);
  await turns();
  const again = FakeSocket.last.lastSent;
  assert.deepEqual(again, { type: "changes", since: "p.1000", id: again.id });
  assert.notEqual(again.id, asked.id);
  say(again.id, { position: "p.1001", commit: 1001, commits: 1, changes: [row] });
  assert.equal((await iterator.next()).value.commit, 1001);
});

test("what the server refuses is thrown, and so is the client's end", async () => {
  const first = await opened({ tables: ["nosuch"] });
  FakeSocket.last.say({ type: "error", id: first.asked.id, code: "no_such_table", message: "no", retryable: false, fatal: true });
  await assert.rejects(first.iterator.next(), { code: "no_such_table" });
  const second = await opened();
  const next = second.iterator.next();
  second.client.close();
  await assert.rejects(next, { code: "closed" });
});

test("leaving the loop ends it", async () => {
  const { feed, asked } = await opened();
  say(asked.id, { position: "p.1" });
  for await (const change of feed) {
    assert.equal(change.position, "p.1");
    break;
  }
  assert.deepEqual(FakeSocket.last.lastSent, { type: "unsubscribe", id: asked.id });
  feed.close();
});
