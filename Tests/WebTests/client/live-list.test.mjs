// A list against a socket that the test plays.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { connect, externalStore, sql } from "../../../public/freshet.js";
import { clock } from "../fake-clock.mjs";
import { FakeSocket, turns } from "./fake-socket.mjs";
import { snapshotOf } from "./patch-writer.mjs";

const world = [{ name: "A", rows: Array.from({ length: 1000 }, (_, id) => [id, "a", 0]) }];
const window = { offset: 0, limit: 20 };

beforeEach(() => {
  FakeSocket.all = [];
  clock.start();
});

afterEach(() => clock.stop());

const say = (message) => FakeSocket.last.say({ id: "1", ...message });
const snapshot = (version = "1", wanted = window) => say({ ...snapshotOf(world, wanted, version), id: "1" });
const patch = (from, to, members = {}) => say({ type: "patch", from, to, commit: 1, total: 1000, window, ...members });
const rows = (offset, limit, members = {}) => say({
  type: "rows", version: "1", offset, rows: world[0].rows.slice(offset, offset + limit), complete: true, ...members });

async function subscribed(options = { window }, query = { from: "well" }) {
  const client = connect("http://here", { WebSocket: FakeSocket });
  const list = client.subscribe(query, options);
  const events = { status: [], change: [], error: [], progress: [] };
  list.addEventListener("status", () => events.status.push(list.status));
  list.addEventListener("progress", () => events.progress.push(list.progress));
  list.addEventListener("change", (event) => events.change.push(event));
  list.addEventListener("error", ({ error }) => events.error.push(error.code));
  await turns();
  FakeSocket.last.open();
  return { client, list, events };
}

async function back() {
  FakeSocket.last.drop();
  clock.tick(250);
  await turns();
  FakeSocket.last.open();
}

test("it subscribes, and is live with the first rows", async () => {
  const { list, events } = await subscribed({ window, minInterval: 100 });
  const message = { type: "subscribe", id: "1", query: { from: "well" }, window, minInterval: 100 };
  assert.deepEqual(FakeSocket.last.sent, [message]);
  snapshot();
  assert.deepEqual(events.status, ["loading", "live"]);
  assert.equal(list.total, 1000);
  assert.deepEqual(list.sections, [{ name: "A", indexTitle: "A", count: 1000 }]);
  assert.deepEqual(list.row([0, 3]), { id: 3, name: "a", depth: 0 });
  assert.deepEqual([list.at(19)?.id, list.at(20)], [19, undefined]);
  assert.deepEqual(list.path(7), [0, 7]);
});

test("a subscription made while connected begins at once", async () => {
  const { client } = await subscribed();
  client.subscribe({ from: "bank" });
  await turns();
  assert.deepEqual(FakeSocket.last.lastSent, { type: "subscribe", id: "2", query: { from: "bank" } });
});

test("a change has the patch, the state before and the state after", async () => {
  const { list, events } = await subscribed();
  snapshot();
  patch("1", "2", { updated: [[[0, 3], [0, 3], { depth: 9 }]] });
  const { kind, patch: message, before, after, changes } = events.change[1];
  assert.equal(kind, "patch");
  assert.equal(message.to, "2");
  assert.deepEqual([before.at(3).depth, after.at(3).depth], [0, 9]);
  assert.equal(after, list.state);
  assert.deepEqual(changes.updated, [{ offset: 3, columns: ["depth"] }]);
});

test("what comes in parts is told as progress, and shown as it comes at first", async () => {
  const { list, events } = await subscribed({});
  const whole = snapshotOf(world, null, "1");
  say({ ...whole, id: "1", rows: whole.rows.slice(0, 400), complete: false });
  assert.deepEqual(events.progress, [{ loaded: 400, total: 1000 }]);
  assert.deepEqual([list.status, list.at(399)?.id, list.at(400)], ["loading", 399, undefined]);
  rows(400, 300, { complete: false });
  rows(700, 300);
  assert.deepEqual([list.status, list.state.heldCount], ["live", 1000]);
});

