// Transactions and pings of a client that has no connection yet.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { connect } from "../../../public/freshet.js";
import { clock } from "../fake-clock.mjs";
import { FakeSocket, noNetwork, turns } from "./fake-socket.mjs";

beforeEach(() => {
  FakeSocket.all = [];
  clock.start();
});

afterEach(() => {
  clock.stop();
  globalThis.fetch = noNetwork;
});

async function tick(milliseconds) {
  clock.tick(milliseconds);
  await turns();
}

/** A client, and whether its first transaction has failed. */
async function writing(options = {}) {
  const client = connect("http://here/", { WebSocket: FakeSocket, ...options });
  const written = client.transact("DELETE FROM well");
  const seen = { error: null };
  written.catch((error) => (seen.error = error));
  await turns();
  return { client, written, seen };
}

const sent = () => FakeSocket.last.sent.map(({ type }) => type);
const commit = () => FakeSocket.last.say({ type: "committed", id: FakeSocket.last.lastSent.id, changes: 1, commit: 2, results: [] });

test("a transaction right after connect waits for the connection", async () => {
  const { written } = await writing();
  FakeSocket.last.open();
  assert.deepEqual(sent(), ["transact"]);
  commit();
  assert.equal((await written).commit, 2);
});

test("it waits over attempts that fail, and is sent once", async () => {
  const { written } = await writing();
  FakeSocket.last.drop();
  await tick(250);
  FakeSocket.last.drop();
  await tick(500);
  FakeSocket.last.open();
  assert.deepEqual(FakeSocket.all.map((socket) => socket.sent.length), [0, 0, 1]);
  commit();
  assert.equal((await written).commit, 2);
});

test("transactions are sent in their order, after the token and the lists", async () => {
  const { client } = await writing({ token: "t" });
  client.subscribe({ from: "well" });
  client.transact("DELETE FROM county").catch(() => {});
  FakeSocket.last.open();
  assert.deepEqual(sent(), ["authenticate", "subscribe", "transact", "transact"]);
  assert.deepEqual(FakeSocket.last.sent.slice(2).map(({ statements }) => statements[0].sql), ["DELETE FROM well", "DELETE FROM county"]);
});

test("a transaction gives up after 20 seconds without a connection, and is not sent later", async () => {
  const { seen } = await writing();
  for (let second = 0; second < 19; second += 1) await tick(1_000);
  assert.equal(seen.error, null);
  await tick(1_000);
  assert.deepEqual([seen.error.code, seen.error.retryable], ["disconnected", true]);
  await tick(15_000);
  FakeSocket.last.open();
  assert.deepEqual(sent(), []);
});

test("a server that refuses the connection refuses the transaction, with the reason", async () => {
  globalThis.fetch = async () => ({ type: "basic", status: 403, json: async () => ({ detail: "not from here" }) });
  const { seen } = await writing();
  FakeSocket.last.drop();
  await turns();
  assert.deepEqual([seen.error.code, seen.error.retryable], ["disconnected", true]);
  assert.match(seen.error.message, /not from here/);
});

test("closing the client ends the wait", async () => {
  const { client, seen } = await writing();
  client.close();
  await turns();
  assert.deepEqual([seen.error.code, seen.error.retryable], ["disconnected", true]);
  await assert.rejects(client.transact("DELETE FROM well"), { code: "disconnected", retryable: true });
});

test("once a connection has broken, a transaction fails at once", async () => {
  const { client, written } = await writing();
  FakeSocket.last.open();
  FakeSocket.last.drop();
  await assert.rejects(written, { code: "disconnected", retryable: false });
  await assert.rejects(client.transact("DELETE FROM well"), { code: "disconnected", retryable: true });
});

test("a ping right after connect measures from when it is sent", async (context) => {
  context.mock.method(performance, "now", () => Date.now());
  const client = connect("http://here/", { WebSocket: FakeSocket });
  const measured = client.ping();
  await turns();
  await tick(5_000);
  FakeSocket.last.open();
  await tick(7);
  FakeSocket.last.say({ type: "pong", id: FakeSocket.last.lastSent.id });
  assert.equal(await measured, 7);
});
