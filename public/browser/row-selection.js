// @ts-check
/**
 * Rows that are selected together: Ctrl and a click, or Shift and Space, adds one or takes it out; Shift with a click,
 * an arrow, Page Up or Down, Home or End selects all rows from where the selection began; Ctrl A selects all. A click
 * or an arrow alone, and Escape, clear the selection. A finger that rests on a row selects it; while rows are selected,
 * each tap adds a row or takes it out. The active row, on which keys act, is independent of the selection.
 */

import { say } from "../shell/toast.js";
import { formatted } from "../shell/dom.js";
import { formatKey } from "./address.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./table-list.js").TableList} TableList */

/** Rows that are selected at most: they are copied and deleted in one message each. */
export const mostSelected = 1000;

/** A finger selects a row after so many milliseconds, unless it moves by more pixels. */
const [pressTime, pressSlack] = [450, 10];

const movements = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];

export class RowSelection {
  /** @type {Map<string, {row: Row, offset: number}>} by their keys */
  #rows = new Map();
  /** @type {{key: any[], offset: number} | null} where a range begins */
  #anchor = null;
  /** The number of the last range: rows of earlier ones are ignored. */
  #asked = 0;
  /** @type {{timer: number, x: number, y: number, isOver: boolean} | null} a finger on a row, until its click */
  #press = null;

  /**
   * @param {TableList} list @param {string[]} key columns that identify a row
   * @param {{changed: () => void, copy: () => void, delete: () => void}} handlers
   */
  constructor(list, key, handlers) {
    this.list = list;
    this.key = key;
    this.handlers = handlers;
    const { element } = list;
    element.addEventListener("pointerdown", (event) => this.#pointerDown(event), { capture: true });
    for (const type of /** @type {const} */ (["pointermove", "pointercancel", "pointerup"])) {
      element.addEventListener(type, (event) => this.#pointerMoved(event), { capture: true });
    }
    // The browser would select the text under the finger.
    element.addEventListener("contextmenu", (event) => {
      if (this.#press) event.preventDefault();
    }, { capture: true });
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

  /** @param {PointerEvent} event */
  #pointerDown(event) {
    this.#endPress();
    if (event.pointerType !== "touch" || !event.isPrimary || !this.#isRow(event)) return;
    const { target, clientX: x, clientY: y } = event;
    const press = { timer: 0, x, y, isOver: false };
    press.timer = setTimeout(() => {
      press.isOver = true;
      this.#toggle(/** @type {Element} */ (target));
    }, pressTime);
    this.#press = press;
  }

  /** @param {PointerEvent} event of a finger, which does not rest if it scrolls */
  #pointerMoved({ type, clientX, clientY }) {
    const press = this.#press;
    if (!press) return;
    if (type === "pointerup") clearTimeout(press.timer);
    else if (type === "pointercancel" || Math.hypot(clientX - press.x, clientY - press.y) > pressSlack) this.#endPress();
  }

  #endPress() {
    clearTimeout(this.#press?.timer);
    this.#press = null;
  }

  /** @param {MouseEvent} event */
  #click(event) {
    if (!this.#isRow(event)) return;
    const { element } = this.list;
    const found = element.rowAt(/** @type {Element} */ (event.target));
    const press = this.#press;
    this.#endPress();
    if (press && found && (press.isOver || this.size > 0)) {
      event.preventDefault();
      event.stopPropagation();
      if (!press.isOver) this.#toggle(/** @type {Element} */ (event.target));
      return;
    }
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