test("what is shown stays whole until what replaces it is", async () => {
  const { list, events } = await subscribed({});
  snapshot("1", null);
  const whole = snapshotOf(world, null, "2");
  say({ ...whole, id: "1", rows: whole.rows.slice(0, 400), complete: false });
  assert.equal(list.state.version, "1");
  say({ type: "rows", version: "2", offset: 400, rows: whole.rows.slice(400), complete: true });
  assert.deepEqual([list.state.version, list.state.heldCount], ["2", 1000]);
  assert.deepEqual(events.change.map(({ kind }) => kind), ["snapshot", "snapshot"]);
});

test("one window is asked for at a time, and the last one wanted next", async () => {
  const { list } = await subscribed();
  snapshot();
  const first = list.setWindow({ offset: 400, limit: 20 });
  const second = list.setWindow({ offset: 500, limit: 20 });
  const third = list.setWindow({ offset: 600, limit: 20 });
  assert.deepEqual(FakeSocket.last.sent.slice(1), [{ type: "window", id: "1", offset: 400, limit: 20 }]);
  rows(400, 20, { window: { offset: 400, limit: 20 } });
  assert.deepEqual((await first).window, { offset: 400, limit: 20 });
  assert.deepEqual(FakeSocket.last.lastSent, { type: "window", id: "1", offset: 600, limit: 20 });
  rows(600, 5, { window: { offset: 600, limit: 20 }, complete: false });
  rows(605, 15);
  assert.deepEqual((await second).at(610)?.id, 610);
  assert.equal(await third, list.state);
});

test("fetch and locate answer whoever asked, in order", async () => {
  const { list } = await subscribed();
  snapshot();
  const answers = [list.fetch({ offset: 700, limit: 2 }), list.locate(5), list.fetch({ offset: 800, limit: 1 }), list.locate([6])];
  assert.deepEqual(FakeSocket.last.sent.slice(1).map(({ type, key }) => [type, key]),
    [["fetch", undefined], ["locate", 5], ["fetch", undefined], ["locate", [6]]]);
  rows(700, 1, { complete: false });
  rows(701, 1);
  say({ type: "located", key: 5, path: [0, 5], offset: 5 });
  rows(800, 1);
  say({ type: "located", key: 6, path: null, offset: null });
  const [two, five, one, six] = await Promise.all(answers);
  assert.deepEqual([two.map(({ id }) => id), one.map(({ id }) => id)], [[700, 701], [800]]);
  assert.deepEqual([five, six], [{ path: [0, 5], offset: 5 }, { path: null, offset: null }]);
  assert.equal(list.state.heldCount, 20);
});

test("requery is done when what was asked after it is answered, not with a patch that was under way", async () => {
  const { list } = await subscribed();
  snapshot();
  let isDone = false;
  const other = { from: "well", orderBy: ["depth"] };
  const answer = list.requery(other).then((state) => (isDone = true, state));
  assert.deepEqual(FakeSocket.last.sent.slice(1), [
    { type: "requery", id: "1", query: other }, { type: "fetch", id: "1", offset: 0, limit: 0 }]);
  patch("1", "2");
  await turns();
  assert.equal(isDone, false);
  patch("2", "other.1");
  rows(0, 0, { version: "other.1" });
  assert.equal((await answer).version, "other.1");
  assert.equal(list.query, other);
});

test("of many requeries the last one is asked for; one that is refused changes nothing", async () => {
  const { list } = await subscribed();
  snapshot();
  const bad = list.requery({ from: "nothing" });
  const skipped = list.requery({ from: "well", limit: 1 });
  const last = list.requery({ from: "well", limit: 2 });
  assert.equal(FakeSocket.last.sent.length, 3);
  say({ type: "error", code: "no_such_table", message: "no such table: nothing", fatal: false });
  await assert.rejects(bad, { code: "no_such_table" });
  assert.deepEqual([list.status, list.query], ["live", { from: "well" }]);
  rows(0, 0);
  assert.deepEqual(FakeSocket.last.sent[3].query, { from: "well", limit: 2 });
  patch("1", "2");
  rows(0, 0, { version: "2" });
  assert.equal(await skipped, await last);
  assert.deepEqual(list.query, { from: "well", limit: 2 });
});

