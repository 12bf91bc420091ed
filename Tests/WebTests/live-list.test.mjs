// A live list against a socket that the test plays the server of, with the clock in its hands.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { snapshotOf } from "./client/patch-writer.mjs";

class FakeSocket {
  static OPEN = 1;
  static all = [];
  readyState = 1;
  sent = [];

  constructor(url, protocol) {
    Object.assign(this, { url, protocol });
    FakeSocket.all.push(this);
  }

  static get last() {
    return this.all[this.all.length - 1];
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  say(message) {
    this.onmessage({ data: JSON.stringify({ id: "wells", ...message }) });
  }

  close() {
    this.readyState = 3;
  }

  drop() {
    this.close();
    this.onclose();
  }
}

globalThis.WebSocket = FakeSocket;
const { LiveList } = await import("../../public/live-list.js");

const world = [{ name: "A", rows: Array.from({ length: 1000 }, (_, id) => [id, "a", 0]) }];
const view = { first: 0, last: 20 };

function opened() {
  const states = [];
  const failures = [];
  const list = new LiveList("ws://here/v1/live", { from: "well" }, {
    changed() {}, answered() {},
    connected: (state) => states.push(state), failed: (sentence) => failures.push(sentence),
  });
  list.look(view);
  list.open();
  FakeSocket.last.onopen();
  return { list, states, failures };
}

const answer = (window, version = "1") => FakeSocket.last.say({ ...snapshotOf(world, window, version), id: "wells" });
const lastSent = () => FakeSocket.last.sent[FakeSocket.last.sent.length - 1];

beforeEach(() => {
  FakeSocket.all = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("it subscribes to what is in view, and is live with the first rows", () => {
  const { states } = opened();
  assert.equal(FakeSocket.last.protocol, "freshet.v1");
  const subscribe = { type: "subscribe", id: "wells", query: { from: "well" }, window: { offset: 0, limit: 120 } };
  assert.deepEqual(FakeSocket.last.sent, [subscribe]);
  answer({ offset: 0, limit: 120 });
  assert.deepEqual(states, ["connecting", "live"]);
});

test("one window is asked for at a time, and the next for what is in view by then", () => {
  const { list } = opened();
  answer({ offset: 0, limit: 120 });
  list.look({ first: 400, last: 420 });
  list.look({ first: 600, last: 620 });
  assert.deepEqual(FakeSocket.last.sent.slice(1), [{ type: "window", id: "wells", offset: 350, limit: 120 }]);
  const window = { offset: 350, limit: 120 };
  const rows = world[0].rows.slice(350, 470);
  FakeSocket.last.say({ type: "rows", version: "1", window, offset: 350, rows, complete: true });
  assert.deepEqual(lastSent(), { type: "window", id: "wells", offset: 550, limit: 120 });
});

test("after a break it offers its version, and goes on with a patch", () => {
  const { list, states } = opened();
  answer({ offset: 0, limit: 120 });
  FakeSocket.last.drop();
  mock.timers.tick(250);
  assert.equal(FakeSocket.all.length, 2);
  FakeSocket.last.onopen();
  assert.equal(lastSent().since, "1");
  assert.deepEqual(lastSent().window, { offset: 0, limit: 120 });
  FakeSocket.last.say({
    type: "patch", from: "1", to: "2", commit: 1, total: 1000, window: { offset: 0, limit: 120 },
    updated: [[[0, 3], [0, 3], { depth: 9 }]],
  });
  assert.deepEqual(list.model.row(3), [3, "a", 9]);
  assert.deepEqual(states, ["connecting", "live", "reconnecting", "reconnecting", "live"]);
});

test("attempts grow apart until a server answers", () => {
  opened();
  for (const delay of [250, 500, 1000, 2000]) {
    const before = FakeSocket.all.length;
    FakeSocket.last.drop();
    mock.timers.tick(delay / 2 - 1);
    assert.equal(FakeSocket.all.length, before);
    mock.timers.tick(delay / 2 + 1);
    assert.equal(FakeSocket.all.length, before + 1);
  }
  FakeSocket.last.say({ type: "hello" });
  FakeSocket.last.drop();
  mock.timers.tick(250);
  assert.equal(FakeSocket.all.length, 6);
});

test("what does not fit is answered with resync, once, until a snapshot comes", () => {
  const { list } = opened();
  answer({ offset: 0, limit: 120 });
  FakeSocket.last.say({ type: "patch", from: "elsewhere", to: "2", commit: 1, total: 1000 });
  FakeSocket.last.say({ type: "patch", from: "2", to: "3", commit: 2, total: 1000 });
  assert.deepEqual(FakeSocket.last.sent.slice(1), [{ type: "resync", id: "wells" }]);
  answer({ offset: 0, limit: 120 }, "5");
  assert.equal(list.model.version, "5");
  assert.equal(list.model.isComplete, true);
});

test("a write is over when the list has reached its commit", async () => {
  const { list } = opened();
  answer({ offset: 0, limit: 120 });
  let isOver = false;
  const write = list.write("UPDATE well SET depth = :depth", { depth: 1 }).then((times) => (isOver = true, times));
  FakeSocket.last.say({ type: "committed", id: lastSent().id, changes: 1, commit: 7 });
  await Promise.resolve();
  assert.equal(isOver, false);
  FakeSocket.last.say({ type: "patch", from: "1", to: "2", commit: 7, total: 1000, window: { offset: 0, limit: 120 } });
  assert.ok((await write).shown >= 0);
});

test("a write that is refused or lost says so", async () => {
  const { list, failures } = opened();
  answer({ offset: 0, limit: 120 });
  const refused = list.write("DELETE FROM well", {});
  FakeSocket.last.say({ type: "error", id: lastSent().id, code: "not_allowed", message: "no writing here" });
  await assert.rejects(refused, /no writing here/);
  assert.deepEqual(failures, []);
  const lost = list.write("DELETE FROM well", {});
  FakeSocket.last.drop();
  await assert.rejects(lost, /connection/);
  await assert.rejects(list.write("DELETE FROM well", {}), /no connection/);
});
