// Random patches, written by a plain writer that knows both results, read by the page's model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ListModel, MismatchError } from "../../public/list-model.js";
import { changed, makePatch, makeWorld, randomNumbers, snapshotOf, windowOf } from "./patch-writer.mjs";

function check(model, world, window, context) {
  const rows = world.flatMap(({ rows }) => rows);
  const counts = world.map(({ name, rows }) => ({ name, indexTitle: name[0], count: rows.length }));
  assert.deepEqual(model.sections, counts, context);
  assert.equal(model.total, rows.length, context);
  assert.deepEqual([...model.rows()], windowOf(rows, window), context);
}

for (const isWindowed of [false, true]) {
  test(`a thousand runs of patches, ${isWindowed ? "with" : "without"} a window`, () => {
    for (let seed = 1; seed <= 1000; seed += 1) {
      const random = randomNumbers(seed);
      let world = makeWorld(random);
      let window = isWindowed ? { offset: random(12), limit: random(9) } : null;
      const model = new ListModel();
      model.apply(snapshotOf(world, window, "0"));
      for (let step = 1; step <= 6; step += 1) {
        const context = `seed ${seed}, step ${step}`;
        const next = changed(world, random);
        const { patch, survivors } = makePatch(world, next, window, String(step - 1), String(step));
        const outcome = model.apply(patch);
        [world, window] = [next, patch.window ?? null];
        check(model, world, window, context);
        for (const [from, to] of survivors) assert.equal(outcome.newOffset(from), to, context);
      }
    }
  });
}

test("the outcome tells rows that came in, went elsewhere and changed", () => {
  const model = new ListModel();
  const world = [{ name: "A", rows: [[1, "a", 0], [2, "b", 0], [3, "c", 0]] }, { name: "B", rows: [[4, "d", 0]] }];
  model.apply(snapshotOf(world, null, "0"));
  const outcome = model.apply({
    type: "patch", from: "0", to: "1", commit: 1, total: 5,
    inserted: [[0, 0, [5, "0", 0]]], moved: [[[0, 0], [1, 1], { name: "z" }]],
    updated: [[[0, 2], [0, 2], { depth: 7 }]],
  });
  assert.equal(outcome.kind, "patch");
  assert.deepEqual(outcome.inserted, [0]);
  assert.deepEqual(outcome.moved, [4]);
  assert.deepEqual(outcome.changed, [{ offset: 4, columns: ["name"] }, { offset: 2, columns: ["depth"] }]);
  assert.deepEqual([...model.rows()].map(([, row]) => row[0]), [5, 2, 3, 4, 1]);
  assert.equal(model.keyOf(model.row(4)), "[1]");
  assert.deepEqual(model.pathOf(4), [1, 1]);
  assert.equal(model.pathOf(5), null);
});

test("a snapshot replaces everything, in parts too", () => {
  const model = new ListModel();
  model.apply(snapshotOf([{ name: "A", rows: [[1, "a", 0]] }], null, "0"));
  const whole = snapshotOf([{ name: "B", rows: [[2, "b", 0], [3, "c", 0]] }], null, "7");
  model.apply({ ...whole, rows: whole.rows.slice(0, 1), complete: false });
  assert.equal(model.isComplete, false);
  assert.throws(() => model.apply({ type: "patch", from: "7", to: "8", commit: 1, total: 2 }), MismatchError);
  model.apply({ type: "rows", version: "7", offset: 1, rows: whole.rows.slice(1), complete: true });
  assert.equal(model.isComplete, true);
  assert.deepEqual([...model.rows()], [[0, [2, "b", 0]], [1, [3, "c", 0]]]);
});

test("a new window keeps what the old one covered; rows of a fetch elsewhere are not kept", () => {
  const rows = [..."abcdefgh"].map((name, id) => [id, name, 0]);
  const model = new ListModel();
  model.apply(snapshotOf([{ name: "A", rows }], { offset: 0, limit: 4 }, "0"));
  model.apply({ type: "rows", version: "0", offset: 6, rows: [rows[6]], complete: true });
  assert.equal(model.heldCount, 4);
  const window = { offset: 2, limit: 4 };
  model.apply({ type: "rows", version: "0", window, offset: 4, rows: rows.slice(4, 6), complete: true });
  assert.deepEqual([...model.rows()], windowOf(rows, window));
});

test("rows may be objects", () => {
  const model = new ListModel();
  const message = snapshotOf([{ name: "A", rows: [] }], null, "0");
  const sections = [{ name: "A", indexTitle: "A", count: 1 }];
  model.apply({ ...message, sections, total: 1, rows: [{ depth: 3, id: 1, name: "a" }] });
  assert.deepEqual(model.row(0), [1, "a", 3]);
});

test("what does not fit is told", () => {
  const wrong = [
    { from: "x" }, { total: 9 }, { deleted: [[4, 0]] }, { sectionsDeleted: [3] }, { inserted: [[5, 0, [9, "x", 0]]] },
    { updated: [[[0, 7], [0, 7], { name: "x" }]] },
  ];
  for (const members of wrong) {
    const model = new ListModel();
    model.apply(snapshotOf([{ name: "A", rows: [[1, "a", 0]] }], null, "0"));
    const patch = { type: "patch", from: "0", to: "1", commit: 1, total: 1, ...members };
    assert.throws(() => model.apply(patch), MismatchError, JSON.stringify(members));
  }
});
