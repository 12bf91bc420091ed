// @ts-check
/**
 * `<live-chart>`: give it a source and a query; it draws the rows as bars, or dates as lines, and animates changes.
 *
 * ```html
 * <live-chart src="v1/live" label="Wells by status" x="status" y="wells" query='{"from": "well",
 *   "select": ["status", "count(*) AS wells"], "groupBy": ["status"], "key": ["status"]}'></live-chart>
 * ```
 *
 * This file is the element: attributes, properties, events. The model of the drawing is in chart/model.js, the drawing
 * in chart/drawing.js, the source of rows in element/source.js. docs/javascript.md says how to use it.
 */

import { ChartCursor } from "./chart/cursor.js";
import { Drawing } from "./chart/drawing.js";
import { chartModel } from "./chart/model.js";
import { ChartParts } from "./chart/parts.js";
import { adoptStyle } from "./chart/style.js";
import { ValuesTable } from "./chart/values-table.js";
import { FollowingElement } from "./element/following-element.js";
import { formatted } from "./element/recipe.js";

/** @typedef {import("./chart/model.js").ChartModel} ChartModel */
/** @typedef {import("./freshet.js").ListState} ListState */

/** How many rows are drawn by default. */
const usualLimit = 1000;

/** Texts on the screen and for assistive technology. */
const texts = {
  loading: "Loading",
  empty: "No rows",
  /** @param {string} name @param {readonly string[]} columns */
  noColumn: (name, columns) => `There is no column ${name}. There are ${columns.join(", ")}.`,
  /** @param {number} shown @param {number} total */
  cut: (shown, total) => `The first ${formatted(shown)} of ${formatted(total)} rows are drawn.`,
  /** @param {number} count */
  unplaced: (count) => (count === 1 ? "1 row without a date is not drawn." : `${formatted(count)} rows without a date are not drawn.`),
  /** @param {number} count */
  hiddenSeries: (count) => (count === 1 ? "The smallest series is not drawn." : `The ${formatted(count)} smallest series are not drawn.`),
  /** @param {string} label @param {number} points @param {number} series */
  about: (label, points, series) => `${label}: ${formatted(points)} ${points === 1 ? "value" : "values"}${series > 1 ? ` in each of ${series} series` : ""}. Arrow keys lead from one to the next.`,
};

export class LiveChartElement extends FollowingElement {
  static observedAttributes = ["src", "query", "token", "label", "type", "x", "y", "series", "missing", "limit"];
  /** The texts. Change them for other languages before the first chart is made. */
  static texts = texts;

