// @ts-check
/** Lines over an axis of dates or numbers. */

import { domainOf, linear, ticks } from "./scale.js";
import { colourOf, dashOf, markAt } from "./shapes.js";

/** @typedef {import("./model.js").ChartModel} ChartModel */
/** @typedef {import("./tween.js").Numbers} Numbers */
/** @typedef {import("./drawing.js").Canvas} Canvas */

const [above, below, right] = [12, 26, 14];
/** Pixels: points closer than this get no marks, which would merge into a thick line. */
const leastBetweenMarks = 12;
/** Pixels between two names of points below the axis. */
const nameGap = 18;

/**
 * @param {ChartModel} model @returns {{target: Numbers, births: Numbers}} the numbers that are animated: points, and
 * the ends of the axes
 */
export function lineNumbers({ points, series }) {
  const [least, most] = domainOf(series.flatMap(({ values }) => values));
  /** @type {Numbers} */
  const target = new Map([["least", least], ["most", most], ["first", points[0]?.place ?? 0], ["last", points[points.length - 1]?.place ?? 1]]);
  for (const { key, values } of series) {
    for (const [index, value] of values.entries()) if (value !== null) target.set(`${key} at ${points[index].key}`, value);
  }
  return { target, births: new Map() };
}

/** @param {Canvas} canvas @param {ChartModel} model @param {Numbers} numbers as they are now */
export function drawLines(canvas, { points, series }, numbers) {
  const { shapes, width, height, measure, format } = canvas;
  const number = (/** @type {string} */ name) => numbers.get(name) ?? 0;
  const marks = ticks([number("least"), number("most")], Math.max(2, height / 55));
  const left = Math.max(...marks.map((tick) => measure(format(tick)))) + 12;
  const [first, last] = [number("first"), number("last")];
  // A single point is drawn in the middle.
  const toX = first === last ? () => (left + width - right) / 2 : linear([first, last], [left + 6, width - right]);
  const toY = linear([number("least"), number("most")], [height - below, above]);
  for (const tick of marks) {
    shapes.draw(`grid ${tick}`, "path", { d: `M${left} ${Math.round(toY(tick)) + 0.5}H${width - right}`, class: tick === 0 ? "chart-axis" : "chart-grid" });
    shapes.draw(`tick ${tick}`, "text", { x: left - 7, y: toY(tick), class: "chart-tick" }, format(tick));
  }
  drawNames(canvas, points, toX, left);
  const isMarked = points.length < 2 || (width - left) / points.length >= leastBetweenMarks;
  for (const [place, { key, values }] of series.entries()) {
    const at = (/** @type {number} */ index) => /** @type {[number, number]} */ ([toX(points[index].place), toY(number(`${key} at ${points[index].key}`))]);
    const shown = { stroke: colourOf(place), "stroke-dasharray": dashOf(place) };
    shapes.draw(`line ${key}`, "path", { d: pathOf(values, at), class: "chart-line", ...shown });
    const alone = values.flatMap((value, index) => (value !== null && (isMarked || isAlone(values, index)) ? [markAt(place, ...at(index))] : []));
    shapes.draw(`marks ${key}`, "path", { d: alone.join(""), class: "chart-mark", fill: colourOf(place) });
  }
  return {
    nearest: (/** @type {number} */ x, /** @type {number} */ y) => nearest(points.map(({ place }) => toX(place)), series, toY, x, y),
    anchor: (/** @type {number} */ index, /** @type {number} */ place) =>
      /** @type {[number, number]} */ ([toX(points[index].place), toY(series[place]?.values[index] ?? 0)]),
  };
}

/**
 * @param {Canvas} canvas @param {import("./model.js").Point[]} points @param {(place: number) => number} toX
 * @param {number} left
 */
function drawNames({ shapes, width, height, measure }, points, toX, left) {
  let end = -Infinity;
  for (const { title, key, place } of points) {
    const half = measure(title) / 2;
    const x = Math.max(left + half - 6, Math.min(width - half - 2, toX(place)));
    if (x - half < end) continue;
    end = x + half + nameGap;
    shapes.draw(`name ${key}`, "text", { x, y: height - 9, class: "chart-date" }, title);
  }
}

/**
 * A line with a gap where a value is missing.
 *
 * @param {(number | null)[]} values @param {(index: number) => [number, number]} at
 */
function pathOf(values, at) {
  let isDrawing = false;
  return values.map((value, index) => {
    if (value === null) {
      isDrawing = false;
      return "";
    }
    const command = isDrawing ? "L" : "M";
    isDrawing = true;
    return command + at(index).map((pixels) => Math.round(pixels * 10) / 10).join(" ");
  }).join("");
}

/**
 * @param {(number | null)[]} values @param {number} index
 * @returns {boolean} whether no line leads to it or from it
 */
function isAlone(values, index) {
  return (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
}

/**
 * @param {number[]} places @param {ChartModel["series"]} series @param {(value: number) => number} toY
 * @param {number} x @param {number} y
 * @returns {[number, number]} the point nearest to the pointer, and the series
 */
function nearest(places, series, toY, x, y) {
  const distances = places.map((place) => Math.abs(place - x));
  const point = distances.indexOf(Math.min(...distances));
  const heights = series.map(({ values }) => (values[point] === null ? Infinity : Math.abs(toY(/** @type {number} */ (values[point])) - y)));
  return [point, Math.max(0, heights.indexOf(Math.min(...heights)))];
}
