// @ts-check
/**
 * The cell that keys act on: a column in the list's active row. The focus stays on the row, which names the cell as its active
 * descendant; the list moves it up and down, this moves it sideways.
 */

/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

export class CellCursor {
  /**
   * The column's name; null, before one is chosen, stands for the first.
   *
   * @type {string | null}
   */
  column = null;
  #observer;

  /**
   * @param {LiveListElement} list @param {() => string[]} columns names, in the order of the cells
   * @param {{focus(): void}} header above the first row
   */
  constructor(list, columns, header) {
    this.list = list;
    this.columns = columns;
    this.header = header;
    this.#observer = new MutationObserver(() => this.show());
    this.#observer.observe(list, { subtree: true, childList: true, attributes: true, attributeFilter: ["aria-selected"] });
    // Captured, so that it runs before the list handles keys and clicks.
    list.addEventListener("keydown", (event) => this.#keyDown(event), { capture: true });
    list.addEventListener("pointerdown", ({ target }) => this.#choose(/** @type {Element} */ (target)), { capture: true });
  }

  /** @returns {HTMLElement | null} */
  get row() {
    return this.list.querySelector(".live-row[aria-selected]:not(.live-leaving)");
  }

  /** @returns {HTMLElement | null} */
  get cell() {
    const names = this.columns();
    const at = Math.max(0, names.indexOf(this.column ?? ""));
    return /** @type {HTMLElement | null} */ (this.row?.querySelectorAll(":scope > .cell")[at] ?? null);
  }

  /** @param {string} column */
  moveTo(column) {
    this.column = column;
    this.show();
    this.reveal();
  }

  /** @param {number} steps to the right @returns {boolean} whether there is such a column */
  step(steps) {
    const names = this.columns();
    const next = names[Math.max(0, names.indexOf(this.column ?? "")) + steps];
    if (next === undefined) return false;
    this.moveTo(next);
    return true;
  }

  show() {
    const { cell, row } = this;
    for (const other of this.list.querySelectorAll(".cell.cursor")) if (other !== cell) other.classList.remove("cursor");
    if (!cell || !row) return;
    cell.classList.add("cursor");
    if (row.getAttribute("aria-activedescendant") !== cell.id) row.setAttribute("aria-activedescendant", cell.id);
  }

  /** Scrolls sideways as little as possible to bring the cell into view, clear of the fixed columns. */
  reveal() {
    const { cell } = this;
    const scroller = this.list.querySelector(".live-scroller");
    if (!cell || !scroller || cell.classList.contains("fixed")) return;
    const view = scroller.getBoundingClientRect();
    const fixed = [...cell.parentElement?.querySelectorAll(":scope > .fixed") ?? []].filter((each) => getComputedStyle(each).left !== "auto");
    const from = fixed.reduce((left, each) => Math.max(left, each.getBoundingClientRect().right), view.left);
    const { left, right } = cell.getBoundingClientRect();
    if (left < from) scroller.scrollLeft -= from - left;
    else if (right > view.right) scroller.scrollLeft += Math.min(right - view.right, left - from);
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    const target = /** @type {Element} */ (event.target);
    if (!target.matches(".live-row, .live-scroller") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
    else if (event.key === "ArrowUp" && !event.shiftKey && this.list.activeRow?.offset === 0) this.header.focus();
    else return;
    event.preventDefault();
  }

  /** @param {Element} target */
  #choose(target) {
    const cell = target.closest(".cell");
    const at = cell ? [...cell.parentElement?.querySelectorAll(":scope > .cell") ?? []].indexOf(cell) : -1;
    if (at < 0) return;
    this.column = this.columns()[at];
    this.show();
  }

  stop() {
    this.#observer.disconnect();
  }
}
