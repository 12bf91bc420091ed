import assert from "node:assert/strict";
import { test } from "node:test";
import { chartModel, mostSeries } from "../../../public/chart/model.js";

globalThis.document = { documentElement: { lang: "en" } };
const options = { x: "x", y: "y", series: null, type: null, isZeroMissing: false };
const titles = ({ points }) => points.map(({ title }) => title);

test("categories are bars in the order of the rows, NULL and the empty text among them", () => {
  const model = chartModel([{ x: "b", y: 2 }, { x: null, y: 1 }, { x: "", y: 5n }, { x: "a", y: null }], options);
  assert.equal(model.type, "bar");
  assert.deepEqual(titles(model), ["b", "(none)", "(empty)", "a"]);
  assert.deepEqual(model.series.map(({ title, values }) => [title, values]), [["y", [2, 1, 5, null]]]);
});

test("dates are a line from the first to the last, however the rows are sorted", () => {
  const model = chartModel([{ x: "2024-03", y: 3 }, { x: null, y: 9 }, { x: "2024-01", y: 1 }], options);
  assert.deepEqual([model.type, titles(model), model.series[0].values, model.unplaced], ["line", ["2024-01", "2024-03"], [1, 3], 1]);
});

test("periods without rows are zero where the page says so, and gaps otherwise", () => {
  const rows = [{ x: "2023-11", y: 1, of: "a" }, { x: "2024-02", y: 2, of: "b" }];
  const filled = chartModel(rows, { ...options, isZeroMissing: true });
  assert.deepEqual([titles(filled), filled.series[0].values], [["2023-11", "2023-12", "2024-01", "2024-02"], [1, 0, 0, 2]]);
  const split = chartModel(rows, { ...options, series: "of" });
  assert.deepEqual(split.series.map(({ title, values }) => [title, values]), [["a", [1, null]], ["b", [null, 2]]]);
});

test("numbers are categories, and an axis where the page says so", () => {
  const rows = [{ x: 10, y: 1 }, { x: 2, y: 2 }];
  assert.deepEqual(titles(chartModel(rows, options)), ["10", "2"]);
  assert.deepEqual(chartModel(rows, { ...options, type: "line" }).points.map(({ place }) => place), [2, 10]);
});

test("a point leads to its row, and more series than can be told apart are counted", () => {
  const rows = Array.from({ length: mostSeries + 3 }, (_, index) => ({ x: "a", y: index + 1, of: `s${index}` }));
  const { series, hiddenSeries } = chartModel(rows, { ...options, series: "of" });
  assert.equal(hiddenSeries, 3);
  assert.deepEqual(series.map(({ values: [value] }) => value).sort((left, right) => left - right), [4, 5, 6, 7, 8, 9, 10, 11]);
  for (const { values, rows: [row] } of series) assert.equal(row.y, values[0]);
});