  #parts = new ChartParts(this, () => this.source.situation);
  /** @type {Drawing} */
  #drawing = new Drawing(this.#parts.plot, (value) => this.#format(value), () => this.#cursor.place());
  #table = new ValuesTable((value) => this.#format(value));
  /** @type {ChartCursor} */
  #cursor = new ChartCursor(this.#parts.plot, this.#drawing, (value) => this.#format(value), {
    say: (sentence) => { this.#parts.status.textContent = sentence; },
    activate: (point, series) => this.#activate(point, series),
  });
  #room = new ResizeObserver(() => this.#measure());
  #frame = 0;
  /** @type {ChartModel | null} */
  #model = null;
  /**
   * A mistake in the page's attributes.
   *
   * @type {string | null}
   */
  #mistake = null;
  /** @type {((value: number) => string) | null} */
  #ownFormat = null;

  constructor() {
    super();
    this.#parts.plot.append(this.#drawing.svg, ...this.#cursor.elements);
  }

  // The element's life.

  connectedCallback() {
    this.upgrade("client", "query", "format");
    adoptStyle(this.getRootNode());
    this.#parts.removeCopies(this);
    this.append(...this.#parts.all, this.#table.element);
    this.#room.observe(this.#parts.plot);
    if (!this.list) this.openSoon();
  }

  /** `moveBefore` does not remove the element from the document, so the list stays open. */
  connectedMoveCallback() {
    adoptStyle(this.getRootNode());
  }

  /** @param {string} name @param {string | null} old @param {string | null} value */
  attributeChangedCallback(name, old, value) {
    if (old === value) return;
    if (["src", "query", "token", "limit"].includes(name)) this.followAttribute(name, value);
    else this.#drawSoon();
  }

  // Drawing.

  /** How values are written; null: as numbers of the page's language, with six digits at most. */
  get format() {
    return this.#ownFormat;
  }

  set format(format) {
    this.#ownFormat = format;
    this.#drawSoon();
  }

  /** @param {number} value */
  #format(value) {
    return this.#ownFormat?.(value) ?? formatted(Math.abs(value) < 1e6 ? Number(value.toPrecision(6)) : Math.round(value));
  }

  /** @param {FocusOptions} [options] */
  focus(options) {
    this.#parts.plot.focus(options);
  }

  get #limit() {
    return Math.max(1, Number.parseInt(this.getAttribute("limit") ?? "", 10) || usualLimit);
  }

  /** @protected */
  windowFor() {
    return { offset: 0, limit: this.#limit };
  }

  /** @protected */
  closed() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#parts.line.stop();
    if (!this.isConnected) this.#room.disconnect();
  }

  /** @protected */
  changed() {
    this.#drawSoon();
  }

  /** @protected */
  showSituation() {
    const { isOutdated } = this.source;
    if (this.dataset.status !== this.status) this.dataset.status = this.status;
    this.toggleAttribute("data-outdated", isOutdated);
    if (this.failure === null) this.#parts.line.show();
    const isBusy = this.status === "connecting" || this.status === "loading";
    const isEmpty = !isOutdated && this.status === "live" && this.list?.total === 0;
    this.#parts.showMessage(this.failure ?? this.#mistake ?? (isBusy ? texts.loading : isEmpty ? texts.empty : null));
  }

  /** Combines many changes into one drawing. */
  #drawSoon() {
    if (this.#frame !== 0 || !this.isConnected) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const state = this.list?.state;
    if (!state?.isComplete || state.columns.length === 0) return;
    const { columns, total } = state;
    const [x, y] = [this.getAttribute("x") ?? columns[0], this.getAttribute("y") ?? columns[columns.length - 1]];
    const series = this.getAttribute("series");
    const missing = [x, y, ...(series === null ? [] : [series])].find((name) => !columns.includes(name));
    // The attributes may already be those of the next query.
    if (missing !== undefined && this.source.isOutdated) return;
    this.#mistake = missing === undefined ? null : texts.noColumn(missing, columns);
    this.showSituation();
    if (missing !== undefined) return;
    const rows = Array.from({ length: Math.min(total, this.#limit) }, (_, index) => state.at(index)).flatMap((row) => row ?? []);
    const model = chartModel(rows, {
      x, y, series,
      type: /** @type {any} */ ({ bar: "bar", line: "line" })[this.getAttribute("type") ?? ""] ?? null, isZeroMissing: this.getAttribute("missing") === "zero",
    });
    this.#model = model;
    this.dataset.type = model.type;
    this.#measure();
    this.#drawing.show(model);
    this.#cursor.show(model);
    this.#describe(model, total);
  }

  /** @param {ChartModel} model @param {number} total */
  #describe(model, total) {
    const { plot } = this.#parts;
    const label = this.getAttribute("label") ?? `${model.y} by ${model.x}`;
    const about = texts.about(label, model.points.length, model.series.length);
    if (plot.getAttribute("aria-label") !== about) plot.setAttribute("aria-label", about);
    this.#table.show(model, label);
    this.#parts.showLegend(model, (series) => this.#drawing.swatch(series));
    this.#parts.showNote([
      ...(total > this.#limit ? [texts.cut(this.#limit, total)] : []), ...(model.unplaced > 0 ? [texts.unplaced(model.unplaced)] : []),
      ...(model.hiddenSeries > 0 ? [texts.hiddenSeries(model.hiddenSeries)] : []),
    ]);
  }

  #measure() {
    const { clientWidth, clientHeight } = this.#parts.plot;
    this.#drawing.resize(clientWidth, clientHeight);
  }

  /** @param {number} point @param {number} series */
  #activate(point, series) {
    const row = this.#model?.series[series]?.rows[point];
    if (row) this.dispatchEvent(new CustomEvent("activate", { detail: { row }, bubbles: true, composed: true }));
  }
}

customElements.define("live-chart", LiveChartElement);