test("after a break it offers its version, goes on with a patch, and asks again what was not answered", async () => {
  const { list, events } = await subscribed();
  snapshot();
  const answers = [list.locate(5), list.setWindow({ offset: 90, limit: 20 })];
  await back();
  assert.deepEqual(FakeSocket.last.sent, [{ type: "subscribe", id: "1", query: { from: "well" }, window, since: "1" }]);
  patch("1", "2", { updated: [[[0, 3], [0, 3], { depth: 9 }]] });
  assert.equal(list.at(3)?.depth, 9);
  assert.deepEqual(FakeSocket.last.sent.slice(1).map(({ type }) => type), ["locate", "window"]);
  say({ type: "located", key: 5, path: [0, 5], offset: 5 });
  rows(90, 20, { version: "2", window: { offset: 90, limit: 20 } });
  assert.deepEqual((await Promise.all(answers))[0], { path: [0, 5], offset: 5 });
  assert.deepEqual(events.status, ["loading", "live", "reconnecting", "live"]);
});

for (const isFirst of [true, false]) {
  test(`a requery asked while the list is ${isFirst ? "loading" : "coming back"} is asked of the server, once that is done`, async () => {
    const { list } = await subscribed();
    if (!isFirst) {
      snapshot();
      await back();
    }
    let isDone = false;
    const other = { from: "well", limit: 5 };
    const answer = list.requery(other).then(() => (isDone = true));
    if (isFirst) snapshot();
    else patch("1", "1");
    await turns();
    assert.deepEqual([isDone, list.query], [false, { from: "well" }]);
    assert.deepEqual(FakeSocket.last.sent.slice(1).map(({ type, query }) => [type, query]), [["requery", other], ["fetch", undefined]]);
    snapshot("other.1");
    rows(0, 0, { version: "other.1" });
    await answer;
    assert.equal(list.query, other);
  });
}

test("a requery asked before there is a connection is what the subscription begins with", async () => {
  const client = connect("http://here", { WebSocket: FakeSocket });
  const list = client.subscribe({ from: "well" });
  const answers = [list.requery({ from: "well", limit: 1 }), list.requery({ from: "well", limit: 2 })];
  await turns();
  FakeSocket.last.open();
  assert.deepEqual(FakeSocket.last.sent.map(({ type, query }) => [type, query]), [["subscribe", { from: "well", limit: 2 }]]);
  snapshot("1", null);
  await Promise.all(answers);
  assert.deepEqual([list.query.limit, FakeSocket.last.sent.length], [2, 1]);
});

test("a requery that a break interrupted begins anew with the query wanted", async () => {
  const { list } = await subscribed();
  snapshot();
  const answer = list.requery({ from: "well", limit: 5 });
  await back();
  assert.deepEqual(FakeSocket.last.sent, [{ type: "subscribe", id: "1", query: { from: "well", limit: 5 }, window }]);
  snapshot("other.1");
  await answer;
  assert.deepEqual([list.query.limit, FakeSocket.last.sent.length], [5, 1]);
});

test("a count that differs is answered with resync, once, until a snapshot comes; what is shown stays", async () => {
  const { list, events } = await subscribed();
  snapshot();
  patch("1", "2", { total: 999 });
  patch("2", "3");
  assert.deepEqual(FakeSocket.last.sent.slice(1), [{ type: "resync", id: "1" }]);
  assert.equal(list.state.version, "1");
  snapshot("5");
  assert.equal(list.state.version, "5");
  assert.equal(events.change.length, 2);
});

test("a refused query fails, and goes on with a better one", async () => {
  const { list, events } = await subscribed();
  say({ type: "error", code: "no_such_table", message: "no such table: well", retryable: false, fatal: true });
  assert.deepEqual([list.status, list.error.code, events.error], ["failed", "no_such_table", ["no_such_table"]]);
  await assert.rejects(async () => { for await (const _ of list); }, { code: "no_such_table" });
  const answer = list.requery({ from: "bank" });
  assert.deepEqual(FakeSocket.last.lastSent, { type: "subscribe", id: "1", query: { from: "bank" }, window });
  snapshot();
  assert.equal((await answer).total, 1000);
  assert.deepEqual([list.status, list.error, list.query], ["live", null, { from: "bank" }]);
});

