import assert from "node:assert/strict";
import { test } from "node:test";
import { backOff } from "../../public/connection.js";
import { heightLimit, ListLayout } from "../../public/list-layout.js";

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
  for (const top of [0, 1_234_560, 50_000_005 - 800]) {
    assert.ok(Math.abs(layout.topFor(layout.scrollTopFor(top, 800), 800) - top) <= 1);
  }
});

test("a list that is not too tall is scrolled pixel by pixel", () => {
  const layout = new ListLayout([{ count: 244_292 }], { row: 36, header: 34 });
  assert.equal(layout.scrollHeight, layout.height);
  assert.equal(layout.topFor(1_234.5, 800), 1_234.5);
});

test("attempts to connect grow apart up to a limit, and by chance", () => {
  assert.equal(backOff(1, 1), 250);
  assert.equal(backOff(1, 0), 125);
  assert.equal(backOff(2, 1), 500);
  assert.equal(backOff(50, 1), 15_000);
  assert.equal(backOff(5000, 0), 7_500);
});
