// Writes that show at once, against a socket that the test plays.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { connect, documentChanges, sql } from "../../../public/freshet.js";
import { Ordering } from "../../../public/client/ordering.js";
import { clock } from "../fake-clock.mjs";
import { FakeSocket, turns } from "./fake-socket.mjs";
import { held, snapshotOf, term } from "./patch-writer.mjs";

const query = { from: "well", sectionBy: "substr(name, 1, 1)", orderBy: ["name"] };
const world = [{ name: "A", rows: [[1, "Aa", 0], [2, "Ac", 0]] }, { name: "C", rows: [[3, "Cb", 0]] }];
const statement = sql`UPDATE well SET name = ${"x"}`;

beforeEach(() => {
  FakeSocket.all = [];
  clock.start();
});

afterEach(() => clock.stop());

const say = (message) => FakeSocket.last.say(message);
const hello = (epoch = "e", limits = { transactionMemory: 1 }) => say({ type: "hello", epoch, limits });
const writes = () => FakeSocket.last.sent.filter(({ type }) => type === "transact");
const committed = (commit, results = []) => say({ type: "committed", id: writes().at(-1).id, changes: 1, commit, results });
const refused = (code, members) => say({ type: "error", id: writes().at(-1).id, code, message: code, ...members });
const patch = (from, to, commit, members) => say({ type: "patch", id: "1", from, to, commit, ...members });
const names = (list) => held(list.state).map(([, [, name]]) => name);

async function subscribed({ window = null, rows = world, options = {}, order = {} } = {}) {
  const client = connect("http://here", { WebSocket: FakeSocket, ...options });
  const list = client.subscribe(query, window ? { window } : {});
  const events = { change: [], rollback: [] };
  await turns();
  FakeSocket.last.open();
  hello();
  say({ ...snapshotOf(rows, window, "v"), ...order, id: "1" });
  list.addEventListener("change", (event) => events.change.push(event));
  list.addEventListener("rollback", ({ error, change }) => events.rollback.push([error.code, change]));
  return { client, list, events };
}

async function back(epoch, limits) {
  FakeSocket.last.drop();
  clock.tick(20_000);
  await turns();
  FakeSocket.last.readyState = 1;
  FakeSocket.last.onopen();
  assert.deepEqual(writes(), [], "which server it is says hello");
  hello(epoch, limits);
}

test("a change is there at once, in its place, until the list has what was written", async () => {
  const { list, events } = await subscribed();
  const answer = list.optimistically({ update: { id: 1, name: "Cc" } }, statement);
  assert.deepEqual(names(list), ["Ac", "Cb", "Cc"]);
  assert.deepEqual(list.sections.map(({ name, count }) => [name, count]), [["A", 1], ["C", 2]]);
  assert.deepEqual(events.change[0].patch.moved, [[[0, 0], [1, 1], { name: "Cc" }]]);
  assert.deepEqual(documentChanges(events.change[0]).map(({ type, oldIndex, newIndex }) => [type, oldIndex, newIndex]), [["modified", 0, 2]]);
  assert.deepEqual([list.state.pendingOf(list.at(2)), list.state.pendingOf(list.at(0))], [{ isPlaced: true }, null]);
  assert.deepEqual(list.pending.map(({ status }) => status), ["sent"]);
  assert.match(writes()[0].once, /^[0-9a-f]{32}\.1$/);
  committed(7);
  assert.equal((await answer).commit, 7);
  assert.deepEqual([names(list), list.pending[0].status], [["Ac", "Cb", "Cc"], "committed"]);
  patch("v", "w", 7, { total: 3, moved: [[[0, 0], [1, 1], { name: "Cc" }]] });
  assert.deepEqual([names(list), list.pending, list.state.pendingOf(list.at(2))], [["Ac", "Cb", "Cc"], [], null]);
  // The event only says that the row is no longer pending.
  const { moved, updated } = events.change.at(-1).patch;
  assert.deepEqual([moved, updated], [[], [[[1, 1], [1, 1], {}]]]);
});