test("a query that the server cannot read fails, whatever is fatal, and goes on with a better one", async () => {
  const { list, events } = await subscribed();
  const message = "query.orderby is no member of a query: did you mean orderBy?";
  const states = (async () => { for await (const _ of list); })();
  say({ type: "error", code: "bad_query", message, retryable: false, fatal: false });
  await assert.rejects(states, { code: "bad_query", message, fatal: true });
  assert.deepEqual([list.status, list.error.message, events.error], ["failed", message, ["bad_query"]]);
  const answer = list.requery({ from: "bank" });
  snapshot();
  assert.equal((await answer).total, 1000);
  assert.equal(list.status, "live");
});

test("what may succeed later is tried again", async () => {
  const { list } = await subscribed();
  say({ type: "error", code: "overloaded", message: "later", retryable: true, fatal: true });
  assert.equal(FakeSocket.last.sent.length, 1);
  clock.tick(1000);
  assert.equal(FakeSocket.last.sent.length, 2);
  snapshot();
  assert.equal(list.status, "live");
});

test("an error that is not fatal is told, and the list goes on", async () => {
  const { list, events } = await subscribed();
  snapshot();
  say({ type: "error", code: "internal", message: "database disk image is malformed", retryable: true, fatal: false });
  assert.deepEqual([list.status, events.error], ["live", ["internal"]]);
});

const refusal = (code, members = {}) => say({ type: "error", code, message: code, retryable: false, fatal: true, ...members });

test("a query that does not compile at the moment waits for the server's snapshot", async () => {
  const { list, events } = await subscribed();
  snapshot();
  const located = list.locate(7);
  refusal("schema_changed", { fatal: false, retryable: true });
  assert.deepEqual([list.status, list.error.code, list.total], ["waiting", "schema_changed", 1000]);
  clock.tick(10_000);
  assert.equal(FakeSocket.last.sent.filter(({ type }) => type === "subscribe").length, 1, "the server has the subscription still");
  say({ type: "located", key: 7, path: [0, 7], offset: 7 });
  assert.equal((await located).offset, 7, "it was no answer to anything");
  snapshot("2");
  assert.deepEqual([list.status, list.error], ["live", null]);
  assert.deepEqual(events.status, ["loading", "live", "waiting", "live"]);
});

test("a requery that does not compile is refused, and the list is as it was", async () => {
  const { list } = await subscribed();
  snapshot();
  const answer = list.requery({ from: "gone" });
  refusal("schema_changed", { fatal: false, retryable: true });
  await assert.rejects(answer, { code: "schema_changed" });
  assert.equal(list.status, "live");
});

test("a list that was answered before is asked for again when a server that was restarted does not know its table", async () => {
  const { list, events } = await subscribed();
  snapshot();
  await back();
  refusal("no_such_table");
  assert.deepEqual([list.status, list.total], ["waiting", 1000]);
  const count = () => FakeSocket.last.sent.filter(({ type }) => type === "subscribe").length;
  clock.tick(999);
  assert.equal(count(), 1);
  clock.tick(1);
  assert.equal(count(), 2);
  refusal("no_such_table");
  clock.tick(1_999);
  assert.equal(count(), 2, "attempts grow apart");
  clock.tick(1);
  assert.equal(FakeSocket.last.lastSent.since, "1");
  snapshot("2");
  assert.equal(list.status, "live");
  assert.ok(!events.status.includes("failed"));
});

test("another query ends the wait for a table, and leads from nothing", async () => {
  const { list } = await subscribed();
  snapshot();
  refusal("schema_changed", { fatal: false, retryable: true });
  const answer = list.requery({ from: "bank" });
  assert.deepEqual(FakeSocket.last.sent.slice(1), [
    { type: "unsubscribe", id: "1" }, { type: "subscribe", id: "1", query: { from: "bank" }, window }]);
  snapshot("2");
  await answer;
  assert.deepEqual([list.status, list.query], ["live", { from: "bank" }]);
});

