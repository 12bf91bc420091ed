import assert from "node:assert/strict";
import { test } from "node:test";
import { arrivalOf, burstSentence } from "../../../public/demo/burst.js";
import { departureSentence, departuresOf } from "../../../public/demo/departures.js";
import { addressOf, defaults, settingsOf } from "../../../public/demo/wells-query.js";

const frame = (time, members) => ({ time, text: JSON.stringify({ type: "patch", ...members }) });

test("a burst is told by the first message of each list that shows its commit", () => {
  const frames = [
    frame(1, { id: "1", commit: 6 }), frame(2, { type: "committed", commit: 7 }), frame(3, { id: "1", commit: 7, x: "é".repeat(1000) }),
    frame(5, { id: "2", commit: 8 }), frame(9, { id: "1", commit: 8 }),
  ];
  const arrival = arrivalOf(frames, 7);
  const bytes = new TextEncoder().encode(frames[2].text + frames[3].text).length;
  assert.deepEqual(arrival, { patches: 2, snapshots: 0, bytes, end: 5 });
  assert.equal(burstSentence(1000, arrival, 1), "1,000 rows changed, 2 patches, 2 kB, 4 ms");
  assert.equal(burstSentence(1, { patches: 0, snapshots: 1, bytes: 999, end: 21 }, 0), "1 row changed, 1 snapshot, 999 bytes, 21 ms");
  assert.equal(arrivalOf(frames, 9), null, "what did not arrive is not told");
});

/** Lists of rows in two sections of 100. */
const state = (rows = {}) => ({
  sections: [{ name: "Adams", count: 100 }, { name: "Weld", count: 100 }], offsetOf: ([section, item]) => section * 100 + item,
  at: (offset) => rows[offset] });

test("a row departs when it was in view and is not any more", () => {
  const row = { id: 1, name: "A" };
  const event = (from, to, changes) => ({ patch: { moved: [[from, to, changes]] }, before: state({ 5: row }), after: state() });
  const range = { first: 0, last: 20 };
  assert.deepEqual(departuresOf(event([0, 5], [1, 10], { name: "Z" }), range), [{ row, name: "Z", section: "Weld", offset: 110, distance: 105 }]);
  assert.equal(departuresOf(event([0, 5], [1, 10]), range)[0].name, null, "its new contents are not held");
  assert.deepEqual(departuresOf(event([0, 5], [0, 19], {}), range), [], "it can be seen there");
  assert.deepEqual(departuresOf(event([0, 50], [1, 10], {}), range), [], "nobody saw it");
  assert.deepEqual(departuresOf({ patch: null, before: state(), after: state() }, range), []);
});

test("a departure is said in a sentence", () => {
  const row = { id: 1, name: "A" };
  assert.equal(departureSentence({ row, name: "Z", section: "Weld", distance: 1105 }, true), "“A” is now “Z”, 1,105 rows down, in Weld");
  assert.equal(departureSentence({ row, name: null, section: null, distance: 2 }, true), "“A” moved 2 rows down");
  assert.equal(departureSentence({ row, name: "A", section: "", distance: -1 }, false), "“A” moved 1 row up");
});

test("the address has what is not as usual, and leads back to it", () => {
  assert.equal(addressOf([defaults[0]]), "#wells");
  const panes = [{ sort: "deepest", by: "county", filter: "50% & more?" }, { sort: "name", by: "year", filter: "" }];
  assert.deepEqual(settingsOf(addressOf(panes)), panes);
  assert.deepEqual(settingsOf("#wells"), [defaults[0]]);
  assert.deepEqual(settingsOf("#wells?sort=toString&by=nonsense&panes=9"), [defaults[0]], "what is wrong in it does no harm");
});
