// @ts-check
/** One list of wells, with its order, its sections and its filter. */

import { sql } from "../freshet.js";
import { fillSelect, formatted, fromTemplate } from "./dom.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").ListState} ListState */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

/** Orders and sections by what they are called. */
const sorts = {
  Name: ["name"], "Depth, deepest first": ["depth DESC"], "Spud date, newest first": ["spud_date DESC"], Operator: ["operator", "name"],
};
/** @type {Record<string, string | {by: string, order?: "DESC", indexTitle?: string} | null>} */
const sections = {
  county: "county", operator: "operator", status: "status", letter: "upper(substr(name, 1, 1))",
  year: { by: "substr(spud_date, 1, 4)", order: "DESC", indexTitle: "substr(spud_date, 3, 2)" }, none: null,
};
const sectionTitles = {
  county: "County", operator: "Operator", status: "Status", letter: "First letter", year: "Year", none: "None",
};

/** Feet at which the bar of a depth is full. */
const deepest = 16_000;
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
/** How long a write may take to be seen; one that changes nothing here is never seen. */
const longestWait = 2000;

export class WellsPane {
  /**
   * @param {Client} client @param {string} by sections to begin with
   * @param {{patched: () => void, activated: (row: Row, element: HTMLElement | undefined) => void}} handlers
   */
  constructor(client, by, { patched, activated }) {
    this.element = fromTemplate("pane-template");
    this.list = /** @type {LiveListElement} */ (this.element.querySelector("live-list"));
    this.form = /** @type {HTMLFormElement} */ (this.element.querySelector("form"));
    fillSelect(this.#field("sort"), Object.keys(sorts));
    fillSelect(this.#field("sections"), sectionTitles, by);
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => this.#query());
    this.list.client = client;
    this.list.renderRow = showDepth;
    this.list.addEventListener("activate", (event) => {
      const { row, offset } = /** @type {CustomEvent} */ (event).detail;
      activated(row, rowElement(this.list, offset));
    });
    this.list.addEventListener("update", (event) => {
      const { kind, after } = /** @type {CustomEvent} */ (event).detail;
      if (kind === "patch") patched();
      this.#showTotal(after);
    });
    this.#query();
  }

  get total() {
    return this.list.list?.total ?? 0;
  }

  /** The well at the top of what is in view. */
  get firstInView() {
    return this.list.list?.at(this.list.visibleRange.first);
  }

  get idsInView() {
    const { first, last } = this.list.visibleRange;
    const rows = Array.from({ length: last - first }, (_, index) => this.list.list?.at(first + index));
    return rows.flatMap((row) => (row ? [row.id] : []));
  }

  /**
   * Brings a well into view.
   *
   * @param {number} id
   */
  show(id) {
    return this.list.scrollToKey(id);
  }

  /**
   * Resolves when the list shows the state of a commit; false when nothing of it is seen here.
   *
   * @param {number} commit @returns {Promise<boolean>}
   */
  shows(commit) {
    const { list } = this.list;
    if (!list) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(late);
        list.removeEventListener("change", look);
        resolve(list.state.commit >= commit);
      };
      const look = () => {
        if (list.state.commit >= commit) end();
      };
      const late = setTimeout(end, longestWait);
      list.addEventListener("change", look);
      look();
    });
  }

  /** @param {string} name @returns {any} */
  #field(name) {
    return this.form.elements.namedItem(name);
  }

  #query() {
    const text = this.#field("filter").value.trim().replace(/[\\%_]/g, "\\$&");
    this.list.query = {
      from: "well", select: ["name", "operator", "status", "depth", "spud_date"],
      ...(text && { where: sql`name LIKE ${`%${text}%`} ESCAPE ${"\\"}` }),
      sectionBy: sections[this.#field("sections").value],
      orderBy: sorts[/** @type {keyof typeof sorts} */ (this.#field("sort").value)],
    };
  }

  /** @param {ListState} state */
  #showTotal({ total, sections: { length } }) {
    const output = /** @type {HTMLOutputElement} */ (this.element.querySelector("output"));
    const text = `${formatted(total)} in ${formatted(length)} ${length === 1 ? "section" : "sections"}`;
    if (output.value !== text) output.value = text;
  }
}

/** @param {HTMLElement} element @param {Row} row */
function showDepth(element, { depth }) {
  const [bar, feet] = /** @type {any} */ (element.querySelector(".depth")?.children);
  bar.style.transform = `scaleX(${Math.min(1, Math.max(0, depth / deepest)) || 0})`;
  feet.textContent = typeof depth === "number" ? tenths.format(depth) : String(depth);
}

/** @param {LiveListElement} list @param {number} offset @returns {HTMLElement | undefined} */
function rowElement(list, offset) {
  const rows = /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".live-row"));
  return [...rows].find((row) => list.rowAt(row)?.offset === offset);
}