test("a list that waits goes on at once with a better query", async () => {
  const { list } = await subscribed();
  snapshot();
  await back();
  refusal("no_such_column");
  const answer = list.requery({ from: "bank" });
  assert.deepEqual(FakeSocket.last.lastSent, { type: "subscribe", id: "1", query: { from: "bank" }, window });
  snapshot("2");
  await answer;
  assert.deepEqual([list.status, list.query], ["live", { from: "bank" }]);
  clock.tick(10_000);
  assert.equal(FakeSocket.last.lastSent.query.from, "bank");
});

test("closing lets the server know, and ends what waits", async () => {
  const { list, client } = await subscribed();
  snapshot();
  const waiting = list.locate(1);
  const states = [];
  const reading = (async () => { for await (const state of list) states.push(state.version); })();
  await turns();
  list.close();
  await assert.rejects(waiting, { code: "closed" });
  await reading;
  assert.deepEqual(states, ["1"]);
  assert.deepEqual(FakeSocket.last.lastSent, { type: "unsubscribe", id: "1" });
  patch("1", "2");
  assert.equal(list.state.version, "1");
  const other = client.subscribe({ from: "well" });
  client.close();
  assert.equal(other.status, "closed");
});

test("who iterates slowly gets the newest state", async () => {
  const { list } = await subscribed();
  snapshot();
  const states = list[Symbol.asyncIterator]();
  assert.equal((await states.next()).value.version, "1");
  const next = states.next();
  patch("1", "2");
  assert.equal((await next).value.version, "2");
  patch("2", "3");
  patch("3", "4");
  assert.equal((await states.next()).value.version, "4");
});

test("a transaction is answered, refused, or not known of", async () => {
  const { client, list } = await subscribed();
  const written = client.transact(sql`UPDATE well SET depth = ${9007199254740993n} WHERE id = ${7}`);
  const { id } = FakeSocket.last.lastSent;
  assert.deepEqual(FakeSocket.last.lastSent.statements, [
    { sql: "UPDATE well SET depth = :v1 WHERE id = :v2", params: { v1: { $int: "9007199254740993" }, v2: 7 } }]);
  say({ type: "committed", id, changes: 1, commit: 7, results: [
    { changes: 1, lastInsertRowid: { $int: "9007199254740993" }, columns: ["id", "photo"], rows: [[7, { $blob: "AQI=" }]] }, { changes: 0, lastInsertRowid: null }] });
  assert.deepEqual(await written, { changes: 1, commit: 7, results: [
    { changes: 1, lastInsertRowid: 9007199254740993n, columns: ["id", "photo"], rows: [{ id: 7, photo: new Uint8Array([1, 2]) }] },
    { changes: 0, lastInsertRowid: null, columns: [], rows: [] }] });
  const refused = client.transact(["DELETE FROM well"]);
  say({ type: "error", id: FakeSocket.last.lastSent.id, code: "not_allowed", message: "no writing here" });
  await assert.rejects(refused, { code: "not_allowed", message: "no writing here" });
  const lost = client.transact({ sql: "DELETE FROM well" });
  FakeSocket.last.drop();
  await assert.rejects(lost, { code: "disconnected", retryable: false });
  await assert.rejects(client.transact("DELETE FROM well"), { code: "disconnected", retryable: true });
  assert.equal(list.status, "reconnecting");
});

test("an external store has one snapshot until the list changes", async () => {
  const { list } = await subscribed();
  snapshot();
  const { subscribe, getSnapshot } = externalStore(list);
  let calls = 0;
  const stop = subscribe(() => (calls += 1));
  const before = getSnapshot();
  assert.equal(getSnapshot(), before);
  patch("1", "2");
  assert.notEqual(getSnapshot(), before);
  stop();
  patch("2", "3");
  assert.equal(calls, 1);
});
