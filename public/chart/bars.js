// @ts-check
/** Bars, one below the other: names at the left, values at their ends. */

import { domainOf, linear } from "./scale.js";
import { fillOf } from "./shapes.js";

/** @typedef {import("./model.js").ChartModel} ChartModel */
/** @typedef {import("./tween.js").Numbers} Numbers */
/** @typedef {import("./drawing.js").Canvas} Canvas */

const [barHeight, gap, margin] = [18, 10, 6];
/** The fraction of the width that is for names. */
const namePart = 0.36;

/** @param {ChartModel} model */
function bandHeight({ series }) {
  return Math.max(1, series.length) * barHeight + gap;
}

/** @param {ChartModel} model @returns {number} pixels */
export function barsHeight(model) {
  return model.points.length * bandHeight(model) + 2 * margin;
}

/**
 * @param {ChartModel} model
 * @returns {{target: Numbers, births: Numbers}} what moves: the ends of the bars, and their places
 */
export function barNumbers({ points, series }) {
  /** @type {Numbers} */
  const target = new Map();
  /** @type {Numbers} */
  const births = new Map();
  const [least, most] = domainOf(series.flatMap(({ values }) => values));
  target.set("least", least).set("most", most);
  for (const [index, { key: point }] of points.entries()) {
    target.set(`place ${point}`, index);
    for (const { key, values } of series) {
      target.set(`${key} at ${point}`, values[index] ?? 0);
      births.set(`${key} at ${point}`, 0);
    }
  }
  return { target, births };
}

/**
 * @param {Canvas} canvas @param {ChartModel} model @param {Numbers} numbers as they are now
 * @returns {{nearest: (x: number, y: number) => [number, number], anchor: (point: number, series: number) => [number,
 * number]}}
 *   the point and series at a position, and the position of a point of a series
 */
export function drawBars({ shapes, id, width, measure, format }, { points, series }, numbers) {
  const number = (/** @type {string} */ name) => numbers.get(name) ?? 0;
  const texts = series.map(({ values }) => values.map((value) => (value === null ? "" : format(value))));
  const band = Math.max(1, series.length) * barHeight + gap;
  const names = Math.min(width * namePart, Math.max(0, ...points.map(({ title }) => measure(title))) + 12);
  const atEnd = Math.min(width * 0.3, Math.max(0, ...texts.flat().map(measure)) + 10);
  const hasNegatives = number("least") < 0;
  const start = names + (hasNegatives ? atEnd : 0);
  const toX = linear([number("least"), number("most")], [start, Math.max(start + 10, width - atEnd)]);
  const zero = toX(0);
  const top = (/** @type {number} */ index) => margin + number(`place ${points[index].key}`) * band + gap / 2;
  for (const [index, { key: point, title }] of points.entries()) {
    const y = top(index);
    shapes.draw(`name ${point}`, "text", { x: names - 8, y: y + (band - gap) / 2, class: "chart-name" }, fitted(title, names - 12, measure));
    for (const [place, { key, values }] of series.entries()) {
      const end = toX(number(`${key} at ${point}`));
      const isThere = values[index] !== null;
      shapes.draw(`bar ${key} ${point}`, "rect", { x: Math.min(zero, end), y: y + place * barHeight + 1, height: barHeight - 2, rx: 2,
        width: isThere ? Math.max(1, Math.abs(end - zero)) : 0, fill: fillOf(id, place), class: "chart-bar" });
      const isNegative = (values[index] ?? 0) < 0;
      shapes.draw(`value ${key} ${point}`, "text", { x: isNegative ? end - 5 : end + 5, y: y + (place + 0.5) * barHeight,
        class: isNegative ? "chart-value chart-negative" : "chart-value" }, texts[place][index]);
    }
  }
  shapes.draw("zero", "path", { d: `M${zero} ${margin}V${margin + points.length * band}`, class: "chart-axis" });
  return {
    nearest: (_, y) => {
      const index = clamped(Math.floor((y - margin) / band), points.length);
      return [index, clamped(Math.floor((y - margin - index * band - gap / 2) / barHeight), series.length)];
    },
    anchor: (index, place) => [Math.max(zero, toX(series[place]?.values[index] ?? 0)), margin + index * band + gap / 2 + (place + 0.5) * barHeight],
  };
}

/** @param {number} index @param {number} count */
function clamped(index, count) {
  return Math.max(0, Math.min(count - 1, index));
}

/**
 * @param {string} text @param {number} width @param {(text: string) => number} measure
 * @returns {string} the part of it that fits
 */
function fitted(text, width, measure) {
  if (measure(text) <= width) return text;
  let [fits, long] = [0, text.length];
  while (long - fits > 1) {
    const middle = (fits + long) >> 1;
    if (measure(`${text.slice(0, middle)}…`) <= width) fits = middle;
    else long = middle;
  }
  return `${text.slice(0, fits)}…`;
}
