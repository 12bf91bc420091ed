// useLiveQuery with React 18, each test once plainly and once in StrictMode.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { createElement as h } from "react";
import { connect, sql } from "freshet";
import { FakeSocket, turns } from "../client/fake-socket.mjs";
import {
  act, begin, Boundary, complaints, end, kinds, last, List, mounted, open, patch, provided, rendered, say, sent, shown, snapshot,
} from "./react-world.mjs";

beforeEach(begin);
afterEach(end);
const page = { from: "bank" };
const window = { offset: 0, limit: 2 };

for (const [kind, wrap] of Object.entries(kinds)) {
  test(`${kind}: rows are shown when they come, followed, and left`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    assert.deepEqual([last.status, last.isPending, last.rows], ["loading", true, []]);
    assert.equal(open().length, 1);
    await say(snapshot(["a", "b"]));
    assert.equal(shown(it), "a b");
    assert.deepEqual([last.status, last.isPending, last.total], ["live", false, 2]);
    await say(patch(3, { inserted: [[0, 1, [3, "ab"]]] }));
    assert.equal(shown(it), "a ab b");
    await it.unmount();
    assert.deepEqual(open(), []);
    await it.close();
  });

  test(`${kind}: a row that did not change is the same object, and is not rendered again`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a", "b", "c"]));
    const [a, , c] = last.rows;
    rendered.length = 0;
    await say(patch(3, { updated: [[[0, 1], [0, 1], { name: "B" }]] }));
    assert.deepEqual([...new Set(rendered)], ["B"]);
    assert.equal(last.rows[0], a);
    assert.equal(last.rows[2], c);
    const before = last;
    rendered.length = 0;
    await it.update(provided(it.client, h(List, { query: { from: "bank" } })));
    assert.equal(last, before, "written anew, the query says the same");
    assert.deepEqual(rendered, []);
    await it.close();
  });

  test(`${kind}: another query leads from the rows that are shown`, async () => {
    const it = await mounted((client) => provided(client, h(List, { query: { ...page, where: sql`id > ${1}` } })), wrap);
    await say(snapshot(["a", "b"]));
    const [, b] = last.rows;
    const other = { ...page, where: sql`id > ${2}` };
    await it.update(provided(it.client, h(List, { query: other })));
    assert.deepEqual([shown(it), last.isPending], ["a b", true]);
    assert.equal(sent("requery").length, 1);
    const renderings = rendered.length;
    await say(patch(1, { deleted: [[0, 0]] }));
    await say({ type: "rows", version: "2", offset: 0, rows: [], complete: true });
    assert.deepEqual([shown(it), last.isPending, last.error], ["b", false, null]);
    assert.equal(last.rows[0], b);
    assert.equal(rendered.length, renderings, "it was there before");
    assert.equal(sent("subscribe").length - sent("unsubscribe").length, 1);
    await it.close();
  });

  test(`${kind}: a query that changes back and forth ends with the last one`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a", "b"]));
    const query = (limit) => provided(it.client, h(List, { query: { ...page, limit } }));
    for (const limit of [1, 5, 1, 2]) await it.update(query(limit));
    assert.deepEqual(sent("requery").map(({ query: { limit } }) => limit), [1]);
    await say({ type: "rows", version: "1", offset: 0, rows: [], complete: true });
    assert.deepEqual(sent("requery").map(({ query: { limit } }) => limit), [1, 2]);
    assert.equal(last.isPending, true);
    await say({ type: "rows", version: "1", offset: 0, rows: [], complete: true });
    assert.deepEqual([last.isPending, last.list.query.limit], [false, 2]);
    await it.close();
  });

  test(`${kind}: a refused query leaves the rows of the one before, with the error`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a", "b"]));
    await it.update(provided(it.client, h(List, { query: { ...page, orderBy: ["nme"] } })));
    await say({ type: "error", code: "no_such_column", message: "nme", retryable: false, fatal: false });
    assert.deepEqual([shown(it), last.isPending, last.error.code, last.status], ["a b", false, "no_such_column", "live"]);
    await say({ type: "rows", version: "1", offset: 0, rows: [], complete: true });
    await it.update(provided(it.client, h(List, { query: { ...page, orderBy: ["name"] } })));
    assert.deepEqual([last.isPending, last.error], [true, null]);
    await say({ type: "rows", version: "1", offset: 0, rows: [], complete: true });
    assert.deepEqual([last.isPending, last.error], [false, null]);
    await it.close();
  });

  test(`${kind}: the refusal of a query that is no longer wanted is nobody's error`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a", "b"]));
    await it.update(provided(it.client, h(List, { query: { ...page, orderBy: ["nme"] } })));
    await it.update(provided(it.client, h(List, { query: { ...page, orderBy: ["name"] } })));
    await say({ type: "error", code: "no_such_column", message: "nme", retryable: false, fatal: false });
    assert.deepEqual([last.isPending, last.error], [true, null]);
    for (let answer = 0; answer < 2; answer += 1) await say({ type: "rows", version: "1", offset: 0, rows: [], complete: true });
    assert.deepEqual([last.isPending, last.error, last.list.query.orderBy], [false, null, ["name"]]);
    await it.close();
  });

  test(`${kind}: a window that is wanted while another query is under way comes with that query`, async () => {
    const list = (client, query, offset) => provided(client, h(List, { query, options: { window: { offset, limit: 2 } } }));
    const it = await mounted((client) => list(client, page, 0), wrap);
    await say(snapshot(["a", "b"], { window }));
    await it.update(list(it.client, { ...page, limit: 9 }, 0));
    await it.update(list(it.client, page, 1));
    assert.deepEqual([sent("requery").length, sent("window").length], [1, 0], "what is under way would undo a window");
    await say({ type: "rows", version: "1", offset: 0, rows: [], complete: true });
    assert.deepEqual(sent("requery").map(({ window: { offset } }) => offset), [0, 1]);
    await it.close();
  });

  test(`${kind}: a query that is refused from the beginning is an error, and a better one goes on`, async () => {
    const it = await mounted((client) => provided(client, h(List, { query: { from: "bnk" } })), wrap);
    await say({ type: "error", code: "no_such_table", message: "bnk", retryable: false, fatal: true }, open()[0]);
    assert.deepEqual([last.status, last.isPending, last.error.code], ["failed", false, "no_such_table"]);
    await it.update(provided(it.client, h(List)));
    assert.deepEqual([last.isPending, last.error], [true, null]);
    assert.equal(open().length, 1, "a list that has failed is over");
    await say(snapshot(["a"]), open()[0]);
    assert.deepEqual([shown(it), last.status, last.error], ["a", "live", null]);
    await it.close();
  });

  test(`${kind}: with throwErrors the error goes to the boundary`, async () => {
    const bad = (client) => provided(client, h(Boundary, null, h(List, { query: { from: "bnk" }, options: { throwErrors: true } })));
    const it = await mounted(bad, wrap);
    await say({ type: "error", code: "no_such_table", message: "bnk", retryable: false, fatal: true }, open()[0]);
    assert.equal(shown(it), "no_such_table");
    assert.deepEqual(open(), []);
    // React itself logs errors that a boundary has caught.
    complaints.length = 0;
    await it.close();
  });

  test(`${kind}: another window keeps the rows until its own are there`, async () => {
    const list = (client, options) => provided(client, h(List, { options }));
    const it = await mounted((client) => list(client, { window }), wrap);
    const whole = { total: 4, sections: [{ name: "", indexTitle: "", count: 4 }] };
    await say(snapshot(["a", "b"], { ...whole, window }));
    const wanted = { offset: 1, limit: 2 };
    await it.update(list(it.client, { window: wanted }));
    assert.deepEqual(sent("window").map(({ offset, limit }) => ({ offset, limit })), [wanted]);
    assert.deepEqual([shown(it), last.isPending], ["a b", true]);
    const b = last.rows[1];
    await say({ type: "rows", version: "1", window: wanted, offset: 2, rows: [[3, "c"]], complete: true });
    assert.deepEqual([shown(it), last.isPending], ["b c", false]);
    assert.equal(last.rows[0], b);
    await it.close();
  });

  test(`${kind}: a window where there was none is another list, whose rows replace those before at once`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a", "b"]));
    await it.update(provided(it.client, h(List, { options: { window } })));
    assert.deepEqual([shown(it), last.isPending, open().length], ["a b", true, 2]);
    await say(patch(2, { updated: [[[0, 0], [0, 0], { name: "A" }]] }));
    assert.equal(shown(it), "A b", "the old list goes on meanwhile");
    await say(snapshot(["A", "b"], { window }), open()[1]);
    assert.deepEqual([shown(it), last.isPending, open().length], ["A b", false, 1]);
    await it.close();
  });

  test(`${kind}: a window that is no longer wanted leaves the list before it`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a", "b"]));
    await it.update(provided(it.client, h(List, { options: { window } })));
    await it.update(provided(it.client, h(List)));
    assert.deepEqual([shown(it), last.isPending, last.error, open().length], ["a b", false, null, 1]);
    await say(patch(2, { updated: [[[0, 0], [0, 0], { name: "A" }]] }));
    assert.equal(shown(it), "A b");
    await it.close();
  });

  test(`${kind}: a refused second list leaves the first one`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a", "b"]));
    await it.update(provided(it.client, h(List, { options: { window } })));
    await say({ type: "error", code: "limit_exceeded", message: "x", retryable: false, fatal: true }, open()[1]);
    assert.deepEqual([shown(it), last.isPending, last.error.code, last.status], ["a b", false, "limit_exceeded", "live"]);
    await it.unmount();
    assert.ok(!open().includes("1"));
    await it.close();
  });

  test(`${kind}: components share a client, and another client brings its own rows`, async () => {
    const two = (client) => provided(client, h(List, { query: { from: "a" } }), h(List, { query: { from: "b" } }));
    const it = await mounted(two, wrap);
    assert.equal(FakeSocket.all.length, 1);
    assert.deepEqual(open().length, 2);
    for (const id of open()) await say(snapshot([`x${id}`]), id);
    const before = shown(it);
    const other = connect("http://there", { WebSocket: FakeSocket });
    await turns();
    await act(async () => FakeSocket.last.open());
    await it.update(two(other));
    assert.equal(shown(it), before);
    for (const { id } of FakeSocket.last.sent.filter(({ type }) => type === "subscribe")) await say(snapshot(["y"]), id);
    assert.equal(shown(it), "y y");
    const [first] = FakeSocket.all;
    assert.equal(first.sent.filter(({ type }) => type === "unsubscribe").length, 2);
    assert.notEqual(it.client.status, "closed", "whoever made a client closes it");
    await it.close();
    await act(async () => other.close());
  });

  test(`${kind}: without a query nothing is followed`, async () => {
    const it = await mounted((client) => h(List, { query: null, options: { client } }), wrap);
    assert.deepEqual([open(), last.status, last.isPending], [[], "closed", false]);
    await it.update(h(List, { query: page, options: { client: it.client } }));
    await say(snapshot(["a"]), open()[0]);
    assert.equal(shown(it), "a");
    await it.update(h(List, { query: null, options: { client: it.client } }));
    assert.deepEqual([shown(it), open(), last.status], ["", [], "closed"]);
    await it.close();
  });

  test(`${kind}: a broken connection keeps the rows`, async () => {
    const it = await mounted((client) => provided(client, h(List)), wrap);
    await say(snapshot(["a"]));
    await act(async () => FakeSocket.last.drop());
    assert.deepEqual([shown(it), last.status, last.isPending], ["a", "reconnecting", false]);
    await it.close();
  });
}

test("without a client it says what is missing", async () => {
  const it = await mounted(() => h(Boundary, null, h(List)));
  assert.match(shown(it), /^useLiveQuery needs a client/);
  complaints.length = 0;
  await it.close();
});

test("what one message changes is rendered once", async () => {
  const it = await mounted((client) => provided(client, h(List)));
  const results = new Set([last]);
  await say(snapshot(["a"]));
  assert.equal(results.add(last).size, 2);
  rendered.length = 0;
  await say(patch(1, { updated: [[[0, 0], [0, 0], { name: "b" }]] }));
  assert.deepEqual(rendered, ["b"]);
  await it.close();
});
