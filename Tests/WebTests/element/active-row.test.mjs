// The active row and the anchor of the view, followed through random changes of a list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../../public/client/apply.js";
import { emptyState } from "../../../public/client/list-state.js";
import { ActiveRow } from "../../../public/element/active-row.js";
import { PendingChanges } from "../../../public/element/pending-changes.js";
import { changed, makeWorld, makePatch, randomNumbers, snapshotOf } from "../client/patch-writer.mjs";

const idsOf = (world) => world.flatMap(({ rows }) => rows.map(([id]) => id));

/** Makes a random change: its event, and the world after it. */
function step(world, state, random, version) {
  const next = changed(world, random);
  const { patch } = makePatch(world, next, state.window, String(version - 1), String(version));
  const { state: after, changes } = apply(state, patch);
  return { next, event: { kind: "patch", patch, before: state, after, changes } };
}

function start(random, window = null) {
  const world = makeWorld(random);
  return { world, state: apply(emptyState, snapshotOf(world, window, "0")).state };
}

test("it is the same row wherever it goes, and one that stayed when it is deleted", () => {
  for (let seed = 1; seed <= 3000; seed += 1) {
    const random = randomNumbers(seed);
    const { world, state } = start(random);
    if (state.total === 0) continue;
    const active = new ActiveRow();
    active.set(state, random(state.total));
    const id = idsOf(world)[active.offset];
    const { next, event } = step(world, state, random, 1);
    assert.equal(active.follow(event), false);
    const ids = idsOf(next);
    if (ids.includes(id)) assert.equal(ids[active.offset], id, `seed ${seed}`);
    else {
      assert.ok(active.offset < ids.length);
      assert.ok(ids.length === 0 ? active.offset === -1 : active.offset >= 0, `seed ${seed}`);
      const remaining = idsOf(world).slice(idsOf(world).indexOf(id) + 1).filter((other) => ids.includes(other));
      const isNext = ids[active.offset] === remaining[0];
      const isMove = event.patch.moved?.length > 0 || event.patch.sectionsDeleted?.length > 0;
      // If rows move in the same change, the next row is not determined.
      if (remaining.length > 0 && !isMove) assert.ok(isNext, `seed ${seed}`);
    }
  }
});

test("a row whose contents are not held is followed by where the patch says it goes", () => {
  for (let seed = 1; seed <= 3000; seed += 1) {
    const random = randomNumbers(seed);
    const { world, state } = start(random, { offset: 0, limit: 3 });
    if (state.total < 5) continue;
    const active = new ActiveRow();
    active.set(state, 4 + random(state.total - 4));
    assert.equal(active.key, null);
    const id = idsOf(world)[active.offset];
    const { next, event } = step(world, state, random, 1);
    active.follow(event);
    const isBySections = event.patch.sectionsDeleted?.length || event.patch.sectionsInserted?.length;
    if (idsOf(next).includes(id) && !isBySections) assert.equal(idsOf(next)[active.offset], id, `seed ${seed}`);
  }
});

test("after a snapshot it is found among the rows that came, or asked for", async () => {
  const rows = Array.from({ length: 100 }, (_, id) => [id, "a", 0]);
  const window = { offset: 0, limit: 10 };
  const before = apply(emptyState, snapshotOf([{ name: "A", rows }], window, "0")).state;
  const changes = { inserted: [], moved: [], updated: [], newOffset: (offset) => offset };
  const snapshot = (others) => ({
    kind: "snapshot", patch: null, before, changes,
    after: apply(emptyState, snapshotOf([{ name: "A", rows: others }], window, "1")).state,
  });
  const active = new ActiveRow();
  active.set(before, 5);
  assert.equal(active.follow(snapshot(rows.slice(2))), false);
  assert.equal(active.offset, 3);
  assert.equal(active.follow(snapshot(rows.filter(([id]) => id !== 5))), true, "deleted, or far away");
  const asked = [];
  await active.locate({ state: before, locate: async (key) => (asked.push(key), { path: [0, 77], offset: 77 }) });
  assert.deepEqual(asked, [[5]]);
  assert.equal(active.offset, 77);
  await active.locate({ state: before, locate: async () => ({ path: null, offset: null }) });
  assert.equal(active.offset, 77);
  assert.equal(active.key, null, "whatever row stands there now");
});

test("changes between two frames add up: the anchor and the marks are where they are in the last state", () => {
  for (let seed = 1; seed <= 1000; seed += 1) {
    const random = randomNumbers(seed);
    let { world, state } = start(random);
    if (state.total === 0) continue;
    const ids = idsOf(world);
    const anchor = random(state.total);
    const pending = new PendingChanges(state, anchor);
    const moved = new Set();
    for (let version = 1; version <= 3; version += 1) {
      const { next, event } = step(world, state, random, version);
      pending.add(event);
      for (const offset of event.changes.moved) moved.add(idsOf(next)[offset]);
      // A row that leaves a deleted section, or enters a new one, does not move but is a new element.
      if (event.patch.sectionsDeleted?.length || event.patch.sectionsInserted?.length) moved.add(ids[anchor]);
      ({ world, state } = { world: next, state: event.after });
    }
    if (idsOf(world).includes(ids[anchor]) && !moved.has(ids[anchor])) {
      assert.equal(idsOf(world)[pending.anchor], ids[anchor], `seed ${seed}`);
    }
    for (const id of idsOf(world).filter((other) => !ids.includes(other))) {
      const key = state.keyOf({ id });
      assert.ok(pending.marks.get(key)?.isInserted, `seed ${seed}: ${id}`);
    }
  }
});

test("rows of a snapshot have not moved, except when they answer another query", () => {
  const state = apply(emptyState, snapshotOf([{ name: "A", rows: [[1, "a", 0], [2, "b", 0]] }], null, "0")).state;
  const after = apply(emptyState, snapshotOf([{ name: "A", rows: [[2, "b", 0], [1, "a", 0]] }], null, "1")).state;
  const changes = { inserted: [], moved: [], updated: [], newOffset: (offset) => offset };
  const pending = new PendingChanges(state, 1);
  pending.add({ kind: "snapshot", patch: null, before: state, after, changes });
  assert.equal(pending.anchor, 0, "the same row, by its key");
  assert.equal(pending.isMoving, false);
  pending.isOtherQuery = true;
  assert.equal(pending.isMoving, true);
});