test("totals are the server's, in the sections that are shown", async () => {
  const { list, events } = await subscribed();
  say({ ...snapshotOf(world, null, "t"), id: "1", totals: { n: 3 }, sections: world.map(({ name, rows }) => (
    { name, indexTitle: name, count: rows.length, totals: { n: rows.length } })) });
  const answer = list.optimistically({ delete: [{ id: 1 }, { id: 2 }], insert: { id: 9, name: "Bx" } }, statement);
  const shown = () => list.sections.map(({ name, totals }) => [name, totals]);
  assert.deepEqual([list.totals, shown()], [{ n: 3 }, [["B", undefined], ["C", { n: 1 }]]]);
  patch("t", "u", 2, { total: 3, totals: { n: { $int: "9007199254740993" } }, sectionTotals: [[0, { n: 5 }], [1, { n: 6 }]] });
  assert.deepEqual([list.totals, shown()], [{ n: 9007199254740993n }, [["B", undefined], ["C", { n: 6 }]]]);
  const { totals, sectionTotals } = events.change.at(-1).patch;
  assert.deepEqual([totals, sectionTotals], [{ n: 9007199254740993n }, [[1, { n: 6 }]]]);
  refused("constraint");
  await assert.rejects(answer);
  assert.deepEqual(shown(), [["A", { n: 5 }], ["C", { n: 6 }]]);
});

test("rows come and go with their sections", async () => {
  const { list, events } = await subscribed();
  list.optimistically({ insert: [{ id: 9, name: "Bx" }, { id: 8, name: "Ba", depth: true }], delete: { id: 3 } }, statement);
  assert.deepEqual(list.sections, [{ name: "A", indexTitle: "A", count: 2 }, { name: "B", indexTitle: "B", count: 2 }]);
  assert.deepEqual(held(list.state).slice(2).map(([, row]) => row), [[8, "Ba", 1], [9, "Bx", null]]);
  const { sectionsDeleted, sectionsInserted } = events.change[0].patch;
  assert.deepEqual([sectionsDeleted, sectionsInserted], [[1], [[1, { name: "B", indexTitle: "B", count: 2, rows: [[8, "Ba", 1], [9, "Bx", null]] }]]]);
});

test("what others write meanwhile shows beside it", async () => {
  const { list } = await subscribed();
  list.optimistically({ update: { id: 2, depth: 5 } }, statement);
  patch("v", "w", 3, { total: 4, inserted: [[0, 1, [4, "Ab", 1]]], updated: [[[0, 1], [0, 2], { name: "Ad" }]] });
  assert.deepEqual(held(list.state).map(([, row]) => row), [[1, "Aa", 0], [4, "Ab", 1], [2, "Ad", 5], [3, "Cb", 0]]);
});

test("a refused write is taken back, with the reason", async () => {
  const { list, events } = await subscribed();
  const change = { delete: { id: 1 } };
  const answer = list.optimistically(change, statement);
  assert.deepEqual(names(list), ["Ac", "Cb"]);
  refused("constraint");
  await assert.rejects(answer, { code: "constraint" });
  assert.deepEqual([names(list), events.rollback, list.pending], [["Aa", "Ac", "Cb"], [["constraint", change]], []]);
  assert.equal(list.state.version, "v");
});

test("a write that changes nothing in the list stays no longer than it takes to know that", async () => {
  const { list } = await subscribed();
  const answer = list.optimistically({ update: { id: 1, name: "Zz" } }, statement);
  committed(7);
  await answer;
  assert.deepEqual(FakeSocket.last.lastSent, { type: "fetch", id: "1", offset: 0, limit: 0 });
  assert.deepEqual(names(list), ["Ac", "Cb", "Zz"]);
  say({ type: "rows", id: "1", version: "v", offset: 0, rows: [], complete: true });
  await turns();
  assert.deepEqual([names(list), list.pending], [["Aa", "Ac", "Cb"], []]);
});

test("new rows get the key that the database gives them", async () => {
  const { list } = await subscribed();
  const answer = list.optimistically({ insert: { name: "Ab" } }, sql`INSERT INTO well(name) VALUES (${"Ab"}) RETURNING id`);
  assert.deepEqual(names(list), ["Aa", "Ab", "Ac", "Cb"]);
  assert.equal(typeof list.at(1).id, "string");
  committed(7, [{ changes: 1, lastInsertRowid: 40, columns: ["id"], rows: [[40]] }]);
  await answer;
  assert.deepEqual([list.at(1).id, list.total], [40, 4]);
  patch("v", "w", 7, { total: 4, inserted: [[0, 1, [40, "Ab", 6]]] });
  assert.deepEqual([list.at(1), list.total, list.pending], [{ id: 40, name: "Ab", depth: 6 }, 4, []]);
});

