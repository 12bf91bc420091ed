// @ts-check
/**
 * Focus, keys and clicks. The list is one stop for Tab: the active row while the focus is inside; otherwise the list
 * itself, which passes the focus to the row that was active last.
 */

import { destinationOf, TypedLetters } from "./keys.js";

/** @typedef {import("./list-view.js").ListView} ListView */
/** @typedef {import("./row-view.js").RowView} RowView */

/** Elements that use keys and clicks themselves. */
const controls =
  "a[href], button, input, select, textarea, summary, label, audio, video, [tabindex], [contenteditable]";
/** Elements that use letters and arrows too. */
const fields = "input, select, textarea, audio, video, [contenteditable]";

export class Navigation {
  #letters = new TypedLetters();
  /**
   * Keys that lead beyond the rows loaded so far, in order. They take effect when the rest has come.
   *
   * @type {KeyboardEvent[]}
   */
  #waiting = [];
  #isDrawing = false;
  #isLeaving = false;

  /**
   * @param {HTMLElement} scroller
   * @param {(view: RowView) => void} activate @param {() => void} waits called when a key must wait for more rows
   */
  constructor(scroller, activate, waits) {
    this.scroller = scroller;
    this.activate = activate;
    this.waits = waits;
    scroller.addEventListener("keydown", (event) => this.#keyDown(event));
    scroller.addEventListener("click", (event) => this.#click(event));
    scroller.addEventListener("focusin", (event) => this.#focusIn(/** @type {Element} */ (event.target)));
    scroller.addEventListener("focusout", () => queueMicrotask(() => this.showActive()));
  }

  /** @type {ListView} set before anything is drawn */
  view = /** @type {any} */ (null);

  /**
   * The element among the rows that has the focus.
   *
   * @returns {HTMLElement | null}
   */
  get #focused() {
    const root = /** @type {Document | ShadowRoot} */ (this.scroller.getRootNode());
    const focused = root.activeElement ?? null;
    // Column headers belong to the page, so they do not count.
    return focused && this.view.canvas.contains(focused)
      ? /** @type {HTMLElement} */ (focused) : null;
  }

  /**
   * Whether a row, a column header or something in them has the focus: then the list itself must not be a stop for Tab,
   * which would come before the headers and lead back into the rows.
   */
  get #isInside() {
    const { activeElement } = /** @type {Document | ShadowRoot} */ (this.scroller.getRootNode());
    return activeElement !== this.scroller && this.scroller.contains(activeElement);
  }

  /** Whether one of the rows, or something in it, has the focus. */
  get hasFocus() {
    return this.#focused !== null;
  }

  /**
   * The row that an element is or is in.
   *
   * @param {Element | null} element @returns {RowView | undefined}
   */
  rowOf(element) {
    for (let current = element; current && current !== this.scroller; current = current.parentElement) {
      const row = this.view.rows.of(current);
      if (row) return row;
    }
    return undefined;
  }

  /**
   * Draws. Afterwards the same element has the focus, or the row that took the place of a deleted one.
   *
   * @param {() => void} draw
   */
  keepFocus(draw) {
    const focused = this.#focused;
    const selection = focused && selectionOf(focused);
    this.#isDrawing = true;
    draw();
    if (focused && !this.rowOf(focused)) this.#focusActive();
    else if (focused && this.#focused !== focused) {
      focused.focus({ preventScroll: true });
      if (selection) /** @type {HTMLInputElement} */ (focused).setSelectionRange(...selection);
    }
    this.#isDrawing = false;
    this.showActive();
  }

  /** Marks the active row, and the stop for Tab. */
  showActive() {
    const { active, rows } = this.view;
    const isInside = this.#isInside;
    for (const row of rows.values()) {
      const isActive = row.offset === active.offset;
      row.setActive(isActive, isActive && isInside);
    }
    const tabIndex = isInside ? -1 : 0;
    if (this.scroller.tabIndex !== tabIndex) this.scroller.tabIndex = tabIndex;
  }

  /** Puts the focus on the active row, or else on the first in view. */
  enter() {
    const { view } = this;
    if (!view.state || view.state.total === 0) return this.#focusList();
    if (view.active.offset < 0) view.active.set(view.state, view.firstWhole);
    this.goTo(view.active.offset);
  }

  /**
   * Makes a row the active one, with the focus on it.
   *
   * @param {number} offset
   */
  goTo(offset) {
    const { view } = this;
    if (!view.state) return;
    if (offset !== view.active.offset) view.active.set(view.state, offset);
    view.reveal(view.active.offset);
    this.#focusActive();
  }

  #focusActive() {
    const row = this.view.rows.at(this.view.active.offset);
    if (row) row.element.focus({ preventScroll: true });
    else this.#focusList();
    this.showActive();
  }

