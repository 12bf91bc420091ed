// @ts-check
/**
 * A field for a value that refers to a row of another table: typing searches those rows, and choosing one fills in its
 * value. Any other value can be typed as well.
 */

import { element } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { typedText } from "./affinity.js";
import { keepBelow } from "./menu.js";
import { WrittenField } from "./written-field.js";

/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {import("./menu.js").Popover} Popover */

/** Milliseconds without a key press after which the typed text is searched for. */
const pause = 120;
let listboxes = 0;

export class ReferenceField extends WrittenField {
  #search;
  #hits;
  #timer = 0;
  /** The number of the last search: answers to earlier ones are ignored. */
  #asked = 0;
  /** The index of the option that Enter takes; -1: the typed text counts. */
  #active = -1;

  /** @param {Column} column @param {import("./reference-search.js").ReferenceSearch} search */
  constructor({ name }, search) {
    super(element("input", { name, ariaLabel: name, role: "combobox", autocomplete: "off", spellcheck: false, ariaAutoComplete: "list", ariaExpanded: "false" }));
    this.#search = search;
    const id = `reference-hits-${listboxes += 1}`;
    this.#hits = element("ul", { className: "reference-hits", id, role: "listbox", popover: "manual", ariaLabel: `Rows of ${search.table}` });
    this.field.setAttribute("aria-controls", id);
    this.element = element("div", { className: "reference-field" }, this.field, this.#hits);
    this.field.addEventListener("input", () => this.#searchSoon());
    this.field.addEventListener("blur", () => this.#close());
    // The field keeps the focus.
    this.#hits.addEventListener("mousedown", (event) => event.preventDefault());
    this.#hits.addEventListener("click", ({ target }) => this.#choose(this.#options.indexOf(/** @type {any} */ (/** @type {Element} */ (target).closest("[data-value]")))));
  }

  /** @returns {HTMLElement[]} */
  get #options() {
    return [...this.#hits.querySelectorAll(/** @type {"li"} */ ("[data-value]"))];
  }

  get #isOpen() {
    return this.field.ariaExpanded === "true";
  }

  /** @param {KeyboardEvent} event */
  takes(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      if (this.#isOpen) this.#activate(this.#active + step);
      else this.#find();
      return true;
    }
    if (this.#active < 0) return false;
    if (event.key === "Escape") this.#close();
    else if (["Enter", "Tab"].includes(event.key)) this.#choose(this.#active);
    // Tab also moves on to the next field, as always.
    return event.key === "Enter" || event.key === "Escape";
  }

  #searchSoon() {
    clearTimeout(this.#timer);
    this.#activate(-1);
    this.#timer = Number(setTimeout(() => this.#find(), pause));
  }

  async #find() {
    const asked = this.#asked += 1;
    const hits = await this.#search.find(this.field.value).catch((error) => reasonOf(error));
    if (asked !== this.#asked || document.activeElement !== this.field) return;
    const sentence = typeof hits === "string" ? hits : hits.length > 0 ? null : `${this.#search.table} has no such row`;
    this.#hits.replaceChildren(...(sentence === null ? /** @type {any[]} */ (hits).map(optionFor) : [option({ className: "quiet", ariaDisabled: "true" }, sentence)]));
    this.#hits.querySelectorAll("li").forEach((each, index) => { each.id = `${this.#hits.id}-${index}`; });
    this.field.ariaExpanded = "true";
    /** @type {Popover} */ (/** @type {any} */ (this.#hits)).showPopover();
    keepBelow(this.#hits, () => this.field);
    this.#activate(-1);
  }

  /** @param {number} index beyond either end: the typed text */
  #activate(index) {
    const options = this.#options;
    this.#active = index < -1 ? options.length - 1 : index >= options.length ? -1 : index;
    options.forEach((each, at) => { each.ariaSelected = String(at === this.#active); });
    const active = options[this.#active];
    active?.scrollIntoView({ block: "nearest" });
    if (active) this.field.setAttribute("aria-activedescendant", active.id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  #choose(index) {
    const value = this.#options[index]?.dataset.value;
    if (value === undefined) return;
    this.field.value = value;
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.#close();
  }

  #close() {
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.#activate(-1);
    this.field.ariaExpanded = "false";
    if (this.#hits.matches(":popover-open")) /** @type {Popover} */ (/** @type {any} */ (this.#hits)).hidePopover();
  }
}

/** @param {import("./reference-search.js").Hit} hit */
function optionFor({ value, name }) {
  const text = typedText(value);
  const result = option({ ariaSelected: "false" }, element("b", {}, text), ...(name ? [` ${name}`] : []));
  result.dataset.value = text;
  return result;
}

/** @param {Record<string, any>} properties @param {(Node | string)[]} children */
function option(properties, ...children) {
  return element("li", { role: "option", ...properties }, ...children);
}
