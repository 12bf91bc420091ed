import assert from "node:assert/strict";
import { test } from "node:test";
import { heightLimit, ListLayout } from "../../../public/element/layout.js";

const heights = { row: 10, header: 5 };

test("every row is found at its top, and the one before just above it", () => {
  const counts = [3, 1, 40, 2];
  const layout = new ListLayout(counts.map((count) => ({ count })), heights);
  assert.equal(layout.height, 46 * 10 + 4 * 5);
  let offset = 0;
  counts.forEach((count, section) => {
    for (let item = 0; item < count; item += 1, offset += 1) {
      const top = layout.rowTop(offset);
      assert.equal(layout.sectionOf(offset), section);
      assert.equal(layout.rowsBetween(top, top + 1).first, offset);
      assert.equal(layout.rowsBetween(0, top + 1).last, offset + 1);
      assert.equal(layout.rowsBetween(0, top).last, offset);
    }
  });
});

test("a list without rows has no range", () => {
  for (const sections of [[], [{ count: 0 }]]) {
    assert.deepEqual(new ListLayout(sections, heights).rowsBetween(0, 500), { first: 0, last: 0 });
  }
});

test("a list that is too tall for browsers is stretched from its first row to its last", () => {
  const layout = new ListLayout([{ count: 5_000_000 }], heights);
  assert.equal(layout.scrollHeight, heightLimit);
  assert.equal(layout.topFor(0, 800), 0);
  assert.equal(layout.topFor(heightLimit - 800, 800), layout.height - 800);
  for (const top of [0, 999_990, 1_000_010, 1_234_560, 25_000_000, 49_000_000, 50_000_005 - 800]) {
    assert.ok(Math.abs(layout.topFor(layout.scrollTopFor(top, 800), 800) - top) <= 2);
  }
});

test("near both ends a stretched list is scrolled pixel by pixel", () => {
  const layout = new ListLayout([{ count: 5_000_000 }], heights);
  assert.equal(layout.topFor(12_345, 800), 12_345);
  assert.equal(layout.topFor(heightLimit - 800 - 12_345, 800), layout.height - 800 - 12_345);
});

test("a stretched position never goes back when the bar goes on", () => {
  const layout = new ListLayout([{ count: 5_000_000 }], heights);
  let last = -1;
  for (let scrollTop = 0; scrollTop <= heightLimit - 800; scrollTop += 1_777) {
    const top = layout.topFor(scrollTop, 800);
    assert.ok(top > last);
    last = top;
  }
});

test("a list that is not too tall is scrolled pixel by pixel", () => {
  const layout = new ListLayout([{ count: 244_292 }], { row: 36, header: 34 });
  assert.equal(layout.scrollHeight, layout.height);
  assert.equal(layout.topFor(1_234.5, 800), 1_234.5);
});
