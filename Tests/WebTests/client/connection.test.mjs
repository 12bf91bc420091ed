// The connection against a socket that the test plays, which also controls the clock.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { connect } from "../../../public/freshet.js";
import { backOff } from "../../../public/client/connection.js";
import { liveAddress } from "../../../public/client/client.js";
import { clock } from "../fake-clock.mjs";
import { FakeSocket, noNetwork, turns } from "./fake-socket.mjs";

beforeEach(() => {
  FakeSocket.all = [];
  clock.start();
});

afterEach(() => {
  clock.stop();
  delete globalThis.location;
  globalThis.fetch = noNetwork;
});

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
  assert.equal(liveAddress("http://h/app/", "tenants/a b").href, "ws://h/app/db/tenants%2Fa%20b/v1/live");
  assert.equal(liveAddress("wss://h/v1/live", "acme").href, "wss://h/db/acme/v1/live");
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

test("a socket that fails without closing, as Node 20 has it, is tried again; one that does both counts once", async () => {
  const { client, states } = await opened();
  FakeSocket.last.fail();
  assert.equal(client.status, "reconnecting");
  await tick(250);
  assert.equal(FakeSocket.all.length, 2);
  FakeSocket.last.fail();
  FakeSocket.last.drop();
  assert.deepEqual(states, ["connecting", "reconnecting", "reconnecting"]);
  assert.ok(client.retryAt - Date.now() <= 500);
  await tick(500);
  FakeSocket.last.open();
  // After an error of an open connection, `close` follows with the code.
  FakeSocket.last.onerror({});
  assert.equal(client.status, "live");
  FakeSocket.last.drop(1013);
  assert.ok(client.retryAt - Date.now() >= 1000);
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

test("a token is the first message, and is asked for anew at every attempt", async () => {
  let count = 0;
  const { client } = await opened({ token: async () => `t${(count += 1)}` });
  client.subscribe({ from: "t" });
  FakeSocket.last.open();
  await turns();
  assert.equal(FakeSocket.last.url.href, "ws://here/v1/live");
  assert.deepEqual(FakeSocket.last.sent.map(({ type }) => type), ["authenticate", "subscribe"]);
  assert.deepEqual(FakeSocket.last.sent[0], { type: "authenticate", id: "token", token: "t1" });
  FakeSocket.last.drop();
  await tick(250);
  FakeSocket.last.open();
  assert.equal(FakeSocket.last.sent[0].token, "t2");
});

/** A client with a token that expires after `life` milliseconds. */
async function authenticated(token, life) {
  const { client } = await opened({ token });
  const errors = [];
  client.addEventListener("error", ({ error }) => errors.push(error.code));
  FakeSocket.last.open();
  const expires = life === null ? null : (Date.now() + life) / 1000;
  FakeSocket.last.say({ type: "authenticated", id: "token", role: "clerk", expires });
  const tokens = () => FakeSocket.last.sent.filter(({ type }) => type === "authenticate").map((message) => message.token);
  /** Lets time pass, while the fake server answers pings. */
  const wait = async (milliseconds) => {
    for (let left = milliseconds; left > 0; left -= 5_000) {
      FakeSocket.last.say({ type: "pong", id: "heartbeat" });
      await tick(Math.min(left, 5_000));
    }
  };
  return { client, errors, tokens, wait };
}

test("a token is renewed half a minute before it expires, one of a short life in the middle of it", async () => {
  for (const [life, wait] of [[600_000, 570_000], [40_000, 20_000]]) {
    let count = 0;
    const client = await authenticated(() => `t${(count += 1)}`, life);
    await client.wait(wait - 1_000);
    assert.deepEqual(client.tokens(), ["t1"]);
    await client.wait(1_000);
    assert.deepEqual(client.tokens(), ["t1", "t2"]);
    assert.deepEqual(client.errors, []);
    client.client.close();
  }
});

test("a token that cannot be renewed, or never expires, is sent once", async () => {
  let count = 0;
  for (const [token, life] of [["t1", 60_000], [() => `t${(count += 1)}`, null]]) {
    const client = await authenticated(token, life);
    await client.wait(120_000);
    assert.deepEqual(client.tokens(), ["t1"]);
    client.client.close();
  }
});

test("when the server says that a token has expired, another one is sent", async () => {
  let count = 0;
  const { errors, tokens } = await authenticated(() => `t${(count += 1)}`, 600_000);
  FakeSocket.last.say({ type: "error", code: "unauthenticated", message: "the token has expired", fatal: false });
  await turns();
  assert.deepEqual(tokens(), ["t1", "t2"]);
  assert.deepEqual(errors, []);
});

test("a source that has no other token than the one that expired is not asked again and again at once", async () => {
  const { tokens, wait } = await authenticated(() => "t1", 600_000);
  const expire = () => {
    FakeSocket.last.say({ type: "error", code: "unauthenticated", message: "the token has expired", fatal: false });
    return turns();
  };
  await expire();
  for (let round = 0; round < 5; round += 1) await expire();
  assert.deepEqual(tokens(), ["t1", "t1"]);
  await wait(16_000);
  assert.ok(tokens().length === 3, `${tokens()}`);
});

test("a token that is refused, or expires and cannot be renewed, is an error of the client", async () => {
  const { errors } = await authenticated("t1", 600_000);
  FakeSocket.last.say({ type: "error", id: "token", code: "unauthenticated", message: "wrong", fatal: false });
  FakeSocket.last.say({ type: "error", code: "unauthenticated", message: "the token has expired", fatal: false });
  assert.deepEqual(errors, ["unauthenticated", "unauthenticated"]);
});

test("a token that cannot be had when it is to be renewed is an error, and is asked for again when it has expired", async () => {
  const answers = ["t1", new Error("no"), "t2"];
  const next = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const { errors, tokens, wait } = await authenticated(next, 60_000);
  await wait(30_000);
  assert.deepEqual(errors, ["unauthenticated"]);
  FakeSocket.last.say({ type: "error", code: "unauthenticated", message: "the token has expired", fatal: false });
  await turns();
  assert.deepEqual(tokens(), ["t1", "t2"]);
});

test("a token that is refused is asked for again, and lists wait for one that is accepted", async () => {
  let given = "bad";
  const client = connect("http://here", { WebSocket: FakeSocket, token: () => given });
  const list = client.subscribe({ from: "bank" });
  await turns();
  FakeSocket.last.open();
  FakeSocket.last.say({ type: "error", id: "token", code: "unauthenticated", message: "wrong", fatal: false });
  FakeSocket.last.say({ type: "error", id: "1", code: "not_allowed", message: "nobody", fatal: true });
  assert.deepEqual([list.status, client.error.code], ["waiting", "unauthenticated"]);
  given = "good";
  await tick(1_000);
  assert.deepEqual(FakeSocket.last.lastSent, { type: "authenticate", id: "token", token: "good" });
  FakeSocket.last.say({ type: "authenticated", id: "token", role: "reader", expires: null });
  assert.equal(client.error, null);
  assert.equal(FakeSocket.last.lastSent.type, "subscribe");
});

test("nothing is renewed without a connection", async () => {
  let count = 0;
  const { client, wait } = await authenticated(() => `t${(count += 1)}`, 60_000);
  client.close();
  await wait(60_000).catch(() => {});
  await tick(60_000);
  assert.equal(count, 1);
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

/** A client whose first attempts fail, with the given answer by HTTP at the same address. */
async function refusedBy(answer, address) {
  const asked = [];
  globalThis.fetch = async (url, options) => {
    asked.push([url.href, options.mode]);
    return answer();
  };
  globalThis.location = address ? { origin: address } : undefined;
  const { client, states } = await opened();
  const errors = [];
  client.addEventListener("error", ({ error }) => errors.push(error));
  FakeSocket.last.drop();
  await turns();
  return { client, states, errors, asked };
}

test("a connection that is refused is an error and a status of the client, and is tried again", async () => {
  const { client, states, errors, asked } = await refusedBy(() => ({ type: "opaque", status: 0 }), "http://page.example");
  assert.deepEqual(asked, [["http://here/v1/live", "no-cors"]]);
  assert.deepEqual([client.status, client.error.code, errors.length], ["refused", "refused", 1]);
  assert.match(client.error.message, /^http:\/\/here refuses .* --allow-origin http:\/\/page\.example$/);
  assert.ok(client.retryAt - Date.now() <= 250);
  await tick(250);
  FakeSocket.last.drop();
  await turns();
  assert.deepEqual([client.status, errors.length], ["refused", 1], "it is said once");
  await tick(500);
  FakeSocket.last.open();
  assert.deepEqual([client.status, client.error], ["live", null]);
  assert.deepEqual(states, ["connecting", "reconnecting", "refused", "refused", "live"]);
  FakeSocket.last.drop();
  await tick(250);
  FakeSocket.last.drop();
  await turns();
  assert.equal(client.status, "reconnecting", "a server that took the client before is restarting");
});

test("what the server says of its refusal is passed on where it can be read", async () => {
  const { client } = await refusedBy(() => ({ type: "basic", status: 403, json: async () => ({ detail: "pages of this origin may not use this server" }) }));
  assert.equal(client.error.message, "http://here refuses the connection: pages of this origin may not use this server");
});

for (const [title, answer] of Object.entries({
  "is down": () => Promise.reject(new TypeError("Failed to fetch")), "is behind a proxy that says so": () => ({ type: "basic", status: 502 }) })) {
  test(`a server that ${title} refuses nothing`, async () => {
    const { client, errors } = await refusedBy(answer);
    assert.deepEqual([client.status, client.error, errors], ["reconnecting", null, []]);
  });
}

test("a token that cannot be had is no refusal of the connection", async () => {
  globalThis.fetch = async () => ({ type: "basic", status: 426 });
  const { client } = await opened({ token: () => Promise.reject(new Error("no")) });
  await turns();
  assert.deepEqual([client.status, client.error.code], ["reconnecting", "unauthenticated"]);
});
