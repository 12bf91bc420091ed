// @ts-check
/** The totals of the whole list, below its rows: shown if the page has a template for them. */

import { cellsOf, formatted, fromTemplate, totalTexts } from "./recipe.js";

/** @typedef {import("./types.js").ListState} ListState */

export class TotalsBar {
  /** @type {HTMLTemplateElement | null} */
  #template = null;
  /** @type {import("./template.js").Update} */
  #update = () => {};
  /**
   * The shown texts, by name.
   *
   * @type {Record<string, string>}
   */
  #shown = {};

  /**
   * @param {HTMLElement} host @param {HTMLElement} element
   * @param {() => HTMLTemplateElement | null} template
   * @param {(element: Element) => void} changed called with elements whose value has changed
   */
  constructor(host, element, template, changed) {
    this.host = host;
    this.element = element;
    this.template = template;
    this.changed = changed;
  }

  /** @param {ListState | null} state null: nothing is followed */
  show(state) {
    const template = state === null || state.version === null ? null : this.template();
    const isOther = template !== this.#template;
    if (isOther) {
      this.#template = template;
      this.#shown = {};
      this.element.replaceChildren();
      this.element.hidden = template === null;
      this.host.toggleAttribute("data-totaled", template !== null);
      if (template) this.#update = fromTemplate(template, this.element);
    }
    if (template === null || state === null) return;
    const texts = { count: formatted(state.total), ...totalTexts(state.totals) };
    const names = Object.keys({ ...texts, ...this.#shown })
      .filter((name) => /** @type {Record<string, string>} */ (texts)[name] !== this.#shown[name]);
    if (names.length === 0) return;
    // A total that is shown for the first time does not count as changed.
    const others = isOther ? [] : names.filter((name) => name in this.#shown);
    this.#shown = texts;
    this.#update(texts);
    for (const name of others) for (const cell of cellsOf(this.element, name)) this.changed(cell);
  }
}
