// Suspense and error boundaries.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { createElement as h, startTransition } from "react";
import { clock } from "../fake-clock.mjs";
import {
  act, begin, Boundary, complaints, end, kinds, last, List, mounted, open, patch, provided, rendered, say, sent, shown, snapshot, waiting,
} from "./react-world.mjs";

const suspense = { suspense: true };
const bank = { from: "bank" };
const refused = { type: "error", code: "no_such_table", message: "bnk", retryable: false, fatal: true };

beforeEach(() => {
  begin();
  clock.start();
});
afterEach(() => {
  clock.stop();
  end();
});

for (const [kind, wrap] of Object.entries(kinds)) {
  test(`${kind}: it suspends until the first rows, with one subscription`, async () => {
    const it = await mounted((client) => provided(client, waiting(h(List, { options: suspense }))), wrap);
    assert.deepEqual([shown(it), open().length], ["waiting", 1]);
    await say(snapshot(["a", "b"]));
    assert.deepEqual([shown(it), last.status, last.isPending], ["a b", "live", false]);
    assert.equal(sent("subscribe").length, 1);
    const [a] = last.rows;
    rendered.length = 0;
    await say(patch(2, { updated: [[[0, 1], [0, 1], { name: "B" }]] }));
    assert.deepEqual([shown(it), [...new Set(rendered)]], ["a B", ["B"]]);
    assert.equal(last.rows[0], a);
    clock.tick(6000);
    assert.equal(open().length, 1, "it was claimed");
    await it.unmount();
    assert.deepEqual(open(), []);
    await it.close();
  });

  test(`${kind}: another query does not suspend again`, async () => {
    const it = await mounted((client) => provided(client, waiting(h(List, { options: suspense }))), wrap);
    await say(snapshot(["a", "b"]));
    await it.update(provided(it.client, waiting(h(List, { query: { ...bank, limit: 1 }, options: suspense }))));
    assert.deepEqual([shown(it), last.isPending], ["a b", true]);
    await say(patch(1, { deleted: [[0, 1]] }));
    await say({ type: "rows", version: "2", offset: 0, rows: [], complete: true });
    assert.deepEqual([shown(it), last.isPending], ["a", false]);
    await it.close();
  });

  test(`${kind}: a query that comes later suspends then`, async () => {
    const list = (client, query) => provided(client, waiting(h(List, { query, options: suspense })));
    const it = await mounted((client) => list(client, null), wrap);
    assert.deepEqual([shown(it), open()], ["", []]);
    await it.update(list(it.client, bank));
    assert.equal(shown(it), "waiting");
    await say(snapshot(["a"]), open()[0]);
    assert.deepEqual([shown(it), last.isPending, open().length], ["a", false, 1]);
    await it.close();
  });

  test(`${kind}: a component that goes away while it waits leaves no subscription`, async () => {
    const it = await mounted((client) => provided(client, waiting(h(List, { options: suspense }))), wrap);
    await it.update(provided(it.client, h("p")));
    assert.equal(open().length, 1);
    await say(snapshot(["a"]));
    clock.tick(4000);
    assert.equal(open().length, 1, "its boundary may take longer");
    clock.tick(2000);
    assert.deepEqual(open(), []);
    await it.close();
  });

  test(`${kind}: two that wait for the same rows each have a list`, async () => {
    const both = (client) => provided(client, waiting(h("div", null, h(List, { options: suspense }), h(List, { options: suspense }))));
    const it = await mounted(both, wrap);
    assert.equal(open().length, 1);
    await say(snapshot(["a"]), open()[0]);
    assert.equal(shown(it), "a a");
    for (const id of open().slice(1)) await say(snapshot(["a"]), id);
    assert.deepEqual([shown(it), open().length], ["a a", 2]);
    for (const id of open()) await say(patch(1, { updated: [[[0, 0], [0, 0], { name: "b" }]] }), id);
    assert.equal(shown(it), "b b");
    await it.close();
  });

  test(`${kind}: one that does not wait takes no list from one that does`, async () => {
    const both = (client) => provided(client, h(List), waiting(h(List, { options: suspense })));
    const it = await mounted(both, wrap);
    assert.equal(open().length, 2);
    for (const id of open()) await say(snapshot(["a"]), id);
    assert.deepEqual([shown(it), open().length], ["a a", 2]);
    await it.close();
  });

  test(`${kind}: a refused query is thrown to the boundary, once, and tried again later`, async () => {
    const list = (client, key) => provided(client, h(Boundary, { key }, waiting(h(List, { options: { suspense: true, throwErrors: true } }))));
    const it = await mounted((client) => list(client, 1), wrap);
    await say(refused, open()[0]);
    assert.equal(shown(it), "no_such_table");
    assert.equal(sent("subscribe").length, 1);
    complaints.length = 0;
    clock.tick(1000);
    await it.update(list(it.client, 2));
    assert.equal(shown(it), "waiting");
    await say(snapshot(["a"]), "2");
    assert.equal(shown(it), "a");
    await it.close();
  });

  test(`${kind}: a refused query is returned where nothing is thrown`, async () => {
    const it = await mounted((client) => provided(client, waiting(h(List, { options: suspense }))), wrap);
    await say(refused, open()[0]);
    assert.deepEqual([shown(it), last.status, last.error.code, last.isPending], ["", "failed", "no_such_table", false]);
    await it.close();
  });

  test(`${kind}: a transition to another list is shown whole`, async () => {
    const list = (client, from) => provided(client, waiting(h(List, { key: from, query: { from }, options: suspense })));
    const it = await mounted((client) => list(client, "a"), wrap);
    await say(snapshot(["a1"]), open()[0]);
    await act(async () => startTransition(() => it.tree.update(wrap(list(it.client, "b")))));
    assert.equal(shown(it), "a1", "the old one stays until the new one has rows");
    await say(patch(1, { updated: [[[0, 0], [0, 0], { name: "a2" }]] }), open()[0]);
    assert.equal(shown(it), "a2", "and goes on");
    await say(snapshot(["b1"]), open()[1]);
    assert.equal(shown(it), "b1");
    assert.equal(open().length, 1);
    await it.close();
  });
}
