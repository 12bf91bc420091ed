// @ts-check
/**
 * Rows that are selected together: Ctrl and a click, or Shift and Space, adds one or takes it out; Shift with a click,
 * an arrow, Page Up or Down, Home or End selects all rows from where the selection began; Ctrl A selects all. A click
 * or an arrow alone, and Escape, clear the selection. The active row, on which keys act, is independent of it.
 */

import { say } from "../shell/toast.js";
import { formatted } from "../shell/dom.js";
import { formatKey } from "./address.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./table-list.js").TableList} TableList */

/** Rows that are selected at most: they are copied and deleted in one message each. */
export const mostSelected = 1000;

const movements = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];

export class RowSelection {
  /** @type {Map<string, {row: Row, offset: number}>} by their keys */
  #rows = new Map();
  /** @type {{key: any[], offset: number} | null} where a range begins */
  #anchor = null;
  /** The number of the last range: rows of earlier ones are ignored. */
  #asked = 0;

  /**
   * @param {TableList} list @param {string[]} key columns that identify a row
   * @param {{changed: () => void, copy: () => void, delete: () => void}} handlers
   */
  constructor(list, key, handlers) {
    this.list = list;
    this.key = key;
    this.handlers = handlers;
    const { element } = list;
    element.addEventListener("mousedown", (event) => this.#mouseDown(event), { capture: true });
    element.addEventListener("click", (event) => this.#click(event), { capture: true });
    element.addEventListener("keydown", (event) => this.#keyDown(event), { capture: true });
    // This listener runs after the list has moved its active row.
    element.addEventListener("keydown", (event) => this.#moved(event));
  }

  get size() {
    return this.#rows.size;
  }

  /** The selected rows, in the list's order. */
  get rows() {
    return [...this.#rows.values()].sort((left, right) => left.offset - right.offset).map(({ row }) => row);
  }

  clear() {
    this.#anchor = null;
    if (this.size > 0) this.#take([]);
  }

  /** @param {Row} row */
  #nameOf(row) {
    return formatKey(this.key.map((name) => row[name]));
  }

  /** @param {{row: Row, offset: number}[]} rows */
  #take(rows) {
    this.#asked += 1;
    this.#rows = new Map(rows.map((each) => [this.#nameOf(each.row), each]));
    for (const element of this.list.element.querySelectorAll(".live-row")) {
      const found = this.list.element.rowAt(element);
      if (found) this.draw(/** @type {HTMLElement} */ (element), found.row);
    }
    this.handlers.changed();
  }

  /** @param {HTMLElement} element of a row @param {Row} row */
  draw(element, row) {
    const isSelected = this.#rows.has(this.#nameOf(row));
    if (element.classList.toggle("is-selected", isSelected) === (element.querySelector(".cell")?.ariaSelected === "true")) return;
    for (const cell of element.querySelectorAll(".cell")) cell.ariaSelected = isSelected ? "true" : null;
  }

  /** @param {Element | null} element */
  #toggle(element) {
    const found = this.list.element.rowAt(element);
    if (!found) return;
    const name = this.#nameOf(found.row);
    this.#anchor = { key: this.key.map((each) => found.row[each]), offset: found.offset };
    const others = [...this.#rows].filter(([each]) => each !== name).map(([, each]) => each);
    if (this.#rows.has(name)) this.#take(others);
    else if (this.size < mostSelected) this.#take([...others, { row: found.row, offset: found.offset }]);
    else sayMost();
  }

  /** Sets where a range would begin. */
  #begin() {
    const found = this.list.element.rowAt(this.list.cursor.row);
    if (this.#anchor === null && found) this.#anchor = { key: this.key.map((name) => found.row[name]), offset: found.offset };
  }

  /** @param {number} offset the other end */
  async #extendTo(offset) {
    const anchor = this.#anchor;
    const { list } = this.list.element;
    if (!anchor || !list) return;
    const asked = this.#asked += 1;
    // Rows may have moved meanwhile.
    const { offset: now } = await list.locate(anchor.key.length === 1 ? anchor.key[0] : anchor.key);
    const from = now ?? anchor.offset;
    await this.#selectRange(Math.min(from, offset), Math.abs(from - offset) + 1, from > offset, asked);
  }

  /**
   * @param {number} first @param {number} count @param {boolean} isUp whether it grows upwards @param {number} asked
   */
  async #selectRange(first, count, isUp, asked) {
    const { list } = this.list.element;
    if (!list) return;
    if (count > mostSelected) sayMost();
    const limit = Math.min(count, mostSelected);
    const offset = isUp ? first + count - limit : first;
    const held = Array.from({ length: limit }, (_, index) => list.at(offset + index));
    const rows = held.includes(undefined) ? await list.fetch({ offset, limit }) : held;
    if (asked === this.#asked) this.#take(rows.flatMap((row, index) => (row ? [{ row, offset: offset + index }] : [])));
  }

  /** @param {MouseEvent} event */
  #mouseDown(event) {
    // Otherwise the browser would select the text in between, and open a menu for Ctrl on a Mac.
    if (event.shiftKey && this.#isRow(event)) event.preventDefault();
  }

  /** @param {MouseEvent} event */
  #isRow({ target, button }) {
    const element = /** @type {Element} */ (target);
    return button === 0 && element.closest(".live-row") !== null && element.closest("a, button, input, select, textarea") === null;
  }

  /** @param {MouseEvent} event */
  #click(event) {
    if (!this.#isRow(event)) return;
    const { element } = this.list;
    const found = element.rowAt(/** @type {Element} */ (event.target));
    const isAdded = event.ctrlKey || event.metaKey;
    if (!found || !(isAdded || event.shiftKey)) return this.clear();
    event.preventDefault();
    event.stopPropagation();
    this.#begin();
    if (isAdded) this.#toggle(/** @type {Element} */ (event.target));
    else this.#extendTo(found.offset);
    element.focusRow(found.offset);
    return undefined;
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    if (!/** @type {Element} */ (event.target).matches(".live-row")) return;
    const { key, shiftKey, altKey } = event;
    const isCommand = event.ctrlKey || event.metaKey;
    if (shiftKey && movements.includes(key)) return this.#begin();
    if (movements.includes(key) && !altKey) return this.clear();
    if (altKey) return;
    if (key === " " && shiftKey) this.#toggle(this.list.cursor.row);
    else if (isCommand && !shiftKey && key === "a") this.#selectAll();
    else if (isCommand && !shiftKey && key === "c" && getSelection()?.isCollapsed !== false) this.handlers.copy();
    else if (key === "Escape" && this.size > 0) this.clear();
    else if (key === "Delete" && shiftKey && this.size > 0) this.handlers.delete();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** @param {KeyboardEvent} event */
  #moved(event) {
    const { activeRow } = this.list.element;
    if (event.shiftKey && movements.includes(event.key) && event.defaultPrevented && activeRow && this.#anchor) this.#extendTo(activeRow.offset);
  }

  #selectAll() {
    const total = this.list.element.list?.total ?? 0;
    this.#asked += 1;
    if (total > 0) this.#selectRange(0, total, false, this.#asked);
  }
}

function sayMost() {
  say(`No more than ${formatted(mostSelected)} rows can be selected.`, { weight: 1, buttons: [] });
}
