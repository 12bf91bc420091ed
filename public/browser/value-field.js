// @ts-check
/**
 * The control for one value, by its column: a check box for booleans, a date field, a menu of the texts that a CHECK
 * allows, a search for the row that it refers to, or a field for text. All of them return their value as a text, which
 * `fitted` converts.
 */

import { element } from "../shell/dom.js";
import { isBoolean } from "./affinity.js";
import { dateForm } from "./date-form.js";
import { DateField } from "./date-field.js";
import { MenuField } from "./menu-field.js";
import { ReferenceField } from "./reference-field.js";
import { TruthField } from "./truth-field.js";
import { WrittenField } from "./written-field.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */
/**
 * @typedef {object} ValueField
 * @property {HTMLElement} element the element to insert @property {HTMLElement} field the element that gets the focus
 * @property {string} text its value as text; "" if empty
 * @property {boolean} isNull whether it can show NULL, and does
 * @property {string | null} problem a sentence that says why the typed text is not a value yet
 * @property {boolean} hasNullButton whether NULL needs a button next to it
 * @property {() => void} clear empties it @property {(title: string) => void} hint shows what an empty field stands for
 * @property {() => void} select selects its text, so that typing replaces it
 * @property {(event: KeyboardEvent) => boolean} takes whether it handles a key itself
 */
/**
 * @typedef {object} Surroundings
 * @property {readonly SQLValue[]} others values of the same column
 * @property {import("./reference-search.js").ReferenceSearch | null} search of the rows that the column refers to
 * @property {boolean} isTall room for several lines
 * @property {string} [untouched] title of the value that an empty menu stands for
 */

/**
 * @param {Column} column @param {SQLValue} old @param {Surroundings} surroundings
 * @returns {ValueField} empty
 */
export function newValueField(column, old, { others, search, isTall, untouched }) {
  const { values = [] } = column;
  if (values.length > 0 && (old === null || typeof old === "string")) return new MenuField(column, values, untouched);
  const isWord = [old, ...(old === null ? others : [])].some((value) => value !== null && value !== 0 && value !== 1);
  if (isBoolean(column) && !isWord) return new TruthField(column);
  const form = dateForm(column, old, others);
  if (form) return new DateField(column, form);
  const isLine = !(old instanceof Uint8Array) && !/[\r\n]/.test(String(old));
  return search && isLine ? new ReferenceField(column, search) : new TextField(column, isTall);
}

export class TextField extends WrittenField {
  /** @param {Column} column @param {boolean} isTall */
  constructor(column, isTall) {
    super(textControl(column, isTall));
    this.column = column;
    this.#takePastes();
  }

  get element() {
    return this.field;
  }

  takes() {
    return false;
  }

  #takePastes() {
    this.field.addEventListener("paste", (event) => this.#pasted(/** @type {ClipboardEvent} */ (event)));
  }

  /**
   * Replaces a field of one line, which would drop pasted line breaks, by one of several lines, in the same space.
   *
   * @param {ClipboardEvent} event
   */
  #pasted(event) {
    const { field } = this;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (field.localName === "textarea" || !/[\r\n]/.test(text)) return;
    event.preventDefault();
    const [start, end] = [field.selectionStart ?? 0, field.selectionEnd ?? 0];
    const tall = textControl(this.column, true);
    tall.value = field.value;
    this.field = tall;
    this.#takePastes();
    field.replaceWith(tall);
    tall.focus({ preventScroll: true });
    tall.setRangeText(text, start, end, "end");
    tall.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/** @param {Column} column @param {boolean} isTall */
function textControl({ name }, isTall) {
  const properties = { name, ariaLabel: name, autocomplete: "off", spellcheck: false };
  return isTall ? element("textarea", { ...properties, rows: 4 }) : element("input", properties);
}