test("without a connection writes wait, and are done in their order, one after the other", async () => {
  const { list } = await subscribed();
  FakeSocket.last.close();
  FakeSocket.last.onclose({ code: 1006 });
  const answers = ["x", "y"].map((name, index) => list.optimistically({ update: { id: index + 1, name } }, sql`UPDATE well SET name = ${name}`));
  assert.deepEqual([names(list), list.pending.map(({ status }) => status)], [["Cb", "x", "y"], ["queued", "queued"]]);
  await back();
  assert.deepEqual(writes().map(({ statements }) => statements[0].params.v1), ["x"]);
  committed(7);
  assert.deepEqual(writes().map(({ statements }) => statements[0].params.v1), ["x", "y"]);
  committed(8);
  await Promise.all(answers);
});

test("a write whose answer was lost is sent again under its name", async () => {
  const { list, events } = await subscribed();
  const answer = list.optimistically({ update: { id: 1, name: "x" } }, statement);
  const [{ once }] = writes();
  await back();
  assert.deepEqual(writes().map((write) => write.once), [once]);
  committed(7);
  assert.equal((await answer).commit, 7);
  assert.deepEqual(events.rollback, []);
});

for (const [what, epoch, limits] of [["after a restart", "other", undefined], ["by a server that does not remember", "e", {}]]) {
  test(`what became of it is not known ${what}`, async () => {
    const { list, events } = await subscribed();
    const change = { update: { id: 1, name: "x" } };
    const [sent, waiting] = [list.optimistically(change, statement), list.optimistically({ delete: { id: 3 } }, statement)];
    await back(epoch, limits);
    await assert.rejects(sent, { code: "outcome_unknown", retryable: false });
    assert.deepEqual(events.rollback, [["outcome_unknown", change]]);
    assert.deepEqual(names(list), ["Aa", "Ac"], "what was not sent is");
    committed(7);
    await waiting;
  });
}

test("a server that cannot at the moment is asked again, for a while", async () => {
  const { list } = await subscribed();
  const answer = list.optimistically({ delete: { id: 1 } }, statement);
  for (let attempt = 1; attempt < 6; attempt += 1) {
    refused("overloaded", { retryable: true });
    assert.equal(writes().length, attempt);
    clock.tick(250 * 2 ** (attempt - 1));
    assert.deepEqual([writes().length, new Set(writes().map(({ once }) => once)).size], [attempt + 1, 1]);
  }
  refused("overloaded", { retryable: true });
  await assert.rejects(answer, { code: "overloaded" });
});

test("the queue has an end", async () => {
  const { list } = await subscribed();
  FakeSocket.last.drop();
  for (let count = 0; count < 1000; count += 1) list.optimistically({ update: { id: 1, depth: count } }, statement).catch(() => {});
  await assert.rejects(list.optimistically({ delete: { id: 1 } }, statement), { code: "queue_full", retryable: true });
  assert.deepEqual([list.pending.length, list.at(0).depth], [1000, 999]);
});

test("a closed client tells what was sent from what was not", async () => {
  const { client, list } = await subscribed();
  const answers = [1, 2].map((id) => list.optimistically({ delete: { id } }, statement));
  client.close();
  await assert.rejects(answers[0], { code: "outcome_unknown" });
  await assert.rejects(answers[1], { code: "closed" });
});

test("nothing is written before the server knows who writes", async () => {
  const { list } = await subscribed({ options: { token: () => "t" } });
  list.optimistically({ delete: { id: 1 } }, statement);
  assert.deepEqual([writes(), list.total], [[], 2]);
  say({ type: "authenticated", id: "token", role: "clerk", expires: null });
  assert.equal(writes().length, 1);
});

const long = [{ name: "A", rows: Array.from({ length: 100 }, (_, id) => [id, `A${String.fromCharCode(100 + id)}`, 0]) }];