  #focusList() {
    this.#isLeaving = true;
    this.scroller.focus({ preventScroll: true });
    this.#isLeaving = false;
    this.showActive();
  }

  /** @param {Element} target */
  #focusIn(target) {
    if (this.#isDrawing) return;
    const row = this.rowOf(target);
    if (row && row.offset !== this.view.active.offset && this.view.state) {
      this.view.active.set(this.view.state, row.offset);
    }
    this.showActive();
    // A click next to the rows does not mean a row.
    if (target === this.scroller && !this.#isLeaving && target.matches(":focus-visible")) this.enter();
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const target = /** @type {Element} */ (event.target);
    const row = this.rowOf(target);
    if (!row || event.defaultPrevented || event.button !== 0) return;
    const control = target.closest(controls);
    if (control && control !== row.element && row.element.contains(control)) return;
    // A click that ends a text selection does not activate the row.
    if (!getSelection()?.isCollapsed && getSelection()?.containsNode(row.element, true)) return;
    this.view.active.set(/** @type {any} */ (this.view.state), row.offset);
    this.#focusActive();
    this.activate(row);
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    if (event.defaultPrevented || event.isComposing || !this.view.state) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const row = this.rowOf(target);
    if (!row && target !== this.scroller) return;
    const isControl = row !== undefined && target !== row.element;
    if (event.key === "Escape" && row) {
      if (isControl) this.#focusActive();
      else this.#focusList();
    } else if (isControl && (target.matches(fields) || event.key === "Enter" || event.key.trim().length < 2)) {
      return;
    } else if (event.key === "Enter" && !event.ctrlKey && !event.altKey && !event.metaKey) {
      if (row) this.activate(row);
      else this.enter();
    } else {
      const offset = this.#destination(event);
      if (offset === null && !this.#mayLeadFurther(event)) return;
      if (this.#mayLeadFurther(event) && this.#isBeyond(event, offset)) {
        this.#waiting.push(event);
        this.waits();
      } else {
        this.#waiting = [];
        if (offset !== null) this.goTo(offset);
      }
    }
    event.preventDefault();
  }

  /**
   * @param {KeyboardEvent} event
   * @returns {boolean} whether its destination depends on rows that have not come
   */
  #mayLeadFurther({ key, ctrlKey, altKey, metaKey }) {
    if (!this.view.isPartial || altKey || metaKey) return false;
    return key === "End" || key === "]" || (ctrlKey && key === "ArrowDown") || (!ctrlKey && key.trim() !== "" && [...key].length === 1 && key !== "[");
  }

  /** @param {KeyboardEvent} event @param {number | null} offset where it leads among the rows that are there */
  #isBeyond({ key, ctrlKey }, offset) {
    const { active, layout } = this.view;
    if (key === "End" || offset === null) return true;
    // Without a following section, the destination is the last section's beginning.
    return (key === "]" || ctrlKey) && offset <= active.offset && layout.sectionOf(active.offset) >= 0;
  }

  /** Called when all rows have come: waiting keys take effect, unless the focus has moved elsewhere. */
  goOn() {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0 || !this.#isInside) return;
    const offset = waiting.map((event) => this.#destination(event)).pop() ?? null;
    if (offset !== null) this.goTo(offset);
  }

  /** @param {KeyboardEvent} event @returns {number | null} */
  #destination(event) {
    const { state, active, page, layout } = this.view;
    const { sections, total } = /** @type {import("./types.js").ListState} */ (state);
    const offset = active.offset < 0 ? this.view.firstWhole - 1 : active.offset;
    const destination = destinationOf(event, { offset, total, page, sections });
    if (destination !== null || event.ctrlKey || event.altKey || event.metaKey) return destination;
    const now = event.timeStamp;
    if ([...event.key].length !== 1 || (event.key === " " && !this.#letters.isTyping(now))) return null;
    const section = this.#letters.type(event.key, now, sections, layout.sectionOf(active.offset));
    return section < 0 ? null : layout.sectionStart(section);
  }
}

/** @param {any} element @returns {[number, number] | null} the selected range of a field */
function selectionOf(element) {
  try {
    return typeof element.selectionStart === "number" ? [element.selectionStart, element.selectionEnd] : null;
  } catch {
    // Some types of fields have no selection.
    return null;
  }
}
