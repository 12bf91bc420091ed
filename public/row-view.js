// @ts-check
/** The elements of one row and of one section. Text goes in as text, never as markup. */

/** What the list asks for, in the order of the query. */
export const columns = ["id", "name", "operator", "status", "depth", "spud_date"];

const deepest = 23_000;
const integers = new Intl.NumberFormat("en-US");
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** @param {number} number */
export function formatted(number) {
  return integers.format(number);
}

/** @param {any} name a section's: text, a number or null */
export function sectionTitle(name) {
  return name === null ? "(none)" : name === "" ? "(empty)" : String(name);
}

/** @param {string} tag @param {string} className @param {string} [role] */
function element(tag, className, role) {
  const result = document.createElement(tag);
  result.className = className;
  if (role) result.setAttribute("role", role);
  return result;
}

/** A row that is shown; its contents may not have come yet. */
export class RowView {
  /** Top in the whole list at the last rendering, in pixels. */
  top = 0;
  offset = -1;
  /** @type {any[] | undefined} */
  #row;
  /** @type {Map<string, HTMLElement>} */
  #cells = new Map();

  constructor() {
    this.element = element("div", "row", "row");
    for (const column of columns.slice(1)) {
      const cell = element("div", `cell ${column}`, "cell");
      this.#cells.set(column, cell);
      this.element.append(cell);
    }
    this.name = element("button", "");
    /** @type {HTMLButtonElement} */ (this.name).type = "button";
    this.cell("name").append(this.name);
    this.bar = element("span", "depth-bar");
    this.feet = element("span", "");
    this.cell("depth").append(this.bar, this.feet);
  }

  /** @param {string} column */
  cell(column) {
    return /** @type {HTMLElement} */ (this.#cells.get(column));
  }

  /** @param {number} offset in the result @param {any[] | undefined} row */
  show(offset, row) {
    if (offset !== this.offset) {
      this.offset = offset;
      this.element.setAttribute("aria-rowindex", String(offset + 1));
    }
    if (row === this.#row && this.element.dataset.state) return;
    this.#row = row;
    this.element.dataset.state = row ? "shown" : "awaited";
    if (!row) return;
    const [, name, operator, status, depth, spudDate] = row;
    this.name.textContent = name;
    this.cell("operator").textContent = operator;
    this.cell("status").textContent = status;
    this.cell("status").dataset.status = status;
    this.feet.textContent = typeof depth === "number" ? tenths.format(depth) : String(depth);
    this.bar.style.transform = `scaleX(${Math.min(1, Math.max(0, depth / deepest)) || 0})`;
    this.cell("spud_date").textContent = spudDate ?? "–";
  }
}

/** A section that is shown: as tall as all its rows, so that the browser itself keeps the header in view. */
export class SectionView {
  #count = -1;

  /** @param {any} name */
  constructor(name) {
    this.element = element("section", "section", "rowgroup");
    const header = element("div", "section-header", "row");
    this.title = element("span", "section-title", "rowheader");
    this.title.textContent = sectionTitle(name);
    this.count = element("span", "section-count", "cell");
    header.append(this.title, this.count);
    this.element.append(header);
  }

  /** @param {number} count @returns {boolean} whether another count was shown before */
  show(count) {
    if (count === this.#count) return false;
    const wasShown = this.#count >= 0;
    this.#count = count;
    this.count.textContent = formatted(count);
    return wasShown;
  }
}
