// A subscription against a client that the test plays.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSocket, turns } from "../client/fake-socket.mjs";
import { isSameQuery, Source } from "../../../public/element/source.js";
import { windowAround } from "../../../public/element/wanted-window.js";

class FakeList extends EventTarget {
  asked = [];
  isClosed = false;
  state = { window: { offset: 0, limit: 120 }, total: 10_000, isComplete: true };

  setWindow(window) {
    return new Promise((resolve, reject) => this.asked.push({ window, resolve, reject }));
  }

  requery(query, { window }) {
    return new Promise((resolve, reject) => this.asked.push({ query, window, resolve, reject }));
  }

  close() {
    this.isClosed = true;
  }

  say(kind, window) {
    this.dispatchEvent(Object.assign(new Event("change"), { kind, after: { window, isComplete: true } }));
  }
}

function opened() {
  const list = new FakeList();
  const client = Object.assign(new EventTarget(), { isClosed: false, subscribe: () => list, close: () => (client.isClosed = true) });
  const seen = { changes: [], answers: 0, errors: [] };
  const source = new Source({
    changed: (event, isOtherQuery) => seen.changes.push([event.kind, isOtherQuery]),
    answered: () => (seen.answers += 1),
    status() {},
    failed: (error) => seen.errors.push(error.message),
  }, windowAround);
  source.open(client, { from: "well" }, { first: 0, last: 20 });
  return { source, list, client, seen };
}

test("other rows are asked for when the view nears the window's edge, and the same ones once", async () => {
  const { source, list } = opened();
  source.look({ first: 20, last: 40 });
  assert.equal(list.asked.length, 0);
  source.look({ first: 500, last: 520 });
  source.look({ first: 502, last: 522 });
  assert.deepEqual(list.asked.map(({ window }) => window), [{ offset: 450, limit: 120 }]);
  source.look({ first: 5000, last: 5020 });
  assert.equal(list.asked.length, 2);
  list.asked[1].resolve();
  await turns();
  source.look({ first: 5000, last: 5020 });
  assert.equal(list.asked.length, 3, "the answer has come, and the window is not what it should be");
});

test("what was refused is told, and asked for again later", async () => {
  const { source, list, seen } = opened();
  source.look({ first: 500, last: 520 });
  list.asked[0].reject(new Error("no"));
  await turns();
  assert.deepEqual(seen.errors, ["no"]);
  source.look({ first: 500, last: 520 });
  assert.equal(list.asked.length, 2);
});

test("the answer to another query is known by its window", async () => {
  const { source, list, seen } = opened();
  list.say("patch", { offset: 0, limit: 120 });
  source.requery({ from: "county" }, { first: 900, last: 920 });
  list.say("patch", { offset: 850, limit: 120 });
  list.say("rows", list.asked[0].window);
  list.say("patch", list.asked[0].window);
  list.asked[0].resolve();
  await turns();
  list.say("patch", list.asked[0].window);
  assert.deepEqual(seen.changes, [["patch", false], ["patch", false], ["rows", false], ["patch", true], ["patch", false]]);
});

test("rows are outdated from another query until its answer, whatever comes in between", async () => {
  const { source, list, seen } = opened();
  list.say("snapshot", { offset: 0, limit: 120 });
  assert.deepEqual([source.isOutdated, seen.answers], [false, 1]);
  source.requery({ from: "county" }, { first: 0, last: 20 });
  source.requery({ from: "bank" }, { first: 0, last: 20 });
  list.say("patch", { offset: 0, limit: 120 });
  list.asked[0].resolve();
  await turns();
  assert.deepEqual([source.isOutdated, source.isAsking, seen.answers], [true, true, 1], "a newer query is not answered");
  list.asked[1].resolve();
  await turns();
  assert.deepEqual([source.isOutdated, source.isAsking, seen.answers], [false, false, 2]);
});

test("another query that is refused is told, and leaves the rows outdated", async () => {
  const { source, list, seen } = opened();
  source.requery({ from: "nothing" }, { first: 0, last: 20 });
  list.asked[0].reject(new Error("no such table"));
  await turns();
  assert.deepEqual(seen.errors, ["no such table"]);
  assert.deepEqual([source.isOutdated, source.isAsking, seen.answers], [true, false, 0]);
});

test("closing ends the subscription, and the connection if it is its own", async () => {
  const { source, list, client, seen } = opened();
  source.look({ first: 500, last: 520 });
  source.close();
  assert.equal(list.isClosed, true);
  assert.equal(client.isClosed, false);
  list.say("patch", { offset: 0, limit: 1 });
  list.asked[0].reject(new Error("closed"));
  await turns();
  assert.deepEqual(seen, { changes: [], answers: 0, errors: [] });

  globalThis.document = { baseURI: "https://here.example/lists/page.html" };
  globalThis.WebSocket = FakeSocket;
  source.open({ src: null, token: "secret" }, { from: "well" }, { first: 0, last: 20 });
  await turns();
  assert.equal(FakeSocket.last.url.href, "wss://here.example/lists/v1/live");
  FakeSocket.last.open();
  await turns();
  assert.equal(FakeSocket.last.sent[0].token, "secret");
  assert.deepEqual(FakeSocket.last.lastSent.window, { offset: 0, limit: 120 });
  source.close();
  assert.equal(FakeSocket.last.readyState, 3);
});

test("queries are the same when they say the same", () => {
  const query = (id) => ({ from: "well", where: "id = :id", params: { id } });
  assert.ok(isSameQuery(query(2n ** 60n), query(2n ** 60n)));
  assert.ok(!isSameQuery(query(2n ** 60n), query(2n ** 61n)));
  assert.ok(!isSameQuery(query(1), null));
});
