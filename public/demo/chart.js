// @ts-check
/** A small chart of the last minutes: one line, the newest value in words. */

import { element } from "../shell/dom.js";

const namespace = "http://www.w3.org/2000/svg";
const width = 300;
const height = 64;
/** Seconds that are shown at first, and at most. */
const shortest = 30;
const length = 120;

export class Chart {
  /** @type {number[]} */
  #values = [];
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

  /** @param {number | null} value of this second; null when there is none */
  add(value) {
    this.#number.textContent = value === null ? "–" : this.format(value);
    if (value === null) return;
    this.#values = [...this.#values, value].slice(-length);
    const most = Math.max(...this.#values);
    const top = most > 0 ? most : 1;
    const step = width / (Math.max(shortest, this.#values.length) - 1);
    const points = this.#values.map((each, index) =>
      `${width - (this.#values.length - 1 - index) * step},${height - 2 - (each / top) * (height - 6)}`);
    const [first] = points[0].split(",");
    this.#line.setAttribute("points", points.join(" "));
    this.#area.setAttribute("points", `${first},${height} ${points.join(" ")} ${width},${height}`);
    this.#range.textContent = `up to ${this.format(most)}`;
  }
}

/** @param {string} tag @param {string} className */
function shape(tag, className) {
  const result = document.createElementNS(namespace, tag);
  result.setAttribute("class", className);
  return result;
}
