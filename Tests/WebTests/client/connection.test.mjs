// The connection against a socket that the test plays, with the clock in its hands.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { connect } from "../../../public/freshet.js";
import { backOff } from "../../../public/client/connection.js";
import { liveAddress } from "../../../public/client/client.js";
import { clock } from "../fake-clock.mjs";
import { FakeSocket, turns } from "./fake-socket.mjs";

beforeEach(() => {
  FakeSocket.all = [];
  clock.start();
});

afterEach(() => clock.stop());

async function opened(options = {}) {
  const client = connect("http://here/", { WebSocket: FakeSocket, ...options });
  const states = [client.status];
  client.addEventListener("status", () => states.push(client.status));
  await turns();
  return { client, states };
}

async function tick(milliseconds) {
  clock.tick(milliseconds);
  await turns();
}

test("addresses", () => {
  const addresses = {
    "http://here": "ws://here/v1/live", "https://here/app": "wss://here/app/v1/live", "https://here/app/": "wss://here/app/v1/live",
    "http://here/app/index.html#part": "ws://here/app/v1/live", "ws://here:81/v1/live": "ws://here:81/v1/live",
    "http://here/app?tenant=a": "ws://here/app/v1/live?tenant=a",
  };
  for (const [given, expected] of Object.entries(addresses)) assert.equal(liveAddress(given).href, expected);
  assert.throws(() => connect("no address", { WebSocket: FakeSocket }), TypeError);
});

test("half of the delay is certain, and it has an end", () => {
  assert.equal(backOff(1, 0), 125);
  assert.equal(backOff(1, 1), 250);
  assert.equal(backOff(3, 1), 1000);
  assert.equal(backOff(99, 1), 15_000);
});

test("attempts grow apart until a server says something", async () => {
  const { client, states } = await opened();
  for (const delay of [250, 500, 1000, 2000]) {
    const before = FakeSocket.all.length;
    FakeSocket.last.drop();
    assert.ok(client.retryAt - Date.now() <= delay && client.retryAt - Date.now() >= delay / 2);
    await tick(delay / 2 - 1);
    assert.equal(FakeSocket.all.length, before);
    await tick(delay / 2 + 1);
    assert.equal(FakeSocket.all.length, before + 1);
  }
  FakeSocket.last.open();
  assert.equal(client.retryAt, null);
  assert.deepEqual(states, ["connecting", "reconnecting", "reconnecting", "reconnecting", "reconnecting", "live"]);
  FakeSocket.last.drop();
  await tick(250);
  assert.equal(FakeSocket.all.length, 6);
});

test("a server that is overloaded is left alone for longer", async () => {
  await opened();
  FakeSocket.last.open();
  FakeSocket.last.drop(1013);
  await tick(999);
  assert.equal(FakeSocket.all.length, 1);
  await tick(1001);
  assert.equal(FakeSocket.all.length, 2);
});

test("retry does not wait, and opens one connection only", async () => {
  const { client } = await opened();
  FakeSocket.last.drop();
  client.retry();
  client.retry();
  await turns();
  client.retry();
  await tick(15_000);
  assert.equal(FakeSocket.all.length, 2);
});

test("a silent server is asked, and given up when it does not answer", async () => {
  const { client } = await opened();
  const socket = FakeSocket.last;
  socket.open();
  await tick(15_000);
  assert.deepEqual(socket.lastSent, { type: "ping", id: "heartbeat" });
  socket.say({ type: "pong", id: "heartbeat" });
  assert.equal(client.status, "live");
  await tick(15_000);
  assert.equal(socket.sent.length, 2);
  await tick(5_000);
  assert.equal(client.status, "live");
  await tick(5_000);
  assert.equal(client.status, "reconnecting");
  socket.drop();
  await tick(250);
  assert.equal(FakeSocket.all.length, 2, "the late end of the old one changes nothing");
});

test("an older server, which does not know ping, is alive as well", async () => {
  const { client } = await opened();
  FakeSocket.last.open();
  let errors = 0;
  client.addEventListener("error", () => (errors += 1));
  await tick(15_000);
  FakeSocket.last.say({ type: "error", id: "heartbeat", code: "unknown_type", message: "ping" });
  await tick(14_000);
  assert.equal(client.status, "live");
  assert.equal(errors, 0);
});

test("after a sleep the server is asked at once, and has its time to answer", async () => {
  const { client } = await opened();
  const socket = FakeSocket.last;
  socket.open();
  clock.sleep(3_600_000);
  await tick(0);
  assert.equal(socket.lastSent.type, "ping");
  assert.equal(client.status, "live");
  await tick(5_000);
  assert.equal(client.status, "live");
  await tick(5_000);
  assert.equal(client.status, "reconnecting");
});

test("an attempt that leads nowhere is given up", async () => {
  const { client } = await opened();
  await tick(20_000);
  assert.equal(client.status, "reconnecting");
});

test("a token goes along, and is asked for anew at every attempt", async () => {
  let count = 0;
  await opened({ token: async () => `t${(count += 1)}` });
  assert.equal(FakeSocket.last.url.href, "ws://here/v1/live?access_token=t1");
  assert.equal(FakeSocket.last.protocol, "freshet.v1");
  FakeSocket.last.drop();
  await tick(250);
  assert.equal(FakeSocket.last.url.searchParams.get("access_token"), "t2");
});

test("a token that cannot be had is as good as no connection", async () => {
  let isThere = false;
  const { client } = await opened({ token: () => (isThere ? "t" : Promise.reject(new Error("no"))) });
  assert.equal(client.status, "reconnecting");
  assert.equal(FakeSocket.all.length, 0);
  isThere = true;
  await tick(250);
  assert.equal(FakeSocket.all.length, 1);
});

test("closed is closed", async () => {
  const { client, states } = await opened();
  FakeSocket.last.open();
  client.close();
  client.retry();
  await tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
  assert.deepEqual(states, ["connecting", "live", "closed"]);
  await assert.rejects(client.ping(), { code: "disconnected" });
});
