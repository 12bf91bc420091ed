// @ts-check
/** The elements of one row. */

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Path} Path */
/** @typedef {{offset: number, path: Path}} Place */
/** @typedef {import("./recipe.js").Recipe} Recipe */

const controls = "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]";

/** A shown row, whose contents may not have come yet. */
export class RowView {
  /** Top in the whole list at the last rendering, in pixels. */
  top = 0;
  offset = -1;
  /** @type {Row | undefined} */
  row;
  #isActive = false;
  #isPending = false;
  #rowIndex = -1;
  #y = NaN;
  /** @type {((row: Row, place: Place) => void) | undefined} */
  #update;
  /**
   * The own `tabindex` of a control.
   *
   * @type {WeakMap<Element, string | null>}
   */
  #tabIndices = new WeakMap();

  /** @param {Recipe} recipe */
  constructor(recipe) {
    this.recipe = recipe;
    this.element = document.createElement("div");
    this.element.className = "live-row";
    this.element.setAttribute("role", "row");
    this.element.tabIndex = -1;
    this.element.dataset.state = "awaited";
    this.element.setAttribute("aria-busy", "true");
  }

  get isShown() {
    return this.row !== undefined;
  }

  /**
   * Sets the row's position.
   *
   * @param {number} y in pixels, in its section's element
   */
  placeAt(y) {
    if (y === this.#y) return;
    this.#y = y;
    this.element.style.top = `${y}px`;
  }

  /** @param {number} rowIndex counted from 1, headers included */
  setRowIndex(rowIndex) {
    if (rowIndex === this.#rowIndex) return;
    this.#rowIndex = rowIndex;
    this.element.setAttribute("aria-rowindex", String(rowIndex));
  }

  /**
   * Marks whether the row has changes that the server has not shown yet.
   *
   * @param {boolean} isPending
   */
  setPending(isPending) {
    if (isPending === this.#isPending) return;
    this.#isPending = isPending;
    this.element.toggleAttribute("pending", isPending);
    if (isPending) this.element.setAttribute("aria-busy", "true");
    else if (this.isShown) this.element.removeAttribute("aria-busy");
  }

  /**
   * Shows a row. Contents that are not held any longer stay visible until they come again.
   *
   * @param {Row | undefined} row @param {Place} place @param {Recipe} recipe
   */
  show(row, place, recipe) {
    this.offset = place.offset;
    if (!row || (row === this.row && recipe === this.recipe)) return;
    if (!this.#update || recipe !== this.recipe) {
      this.recipe = recipe;
      this.element.replaceChildren();
      this.#update = recipe.make(this.element);
      this.element.dataset.state = "shown";
      if (!this.#isPending) this.element.removeAttribute("aria-busy");
    }
    this.row = row;
    this.#update(row, place);
    for (const cell of this.element.children) {
      if (!cell.hasAttribute("role")) cell.setAttribute("role", "gridcell");
    }
    this.#setTabbing();
  }

  /**
   * Sets whether keys act on this row, and whether Tab stops at it. Only then can Tab reach its controls.
   *
   * @param {boolean} isActive @param {boolean} isTabStop
   */
  setActive(isActive, isTabStop) {
    if (isActive !== this.element.hasAttribute("aria-selected")) {
      if (isActive) this.element.setAttribute("aria-selected", "true");
      else this.element.removeAttribute("aria-selected");
    }
    if (isTabStop === this.#isActive) return;
    this.#isActive = isTabStop;
    this.element.tabIndex = isTabStop ? 0 : -1;
    this.#setTabbing();
  }

  #setTabbing() {
    for (const control of this.element.querySelectorAll(controls)) {
      if (!this.#tabIndices.has(control)) this.#tabIndices.set(control, control.getAttribute("tabindex"));
      const own = this.#tabIndices.get(control) ?? null;
      const wanted = this.#isActive ? own : "-1";
      if (wanted === control.getAttribute("tabindex")) continue;
      if (wanted === null) control.removeAttribute("tabindex");
      else control.setAttribute("tabindex", wanted);
    }
  }
}
