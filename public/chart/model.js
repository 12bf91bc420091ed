// @ts-check
/** Turns rows into a chart model: points along an axis, and for each series a value at every point. Pure. */

import { sectionTitle } from "../element/recipe.js";
import { areDates, placeOf, withoutGaps } from "./periods.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {"bar" | "line"} ChartType */
/** @typedef {{title: string, key: string, place: number}} Point `place`: on the axis; of bars their number */
/**
 * @typedef {{title: string, key: string, values: (number | null)[], rows: (Row | null)[]}} Series a value and a row for
 * each point
 */
/**
 * @typedef {object} ChartModel
 * @property {ChartType} type @property {Point[]} points @property {Series[]} series
 * @property {string} x name of the column @property {string} y
 * @property {number} unplaced rows without a place on the axis
 * @property {number} hiddenSeries the number of series that are left out, because there are not enough colors and
 * patterns
 */
/**
 * @typedef {{x: string, y: string, series: string | null, type: ChartType | null, isZeroMissing: boolean}} ChartOptions
 * `type`: null to choose it by the values
 */

/** How many series can be distinguished by colors and patterns. */
export const mostSeries = 8;

/** @param {readonly Row[]} rows @param {ChartOptions} options @returns {ChartModel} */
export function chartModel(rows, { x, y, series: split, type: wanted, isZeroMissing }) {
  const type = wanted ?? (areDates(rows.map((row) => row[x])) ? "line" : "bar");
  const placed = type === "line" ? rows.filter((row) => placeOf(row[x]) !== null) : rows;
  const points = type === "line" ? pointsOnAxis(placed.map((row) => row[x]), isZeroMissing) : pointsInOrder(placed.map((row) => row[x]));
  const at = new Map(points.map(({ key }, index) => [key, index]));
  const all = seriesOf(placed, split, y, (row) => /** @type {number} */ (at.get(keyOf(row[x]))), points.length, isZeroMissing);
  return { type, points, series: all.slice(0, mostSeries), x, y, unplaced: rows.length - placed.length, hiddenSeries: Math.max(0, all.length - mostSeries) };
}

/** @param {unknown} value */
function keyOf(value) {
  return `${typeof value} ${value}`;
}

/** @param {unknown[]} values @returns {Point[]} each value once, in the order of the rows */
function pointsInOrder(values) {
  return [...new Map(values.map((value) => [keyOf(value), sectionTitle(value)]))].map(([key, title], place) => ({ key, title, place }));
}

/** @param {unknown[]} values @param {boolean} areFilled whether missing periods are points too @returns {Point[]} */
function pointsOnAxis(values, areFilled) {
  const all = areFilled && areDates(values) ? withoutGaps(/** @type {string[]} */ (values)) : values;
  const points = new Map(all.map((value) => [keyOf(value), { key: keyOf(value), title: String(value), place: /** @type {number} */ (placeOf(value)) }]));
  return [...points.values()].sort((left, right) => left.place - right.place);
}

/**
 * The series, the largest first, so that the smallest are left out.
 *
 * @param {readonly Row[]} rows @param {string | null} split @param {string} y
 * @param {(row: Row) => number} indexOf the row's point
 * @param {number} count of points @param {boolean} isZeroMissing @returns {Series[]}
 */
function seriesOf(rows, split, y, indexOf, count, isZeroMissing) {
  /** @type {Map<string, Series & {size: number}>} */
  const all = new Map();
  for (const row of rows) {
    const name = split === null ? null : row[split];
    const key = split === null ? "" : keyOf(name);
    const series = all.get(key) ?? {
      key, title: split === null ? y : sectionTitle(name), size: 0,
      values: Array(count).fill(isZeroMissing ? 0 : null), rows: Array(count).fill(null),
    };
    all.set(key, series);
    const value = numberOf(row[y]);
    series.values[indexOf(row)] = value;
    series.rows[indexOf(row)] = row;
    series.size += Math.abs(value ?? 0);
  }
  const sorted = [...all.values()].sort((left, right) => right.size - left.size);
  const shown = sorted.slice(0, mostSeries).sort((left, right) => (left.title < right.title ? -1 : 1));
  return [...shown, ...sorted.slice(mostSeries)].map(({ size: _, ...series }) => series);
}

/** @param {unknown} value @returns {number | null} null: the value is not drawn */
function numberOf(value) {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
}
