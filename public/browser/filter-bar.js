// @ts-check
/** The filters of a table: one line each for a column, and one in SQL. */

import { element, fillSelect } from "../shell/dom.js";
import { operators, takesValue } from "./filters.js";

/** @typedef {import("./filters.js").Filter} Filter */
/** @typedef {import("./address.js").Address} Address */

/** Milliseconds without a key press after which the typed text applies. */
const pause = 250;

export class FilterBar {
  #lines = element("div", { className: "filter-lines" });
  #where = element("input", { name: "where", placeholder: "any SQL expression, as in total > 100 AND note IS NOT NULL", autocomplete: "off",
    spellcheck: false, autocapitalize: "off" });
  #error = element("p", { className: "query-error", role: "alert", hidden: true });
  element;
  /** @type {Filter[]} */
  #filters = [];
  #timer = 0;

  /**
   * @param {string[]} columns
   * @param {(filters: Filter[], where: string) => void} changed
   */
  constructor(columns, changed) {
    this.columns = columns;
    this.changed = changed;
    const add = element("button", { type: "button", className: "plain add-filter" }, "+ Add a filter");
    add.addEventListener("click", () => this.add(columns[0]));
    this.#where.addEventListener("input", () => this.#soon());
    this.#where.addEventListener("change", () => this.#now());
    this.element = element("div", { className: "filter-bar", hidden: true }, this.#lines,
      element("div", { className: "filter-last" }, add, element("label", { className: "filter-where" }, "where", this.#where)), this.#error);
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && /** @type {Element} */ (event.target).matches("input")) this.#now();
    });
  }

  /** @param {Address} address */
  show({ filters, where }) {
    if (JSON.stringify(filters) !== JSON.stringify(this.#filters)) {
      this.#filters = filters;
      this.#lines.replaceChildren(...filters.map((filter) => this.#line(filter)));
    }
    if (document.activeElement !== this.#where) this.#where.value = where;
    if (filters.length || where) this.open(true);
  }

  /** @param {boolean} isOpen */
  open(isOpen) {
    this.element.hidden = !isOpen;
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** @param {string | null} sentence why the server refused the filters */
  showError(sentence) {
    this.#error.hidden = sentence === null;
    this.#error.textContent = sentence;
    if (sentence !== null) this.open(true);
    this.#where.setAttribute("aria-invalid", String(sentence !== null));
  }

  /** @param {string} column */
  add(column) {
    this.open(true);
    const line = this.#line({ column, operator: "contains", value: "" });
    this.#lines.append(line);
    line.querySelector("input")?.focus();
  }

  focus() {
    this.#where.focus();
  }

  /** @param {Filter} filter */
  #line({ column, operator, value }) {
    const name = element("select", { name: "column", ariaLabel: "Column" });
    const sign = element("select", { name: "operator", ariaLabel: "Condition" });
    const input = element("input", { name: "value", value, ariaLabel: "Value", autocomplete: "off", spellcheck: false });
    const remove = element("button", { type: "button", className: "plain", ariaLabel: `Remove the filter by ${column}` }, "✕");
    fillSelect(name, this.columns, column);
    fillSelect(sign, operators, operator);
    input.hidden = !takesValue(operator);
    const line = element("div", { className: "filter-line", role: "group", ariaLabel: `Filter by ${column}` }, name, sign, input, remove);
    name.addEventListener("change", () => this.#now());
    sign.addEventListener("change", () => {
      input.hidden = !takesValue(/** @type {any} */ (sign.value));
      this.#now();
    });
    input.addEventListener("input", () => this.#soon());
    remove.addEventListener("click", () => {
      line.remove();
      this.#now();
      /** @type {HTMLElement | null} */ (this.element.querySelector(".add-filter"))?.focus();
    });
    return line;
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = Number(setTimeout(() => this.#now(), pause));
  }

  #now() {
    clearTimeout(this.#timer);
    // A line without a value is still being filled in.
    this.#filters = [...this.#lines.children].map(filterIn).filter(({ operator, value }) => value !== "" || !takesValue(operator));
    this.changed(this.#filters, this.#where.value.trim());
  }
}

/** @param {Element} line @returns {Filter} */
function filterIn(line) {
  const [column, operator, value] = ["column", "operator", "value"].map((name) =>
    /** @type {HTMLInputElement} */ (line.querySelector(`[name=${name}]`)).value);
  return { column, operator: /** @type {any} */ (operator), value: takesValue(/** @type {any} */ (operator)) ? value : "" };
}
