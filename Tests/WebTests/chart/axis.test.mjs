import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "../../../public/chart/cursor.js";
import { areDates, placeOf, unitOf, withoutGaps } from "../../../public/chart/periods.js";
import { domainOf, linear, ticks } from "../../../public/chart/scale.js";

test("dates of every precision have a place, other texts none", () => {
  const places = ["2024", "2024-03", "2024-03-05", "2024-03-05 06:30", "2024-03-05T06:30:15.5Z", "2024-03-05 06:30:00+02:00"].map(placeOf);
  assert.deepEqual(places.map((place) => new Date(place).toISOString().slice(0, 19)),
    ["2024-01-01T00:00:00", "2024-03-01T00:00:00", "2024-03-05T00:00:00", "2024-03-05T06:30:00", "2024-03-05T06:30:15", "2024-03-05T04:30:00"]);
  for (const text of ["", "24", "2024-13", "2024-02-xx", "3/5/2024", null, "new"]) assert.equal(placeOf(text), null, String(text));
  assert.equal(areDates(["2024", null]), true);
  assert.equal(areDates([null]), false);
  assert.equal(areDates([2024]), false);
});

test("periods follow each other: years, months, weeks, days", () => {
  assert.deepEqual(withoutGaps(["2026", "2023"]), ["2023", "2024", "2025", "2026"]);
  assert.deepEqual(withoutGaps(["2024-02-28", "2024-03-02"]), ["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"]);
  assert.deepEqual(withoutGaps(["2024-01-01", "2024-01-22"]), ["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22"]);
  assert.equal(unitOf(["2024-01-01 10:00", "2024-01-01 12:00"]), "time");
  assert.equal(withoutGaps(["0001-01-01", "2024-01-02"]).length, 2, "a wrong year makes no million of points");
});

test("an axis begins at zero, and has round numbers", () => {
  assert.deepEqual(domainOf([3, 9, null]), [0, 9]);
  assert.deepEqual(domainOf([-4, 2]), [-4, 2]);
  assert.deepEqual(domainOf([]), [0, 1]);
  assert.deepEqual(ticks([0, 9], 5), [0, 2, 4, 6, 8]);
  assert.deepEqual(ticks([-40, 20], 3), [-40, -20, 0, 20]);
  assert.deepEqual(ticks([0, 0.3], 3), [0, 0.1, 0.2, 0.3]);
  assert.equal(linear([0, 10], [100, 0])(5), 50);
});

test("keys lead along the axis, and from series to series", () => {
  assert.deepEqual(moved("ArrowDown", null, 3, 2, false), { point: 0, place: 0 });
  assert.deepEqual(moved("ArrowDown", { point: 2, place: 1 }, 3, 2, false), { point: 2, place: 1 });
  assert.deepEqual(moved("ArrowRight", { point: 1, place: 0 }, 3, 2, false), { point: 1, place: 1 });
  assert.deepEqual(moved("ArrowRight", { point: 1, place: 0 }, 3, 2, true), { point: 2, place: 0 });
  assert.deepEqual(moved("End", { point: 0, place: 1 }, 3, 2, true), { point: 2, place: 1 });
  assert.equal(moved("a", { point: 0, place: 0 }, 3, 2, true), null);
});