test("a window is that of what is shown", async () => {
  const { list } = await subscribed({ window: { offset: 10, limit: 5 }, rows: long });
  list.optimistically({ insert: { id: 900, name: long[0].rows[12][1] }, delete: { id: 13 } }, statement);
  assert.deepEqual(held(list.state).map(([offset, [id]]) => [offset, id]), [[10, 10], [11, 11], [12, 12], [13, 900], [14, 14]]);
  list.optimistically({ insert: { id: 901, name: "A" } }, statement);
  assert.deepEqual([list.window, list.total, list.at(11).id], [{ offset: 11, limit: 5 }, 101, 10]);
  assert.deepEqual(list.state.pendingOf({ id: 901 }), { isPlaced: false }, "where it belongs is not held");
  const answer = list.setWindow({ offset: 50, limit: 10 });
  assert.deepEqual(FakeSocket.last.lastSent, { type: "window", id: "1", offset: 49, limit: 10 });
  say({ type: "rows", id: "1", version: "v", window: { offset: 49, limit: 10 }, offset: 49, rows: long[0].rows.slice(49, 59), complete: true });
  assert.deepEqual([(await answer).window, list.at(50).id], [{ offset: 50, limit: 10 }, 49]);
  const found = list.locate(20);
  say({ type: "located", id: "1", key: 20, path: [0, 20], offset: 20 });
  assert.deepEqual(await found, { path: [0, 19], offset: 19 });
});

for (const [what, order, sections] of [
  ["is no column", { order: [term(null), term("id")] }, [3, 1]], ["has a collation of its own", { order: [term("name", { collation: "own" })] }, [3, 1]],
  ["is not said, by an older server", { order: undefined, sectionOrder: undefined }, [2, 2]],
]) {
  test(`where the order ${what}, rows stay, and new ones come last`, async () => {
    const { list } = await subscribed({ order });
    list.optimistically({ update: { id: 1, depth: 9 }, insert: { id: 5, name: "A", depth: -7 } }, statement);
    assert.deepEqual(held(list.state).map(([, [id]]) => id), sections[0] === 3 ? [1, 2, 5, 3] : [1, 2, 3, 5]);
    assert.deepEqual(list.sections.map(({ count }) => count), sections);
    assert.deepEqual([1, 5].map((id) => list.state.pendingOf({ id })), [{ isPlaced: false }, { isPlaced: false }]);
    list.optimistically({ delete: [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 5 }] }, statement);
    assert.deepEqual([list.total, list.sections], [0, []]);
  });
}

test("columns that are made of another one are found by the option sources", () => {
  const message = { order: [term(null, { of: { source: "well.name" } }), term("id")] };
  const [left, right] = [{ id: 2, short: "a" }, { id: 1, short: "b" }];
  assert.equal(new Ordering(message).compare(left, right), undefined);
  assert.ok(new Ordering(message, { short: "Well.name" }).compare(left, right) < 0);
});

test("a row that is shown is the same object until it changes", async () => {
  const { list } = await subscribed();
  list.optimistically({ update: { id: 1, depth: 5 } }, statement);
  const [first, second] = [list.at(0), list.at(1)];
  patch("v", "w", 2, { total: 3, updated: [[[1, 0], [1, 0], { depth: 4 }]] });
  assert.deepEqual([list.at(0) === first, list.at(1) === second, list.at(2).depth], [true, true, 4]);
});

test("with another query rows go where that has them", async () => {
  const { list } = await subscribed();
  list.optimistically({ insert: { id: 9, name: "Ab", depth: 5 } }, statement);
  const answer = list.requery({ ...query, orderBy: ["depth DESC"] });
  patch("v", "other", 1, { total: 3, order: [term("depth", { descending: true, nulls: "last" }), term("id")], sectionOrder: snapshotOf(world).sectionOrder });
  say({ type: "rows", id: "1", version: "other", offset: 0, rows: [], complete: true });
  await answer;
  assert.deepEqual(names(list), ["Ab", "Aa", "Ac", "Cb"]);
});

test("changes are rows", async () => {
  const { list } = await subscribed();
  await assert.rejects(list.optimistically({ delete: 7 }, statement), TypeError);
  assert.deepEqual([list.pending, writes()], [[], []]);
});

test("a change before the first rows shows with them", async () => {
  const client = connect("http://here", { WebSocket: FakeSocket });
  const list = client.subscribe(query);
  list.optimistically({ insert: { id: 7, name: "Ab" } }, statement);
  await turns();
  FakeSocket.last.open();
  say({ ...snapshotOf(world, null, "v"), id: "1" });
  assert.deepEqual(names(list), ["Aa", "Ab", "Ac", "Cb"]);
});
