import assert from "node:assert/strict";
import { test } from "node:test";
import { entryAt, entryOf, indexEntries, thinned } from "../../../public/element/index-titles.js";

const sections = ["A", "A", "B", "C", "C", "Z"].map((indexTitle) => ({ indexTitle }));

test("each title leads to its first section", () => {
  assert.deepEqual(indexEntries(sections), [
    { title: "A", section: 0 }, { title: "B", section: 2 }, { title: "C", section: 3 }, { title: "Z", section: 5 },
  ]);
  assert.equal(entryOf(indexEntries(sections), "C"), 2);
  assert.equal(entryOf(indexEntries(sections), undefined), -1);
});

test("where there is no room, titles are left out evenly, the first and the last never", () => {
  for (let count = 2; count <= 60; count += 1) {
    const all = Array.from({ length: count }, (_, index) => index);
    for (let room = 2; room <= 60; room += 1) {
      const shown = thinned(all, room);
      assert.equal(shown.length, Math.min(count, room));
      assert.equal(shown[0], 0);
      assert.equal(shown[shown.length - 1], count - 1);
      const gaps = shown.slice(1).map((value, index) => value - shown[index]);
      assert.ok(Math.min(...gaps) >= 1);
      assert.ok(Math.max(...gaps) - Math.min(...gaps) <= 1, `${count} in ${room}: ${shown}`);
    }
  }
});

test("every title can be reached, shown or not", () => {
  assert.deepEqual([-1, 0, 0.24, 0.25, 0.99, 1, 7].map((part) => entryAt(4, part)), [0, 0, 0, 1, 3, 3, 3]);
});
