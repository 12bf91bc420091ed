// @ts-check
/** The elements of a chart: the plot, and around it the legend, notes, and the reason why it may be out of date. */

import { StaleLine } from "../element/stale-line.js";

/** @typedef {import("./model.js").ChartModel} ChartModel */

/** @param {string} tag @param {string} className @param {Record<string, string>} [attributes] */
function part(tag, className, attributes = {}) {
  const element = document.createElement(tag);
  element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export class ChartParts {
  plot = part("div", "chart-plot", { role: "group", tabindex: "0" });
  legend = part("ul", "chart-legend", { "aria-hidden": "true" });
  note = part("p", "chart-note");
  message = part("div", "chart-message");
  status = part("div", "chart-status", { role: "status" });
  #stale = part("div", "chart-stale");
  /** @type {string} */
  #drawnLegend = "";

  /** @param {HTMLElement} host @param {() => import("../element/staleness.js").Situation} situation */
  constructor(host, situation) {
    this.line = new StaleLine(host, this.#stale, situation);
    for (const element of [this.legend, this.note, this.message, this.#stale]) element.hidden = true;
  }

  get all() {
    return [this.legend, this.plot, this.note, this.message, this.#stale, this.status];
  }

  /** @param {HTMLElement} host a copied chart, with copies of the parts of the first */
  removeCopies(host) {
    for (const child of [...host.children]) if (/^chart-/.test(child.className)) child.remove();
  }

  /** @param {ChartModel} model @param {(series: number) => Element} swatch */
  showLegend({ series, type }, swatch) {
    const drawn = JSON.stringify([type, series.map(({ title }) => title)]);
    if (drawn === this.#drawnLegend) return;
    this.#drawnLegend = drawn;
    this.legend.hidden = series.length < 2;
    this.legend.replaceChildren(...(series.length < 2 ? [] : series.map(({ title }, index) => {
      const item = document.createElement("li");
      item.append(swatch(index), title);
      return item;
    })));
  }

  /** @param {string[]} sentences */
  showNote(sentences) {
    const text = sentences.join(" ");
    this.note.hidden = text === "";
    if (this.note.textContent !== text) this.note.textContent = text;
  }

  /** @param {string | null} text shown in place of the plot */
  showMessage(text) {
    this.message.hidden = text === null;
    if (text !== null && this.message.textContent !== text) this.message.textContent = text;
  }
}
