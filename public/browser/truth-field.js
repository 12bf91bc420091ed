// @ts-check
/** A check box for a boolean. Half checked, it means NULL or the column's default. */

import { element } from "../shell/dom.js";

/** @typedef {import("../shell/schema.js").Column} Column */

export class TruthField {
  problem = null;
  hasNullButton = true;
  field;
  #words = element("span", { ariaHidden: "true" });
  #empty = "NULL";

  /** @param {Column} column */
  constructor({ name }) {
    this.field = element("input", { type: "checkbox", name, ariaLabel: name, indeterminate: true });
    this.element = element("span", { className: "truth-field" }, this.field, this.#words);
    // The box keeps the focus when the area around it is clicked.
    this.element.addEventListener("mousedown", (event) => event.preventDefault());
    this.element.addEventListener("click", ({ target }) => { if (target !== this.field) this.field.click(); });
    this.field.addEventListener("input", () => this.#show());
    this.#show();
  }

  get isNull() {
    return this.field.indeterminate;
  }

  get text() {
    return this.field.indeterminate ? "" : String(this.field.checked);
  }

  set text(text) {
    [this.field.indeterminate, this.field.checked] = [false, text === "true"];
    this.#show();
  }

  clear() {
    [this.field.indeterminate, this.field.checked] = [true, false];
    this.#show();
  }

  /** @param {string} title */
  hint(title) {
    this.#empty = title;
    this.#show();
  }

  #show() {
    this.#words.textContent = this.field.indeterminate ? this.#empty : String(this.field.checked);
  }

  select() {}

  takes() {
    return false;
  }
}
