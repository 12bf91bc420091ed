// @ts-check
/** A small chart of the last ten minutes: one line, the newest value in words. */

import { element } from "../shell/dom.js";

const namespace = "http://www.w3.org/2000/svg";
const width = 300;
const height = 64;
/** How many milliseconds are shown at first, and at most. */
const shortest = 30_000;
const longest = 600_000;

export class Chart {
  /** @type {{time: number, value: number}[]} */
  #points = [];
  #number = element("dd", {}, "–");
  #range = element("span", { className: "quiet" });
  #line = shape("polyline", "chart-line");
  #area = shape("polygon", "chart-area");

  /** @param {string} title @param {(value: number) => string} format @param {string} help */
  constructor(title, format, help) {
    this.format = format;
    const svg = document.createElementNS(namespace, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    svg.append(this.#area, this.#line);
    this.element = element("section", { className: "frame chart" },
      element("dl", {}, element("dt", { title: help }, title), this.#number), svg, this.#range);
  }

  /**
   * A further value.
   *
   * @param {number | null} value null when there is none @param {number} time in milliseconds
   */
  add(value, time) {
    this.#number.textContent = value === null ? "–" : this.format(value);
    if (value === null) return;
    this.#points = [...this.#points.filter((point) => point.time > time - longest), { time, value }];
    const most = Math.max(...this.#points.map((point) => point.value));
    const top = most > 0 ? most : 1;
    const scale = width / Math.max(shortest, time - this.#points[0].time);
    const points = this.#points.map((point) =>
      `${(width - (time - point.time) * scale).toFixed(1)},${(height - 2 - (point.value / top) * (height - 6)).toFixed(1)}`);
    const [first] = points[0].split(",");
    this.#line.setAttribute("points", points.join(" "));
    this.#area.setAttribute("points", `${first},${height} ${points.join(" ")} ${width},${height}`);
    this.#range.textContent = `up to ${this.format(most)}`;
  }

  /** Empties the chart. */
  clear() {
    this.#points = [];
  }
}

/** @param {string} tag @param {string} className */
function shape(tag, className) {
  const result = document.createElementNS(namespace, tag);
  result.setAttribute("class", className);
  return result;
}
