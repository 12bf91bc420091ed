// @ts-check
/**
 * The column headers of a table. A click or Enter sorts (with Shift by another column as well); columns are dragged by their
 * title, resized at their right edge, and have a menu. Keys do the same: arrows go from header to header, with Alt they move the
 * column, with Shift they resize it, Alt and ↓ opens the menu.
 */

import { element } from "../shell/dom.js";

/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {import("./address.js").SortColumn} SortColumn */
/**
 * @typedef {object} Handlers
 * @property {(column: string, isAdded: boolean) => void} sort @property {(column: string, steps: number) => void} move
 * @property {(column: string, before: string | null) => void} moveBefore
 * @property {(column: string, width: number, isFinal: boolean) => void} resize @property {(column: string) => void} fit
 * @property {(column: string, anchor: HTMLElement) => void} menu @property {() => void} leave to the rows
 */

/** Pixels by which a press of an arrow key resizes. */
const step = 16;
/** Pixels: a pointer that moves less is a click, not a drag. */
const dragDistance = 6;

export class HeaderRow {
  element = element("div", { className: "head-row" });
  /** @type {Column[]} */
  #columns = [];
  #focused = 0;
  /** Whether a drag has just ended: the click event that follows it must be ignored. */
  #wasDragged = false;

  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.handlers = handlers;
    this.element.addEventListener("keydown", (event) => this.#keyDown(event));
    this.element.addEventListener("click", (event) => this.#click(event));
    this.element.addEventListener("dblclick", (event) => this.#doubleClick(event));
    this.element.addEventListener("pointerdown", (event) => this.#pointerDown(event));
    this.element.addEventListener("focusin", (event) => this.#focusIn(event));
  }

  /** @returns {HTMLElement[]} */
  get #cells() {
    return /** @type {any} */ ([...this.element.children]);
  }

  /** @param {Column[]} columns @param {number} fixed @param {Map<string, string>} notes what a column refers to */
  show(columns, fixed, notes) {
    const focused = this.element.contains(document.activeElement) ? this.#columns[this.#focused]?.name : null;
    this.#columns = columns;
    this.element.replaceChildren(...columns.map((column, index) => headerCell(column, index, index < fixed, notes.get(column.name))));
    const at = columns.findIndex(({ name }) => name === focused);
    this.#focused = Math.max(0, at);
    this.#cells.forEach((cell, index) => { cell.tabIndex = index === this.#focused ? 0 : -1; });
    if (at >= 0) this.#cells[at].focus({ preventScroll: true });
  }

  /** @param {SortColumn[]} sort */
  showSort(sort) {
    for (const [index, { name }] of this.#columns.entries()) {
      const place = sort.findIndex(({ column }) => column === name);
      const cell = this.#cells[index];
      const mark = /** @type {HTMLElement} */ (cell.querySelector(".sort-mark"));
      mark.textContent = place < 0 ? "" : `${sort[place].descending ? "↓" : "↑"}${sort.length > 1 ? place + 1 : ""}`;
      if (place < 0) cell.removeAttribute("aria-sort");
      else cell.ariaSort = sort[place].descending ? "descending" : "ascending";
    }
  }

  /** @param {string} name */
  cell(name) {
    return this.#cells[this.#columns.findIndex((column) => column.name === name)];
  }

  focus() {
    this.#cells[this.#focused]?.focus();
  }

  /** @param {Element} target @returns {string | null} */
  #nameAt(target) {
    const cell = target.closest(".head-cell");
    return cell ? this.#columns[this.#cells.indexOf(/** @type {HTMLElement} */ (cell))]?.name ?? null : null;
  }

  /** @param {FocusEvent} event */
  #focusIn({ target }) {
    const at = this.#cells.indexOf(/** @type {HTMLElement} */ (/** @type {Element} */ (target).closest(".head-cell")));
    if (at < 0) return;
    this.#focused = at;
    this.#cells.forEach((cell, index) => { cell.tabIndex = index === at ? 0 : -1; });
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const target = /** @type {Element} */ (event.target);
    const name = this.#nameAt(target);
    if (name === null || this.#wasDragged || target.closest(".resizer")) return;
    if (target.closest(".head-menu")) this.handlers.menu(name, /** @type {HTMLElement} */ (this.cell(name)));
    else this.handlers.sort(name, event.shiftKey);
  }

  /** @param {MouseEvent} event */
  #doubleClick(event) {
    const target = /** @type {Element} */ (event.target);
    const name = this.#nameAt(target);
    if (name !== null && target.closest(".resizer")) this.handlers.fit(name);
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    const name = this.#columns[this.#focused]?.name;
    const side = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (side && event.altKey) this.handlers.move(name, side);
    else if (side && event.shiftKey) this.handlers.resize(name, this.#cells[this.#focused].offsetWidth + side * step, true);
    else if (side) this.#cells[Math.max(0, Math.min(this.#cells.length - 1, this.#focused + side))].focus();
    else if (event.key === "Enter" || event.key === " ") this.handlers.sort(name, event.shiftKey);
    else if (event.key === "ContextMenu" || (event.altKey && event.key === "ArrowDown")) this.handlers.menu(name, this.#cells[this.#focused]);
    else if (event.key === "ArrowDown" || event.key === "Escape") this.handlers.leave();
    else return;
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  #pointerDown(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const name = this.#nameAt(target);
    this.#wasDragged = false;
    if (name === null || event.button !== 0 || target.closest(".head-menu")) return;
    if (target.closest(".resizer")) this.#resize(event, name);
    // Only a mouse drags columns: a finger scrolls, and the menu can move columns.
    else if (event.pointerType === "mouse") this.#drag(event, name);
  }

  /** @param {PointerEvent} start @param {string} name */
  #resize(start, name) {
    const width = /** @type {HTMLElement} */ (this.cell(name)).offsetWidth;
    start.preventDefault();
    this.#follow(start, ({ clientX }, isLast) => this.handlers.resize(name, width + clientX - start.clientX, isLast));
  }

  /** @param {PointerEvent} start @param {string} name */
  #drag(start, name) {
    /** @type {string | null | undefined} undefined: it is not dragged yet */
    let before;
    this.#follow(start, ({ clientX }, isLast) => {
      if (before === undefined && Math.abs(clientX - start.clientX) < dragDistance) return;
      const next = this.#cells.findIndex((cell) => {
        const { left, width } = cell.getBoundingClientRect();
        return clientX < left + width / 2;
      });
      before = next < 0 ? null : this.#columns[next].name;
      this.#wasDragged = true;
      this.#cells.forEach((cell, index) => {
        cell.classList.toggle("drop-before", !isLast && index === next);
        cell.classList.toggle("drop-after", !isLast && next < 0 && index === this.#cells.length - 1);
        cell.classList.toggle("dragged", !isLast && this.#columns[index].name === name);
      });
      if (isLast && before !== name) this.handlers.moveBefore(name, before);
    });
  }

  /** @param {PointerEvent} start @param {(event: PointerEvent, isLast: boolean) => void} moved */
  #follow(start, moved) {
    const controller = new AbortController();
    const { signal } = controller;
    const end = (/** @type {PointerEvent} */ event) => {
      controller.abort();
      moved(event, true);
    };
    window.addEventListener("pointermove", (event) => moved(event, false), { signal });
    window.addEventListener("pointerup", end, { signal });
    window.addEventListener("pointercancel", end, { signal });
    if (start.pointerType !== "mouse") start.preventDefault();
  }
}

