// @ts-check
/** A menu of the texts that a column's CHECK allows, and NULL if the column may be NULL. */

import { element } from "../shell/dom.js";

/** @typedef {import("../shell/schema.js").Column} Column */

export class MenuField {
  problem = null;
  hasNullButton = false;
  field;
  /** The option for no choice. */
  #empty;
  #null;

  /** @param {Column} column @param {string[]} values @param {string} [untouched] title of the option for no choice */
  constructor({ name, notNull }, values, untouched) {
    this.#null = notNull ? null : new Option("NULL");
    this.#empty = notNull || untouched !== undefined ? new Option(untouched) : null;
    const all = [this.#empty, ...values.map((value) => new Option(value || "empty text", value)), this.#null];
    this.field = element("select", { name, ariaLabel: name, className: "menu-field" }, ...all.flatMap((option) => option ?? []));
    if (untouched === undefined && this.#empty) this.#empty.hidden = true;
  }

  get element() {
    return this.field;
  }

  get isNull() {
    return this.#null?.selected ?? false;
  }

  get text() {
    return this.isNull || this.#empty?.selected ? "" : this.field.value;
  }

  /** A text that the CHECK does not allow now gets an option, so that it is kept. */
  set text(text) {
    const isOwn = (/** @type {HTMLOptionElement} */ option) => option !== this.#null && option !== this.#empty && option.value === text;
    const option = [...this.field.options].find(isOwn) ?? new Option(text || "empty text", text);
    if (!option.parentElement) this.field.prepend(option);
    option.selected = true;
  }

  clear() {
    const empty = this.#null ?? this.#empty;
    if (empty) empty.selected = true;
  }

  hint() {}

  select() {}

  takes() {
    return false;
  }
}
