// The client applies random patches, made by a plain writer that knows both results.
import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../../public/client/apply.js";
import { emptyState } from "../../../public/client/list-state.js";
import { MismatchError } from "../../../public/client/patch-steps.js";
import { changeSet, documentChanges, fetchedResults } from "../../../public/client/adapters/index.js";
import { changed, held, makePatch, makeWorld, randomNumbers, snapshotOf, windowOf } from "./patch-writer.mjs";

const rowsOf = (world) => world.flatMap(({ rows }) => rows);
const started = (world, window, version = "0") => apply(emptyState, snapshotOf(world, window, version)).state;

function check(state, world, window, context) {
  const rows = rowsOf(world);
  const counts = world.map(({ name, rows }) => ({ name, indexTitle: name[0], count: rows.length }));
  assert.deepEqual(state.sections, counts, context);
  assert.equal(state.total, rows.length, context);
  assert.deepEqual(held(state), windowOf(rows, window), context);
  rows.forEach((_, offset) => assert.equal(state.offsetOf(state.pathOf(offset)), offset, context));
  for (const [offset, row] of state.entries()) assert.deepEqual(state.path(row.id), state.pathOf(offset), context);
  assert.equal(state.pathOf(rows.length), null, context);
}

for (const isWindowed of [false, true]) {
  test(`a thousand runs of patches, ${isWindowed ? "with" : "without"} a window`, () => {
    for (let seed = 1; seed <= 1000; seed += 1) {
      const random = randomNumbers(seed);
      let world = makeWorld(random);
      let window = isWindowed ? { offset: random(12), limit: random(9) } : null;
      let state = started(world, window);
      for (let step = 1; step <= 6; step += 1) {
        const context = `seed ${seed}, step ${step}`;
        const next = changed(world, random);
        const { patch, survivors } = makePatch(world, next, window, String(step - 1), String(step));
        const outcome = apply(state, patch);
        for (const [from, to] of survivors) assert.equal(outcome.changes.newOffset(from), to, context);
        checkAdapters(state, outcome.state, patch, world, next, context);
        state = outcome.state;
        [world, window] = [next, patch.window ?? null];
        check(state, world, window, context);
      }
    }
  });
}

/** Checks that each adapter's changes, applied to the old result, lead to the new one. */
function checkAdapters(before, after, patch, world, next, context) {
  const ids = (rows) => rows.map(([id]) => id);
  const [old, now] = [ids(rowsOf(world)), ids(rowsOf(next))];
  const event = { patch, before, after };

  const list = [...old];
  for (const { type, oldIndex, newIndex, row } of documentChanges(event)) {
    const [id] = oldIndex >= 0 ? list.splice(oldIndex, 1) : [undefined];
    if (row && oldIndex >= 0) assert.equal(row.id, id, `${context}: ${type}`);
    if (newIndex >= 0) list.splice(newIndex, 0, id ?? now[newIndex === oldIndex ? newIndex : finalIndex(now, row, newIndex)]);
  }
  if (!patch.window) assert.deepEqual(list, now, `${context}: documentChanges`);
  else assert.equal(list.length, now.length, `${context}: documentChanges`);

  const changes = changeSet(event);
  const rest = old.filter((_, offset) => !changes.deletions.includes(offset));
  for (const offset of changes.insertions) rest.splice(offset, 0, now[offset]);
  assert.deepEqual(rest, now, `${context}: changeSet`);
  assert.deepEqual(
    changes.oldModifications.map((offset) => old[offset]).sort(),
    changes.newModifications.map((offset) => now[offset]).sort(), `${context}: changeSet`);

  checkDelegate(event, world, next, context);
}

/** The final index of an inserted row, known from its contents if they are held. */
function finalIndex(now, row, index) {
  return row ? now.indexOf(row.id) : index;
}

/** Applies the calls as a table view does: removes and inserts by path, sections and rows. */
function checkDelegate({ patch, before, after }, world, next, context) {
  const list = new EventTarget();
  const calls = { section: [], row: [], order: [] };
  fetchedResults(list, {
    willChange: () => calls.order.push("will"), didChange: () => calls.order.push("did"),
    didChangeSection: (section, index, type) => calls.section.push([type, index, section]),
    didChangeObject: (row, path, type, newPath) => calls.row.push([type, path, newPath]),
  });
  list.dispatchEvent(Object.assign(new Event("change"), { kind: "patch", patch, before, after }));
  assert.deepEqual(calls.order, ["will", "did"], context);
  const at = (state, [section, item]) => state[section].rows[item];
  const sections = world.map(({ name, rows }) => ({ name, ids: rows.map(([id]) => id) }));
  const gone = calls.row.filter(([type]) => type === "delete" || type === "move").map(([, path]) => at(world, path)[0]);
  for (const section of sections) section.ids = section.ids.filter((id) => !gone.includes(id));
  for (const [type, index] of calls.section.filter(([type]) => type === "delete")) {
    assert.deepEqual(sections[index].ids, [], `${context}: rows of a section that goes, ${type}`);
    sections.splice(index, 1);
  }
  for (const [, index, { name }] of calls.section.filter(([type]) => type === "insert")) {
    sections.splice(index, 0, { name, ids: [] });
  }
  const come = calls.row.filter(([type]) => type === "insert" || type === "move").map(([, , path]) => path)
    .sort((left, right) => left[0] - right[0] || left[1] - right[1]);
  for (const path of come) sections[path[0]].ids.splice(path[1], 0, at(next, path)[0]);
  assert.deepEqual(sections, next.map(({ name, rows }) => ({ name, ids: rows.map(([id]) => id) })), context);
}

