// @ts-check
/** Draws a model as bars or lines, fitted to the plot, and animates changes. */

import { barNumbers, barsHeight, drawBars } from "./bars.js";
import { drawLines, lineNumbers } from "./lines.js";
import { colourOf, dashOf, fillOf, markAt, patterns, set, shape, Shapes } from "./shapes.js";
import { Tween } from "./tween.js";

/** @typedef {import("./model.js").ChartModel} ChartModel */
/** @typedef {import("./tween.js").Numbers} Numbers */
/**
 * The surface that bars and lines are drawn on.
 *
 * @typedef {{shapes: Shapes, id: string, width: number, height: number, measure: (text: string) => number, format:
 * (value: number) => string}} Canvas
 */
/**
 * @typedef {{nearest: (x: number, y: number) => [number, number], anchor: (point: number, series: number) => [number,
 * number]}} Geometry
 */

const context = document.createElement("canvas").getContext("2d");
let charts = 0;

export class Drawing {
  svg = shape("svg", { class: "chart-svg", "aria-hidden": "true" });
  /** @type {Geometry | null} as it was drawn last */
  geometry = null;
  #id = `live-chart-${charts += 1}`;
  #group = shape("g");
  #shapes = new Shapes(this.#group);
  #defs = shape("defs");
  /** @type {ChartModel | null} */
  #model = null;
  #room = { width: 0, height: 0 };
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #tween = new Tween((numbers) => this.#draw(numbers), () => this.#still.matches);
  #font = "";

  /**
   * @param {HTMLElement} plot @param {(value: number) => string} format
   * @param {() => void} drawn called after each drawing
   */
  constructor(plot, format, drawn) {
    this.plot = plot;
    this.format = format;
    this.drawn = drawn;
    this.svg.append(this.#defs, this.#group);
  }

  /** @param {ChartModel} model */
  show(model) {
    const isOther = this.#model?.type !== model.type;
    if (isOther) this.#forget();
    if (this.#model?.series.length !== model.series.length || isOther) {
      const defs = patterns(this.#id, model.type === "bar" ? model.series.length : 0);
      this.#defs.replaceWith(defs);
      this.#defs = defs;
    }
    this.#model = model;
    const { target, births } = model.type === "bar" ? barNumbers(model) : lineNumbers(model);
    this.#tween.go(target, births);
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    if (width === this.#room.width && height === this.#room.height) return;
    this.#room = { width, height };
    const { fontSize, fontFamily } = getComputedStyle(this.plot);
    this.#font = `${fontSize} ${fontFamily}`;
    if (this.#model) this.show(this.#model);
  }

  #forget() {
    this.#tween.stop();
    // Nothing was drawn since the last call of `end`, so this removes everything.
    this.#shapes.end();
  }

  /** @param {Numbers} numbers */
  #draw(numbers) {
    const model = this.#model;
    const { width } = this.#room;
    if (!model || width === 0) return;
    const height = model.type === "bar" ? barsHeight(model) : this.#room.height;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    const canvas = { shapes: this.#shapes, id: this.#id, width, height, measure: (/** @type {string} */ text) => this.#measure(text), format: this.format };
    this.geometry = model.type === "bar" ? drawBars(canvas, model, numbers) : drawLines(canvas, model, numbers);
    this.#shapes.end();
    this.drawn();
  }

  /** @param {string} text */
  #measure(text) {
    if (!context) return text.length * 7;
    context.font = this.#font;
    return context.measureText(text).width;
  }

  /** @param {number} series @returns {SVGElement} a small sample of its color and pattern */
  swatch(series) {
    const isBar = this.#model?.type === "bar";
    const line = shape("path", { d: "M0 6H22", class: "chart-line", stroke: colourOf(series), "stroke-dasharray": dashOf(series) });
    const mark = shape("path", { d: markAt(series, 11, 6), fill: colourOf(series), class: "chart-mark" });
    return shape("svg", { class: "chart-swatch", width: 22, height: 12, "aria-hidden": "true" },
      ...(isBar ? [shape("rect", { width: 22, height: 12, rx: 2, fill: fillOf(this.#id, series) })] : [line, mark]));
  }

  stop() {
    this.#forget();
    this.#model = null;
    this.geometry = null;
  }
}
