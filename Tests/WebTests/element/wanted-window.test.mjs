import assert from "node:assert/strict";
import { test } from "node:test";
import { isEnough, windowAround } from "../../../public/element/wanted-window.js";

test("a window that was asked for is enough for what is in view, and for a while of scrolling", () => {
  for (const visible of [1, 17, 40, 300]) {
    for (const first of [0, 3, 1000, 9_990]) {
      const window = windowAround({ first, last: first + visible });
      for (const step of [0, Math.floor(visible / 2)]) {
        assert.ok(isEnough(window, { first: first + step, last: first + visible + step }, 10_000), `${visible} ${first}`);
      }
    }
  }
});

test("near its edge it is not, except at the list's own ends", () => {
  const window = { offset: 100, limit: 120 };
  assert.equal(isEnough(window, { first: 105, last: 135 }, 1000), false);
  assert.equal(isEnough(window, { first: 150, last: 180 }, 1000), true);
  assert.equal(isEnough(window, { first: 189, last: 219 }, 1000), false);
  assert.equal(isEnough(window, { first: 189, last: 219 }, 220), true);
  assert.equal(isEnough({ offset: 0, limit: 120 }, { first: 0, last: 30 }, 1000), true);
});