/**
 * The text below a column's name: its type, whether it is a key, and what it refers to.
 *
 * @param {{type: string, key: number}} column @param {string} [refersTo]
 */
export function typeText({ type, key }, refersTo) {
  return [type.toLowerCase() || (key ? "" : "any"), key ? "key" : "", refersTo ? `→ ${refersTo}` : ""].filter(Boolean).join(" ");
}

/** @param {Column} column @param {number} index @param {boolean} isFixed @param {string} [note] */
function headerCell({ name, type, notNull, key }, index, isFixed, note) {
  const about = [type || "any type", key ? "key" : "", notNull ? "not null" : "", note ?? ""].filter(Boolean).join(", ");
  const cell = element("div", { className: isFixed ? "head-cell fixed" : "head-cell", title: `${name}: ${about}` },
    element("span", { className: "head-title" }, element("b", {}, name), element("span", { className: "sort-mark", ariaHidden: "true" })),
    element("span", { className: "head-type" }, typeText({ type, key }, note)),
    element("button", { className: "head-menu", type: "button", tabIndex: -1, ariaLabel: `Column ${name}: sort, filter, hide` }, "⋯"),
    element("span", { className: "resizer" }));
  cell.setAttribute("role", "columnheader");
  cell.ariaColIndex = String(index + 1);
  return cell;
}