test("the changes tell rows that came in, went elsewhere and changed", () => {
  const world = [{ name: "A", rows: [[1, "a", 0], [2, "b", 0], [3, "c", 0]] }, { name: "B", rows: [[4, "d", 0]] }];
  const before = started(world, null);
  const { state, changes } = apply(before, {
    type: "patch", from: "0", to: "1", commit: 1, total: 5,
    inserted: [[0, 0, [5, "0", 0]]], moved: [[[0, 0], [1, 1], { name: "z" }]],
    updated: [[[0, 2], [0, 2], { depth: 7 }]],
  });
  assert.deepEqual(changes.inserted, [0]);
  assert.deepEqual(changes.moved, [4]);
  assert.deepEqual(changes.updated, [{ offset: 4, columns: ["name"] }, { offset: 2, columns: ["depth"] }]);
  assert.deepEqual(held(state).map(([, row]) => row[0]), [5, 2, 3, 4, 1]);
  assert.deepEqual(state.row([1, 1]), { id: 1, name: "z", depth: 0 });
  assert.deepEqual(state.path(1), [1, 1]);
  assert.equal(state.path(9), null);
  assert.equal(state.at(1), before.at(1), "a row that has not changed is the same object");
});

test("sections that have not changed are the same objects", () => {
  const before = started([{ name: "A", rows: [[1, "a", 0]] }, { name: "B", rows: [[2, "b", 0]] }], null);
  const { state } = apply(before, { type: "patch", from: "0", to: "1", commit: 1, total: 1, sectionsDeleted: [0] });
  assert.equal(state.sections[0], before.sections[1]);
});

test("a snapshot comes in parts", () => {
  const whole = snapshotOf([{ name: "B", rows: [[2, "b", 0], [3, "c", 0]] }], null, "7");
  const { state: part } = apply(emptyState, { ...whole, rows: whole.rows.slice(0, 1), complete: false });
  assert.equal(part.isComplete, false);
  assert.equal(part.heldCount, 1);
  assert.throws(() => apply(part, { type: "patch", from: "7", to: "8", commit: 1, total: 2 }), MismatchError);
  const { state } = apply(part, { type: "rows", version: "7", offset: 1, rows: whole.rows.slice(1), complete: true });
  assert.equal(state.isComplete, true);
  assert.deepEqual(held(state), [[0, [2, "b", 0]], [1, [3, "c", 0]]]);
});

test("a new window keeps what the old one covered", () => {
  const rows = [..."abcdefgh"].map((name, id) => [id, name, 0]);
  const before = started([{ name: "A", rows }], { offset: 0, limit: 4 });
  const window = { offset: 2, limit: 4 };
  const { state } = apply(before, { type: "rows", version: "0", window, offset: 4, rows: rows.slice(4, 6), complete: true });
  assert.deepEqual(held(state), windowOf(rows, window));
});

test("values that JSON cannot carry", () => {
  const message = snapshotOf([{ name: "A", rows: [[1, "a", 0]] }], null, "0");
  const { state } = apply(emptyState, {
    ...message, rows: [[{ $int: "9007199254740993" }, { $blob: "AP8=" }, null]], alongside: { most: { $int: "-9007199254740993" } },
  });
  assert.deepEqual(state.at(0), { id: 9007199254740993n, name: new Uint8Array([0, 255]), depth: null });
  assert.deepEqual(state.path(9007199254740993n), [0, 0]);
  assert.equal(state.alongside.most, -9007199254740993n);
});

test("rows may be objects, and columns may have any name", () => {
  const message = snapshotOf([{ name: "A", rows: [[1, "a", 0]] }], null, "0");
  assert.deepEqual(apply(emptyState, { ...message, rows: [{ depth: 3, id: 1, name: "a" }] }).state.at(0), { depth: 3, id: 1, name: "a" });
  const { state } = apply(emptyState, { ...message, columns: ["id", "__proto__", "constructor"], rows: [[1, "x", "y"]] });
  assert.deepEqual(Object.entries(state.at(0)), [["id", 1], ["__proto__", "x"], ["constructor", "y"]]);
  const patch = { type: "patch", from: "0", to: "1", commit: 1, total: 1 };
  const { state: next } = apply(state, { ...patch, updated: [[[0, 0], [0, 0], JSON.parse('{"__proto__": "z"}')]] });
  assert.deepEqual(Object.entries(next.at(0)), [["id", 1], ["__proto__", "z"], ["constructor", "y"]]);
});

test("what does not fit is told, and changes nothing", () => {
  const wrong = [
    { from: "x" }, { total: 9 }, { deleted: [[4, 0]] }, { deleted: [[0, 1]] }, { sectionsDeleted: [3] },
    { inserted: [[5, 0, [9, "x", 0]]] }, { inserted: [[0, 3, [9, "x", 0]]], total: 2 }, { inserted: [[0, 0]], total: 2 },
    { updated: [[[0, 7], [0, 7], { name: "x" }]] }, { filled: [[4, [9, "x", 0]]] },
    { sectionsInserted: [[0, { name: "B", indexTitle: "B", count: 2, rows: [[9, "x", 0]] }]], total: 3 },
  ];
  for (const members of wrong) {
    const state = started([{ name: "A", rows: [[1, "a", 0]] }], null);
    const patch = { type: "patch", from: "0", to: "1", commit: 1, total: 1, ...members };
    assert.throws(() => apply(state, patch), MismatchError, JSON.stringify(members));
    assert.deepEqual(held(state), [[0, [1, "a", 0]]]);
  }
});
