// @ts-check
/** The bar above a table: its name and count, the search, and buttons for the actions on the list. */

import { element, fillSelect, formatted } from "../shell/dom.js";
import { KeyMenu } from "./key-menu.js";
import { LoadingBar } from "./loading-bar.js";

/** @typedef {import("./address.js").Address} Address */
/** @typedef {import("./catalogue.js").Table} Table */
/**
 * @typedef {object} Handlers
 * @property {(words: string) => void} search @property {(section: string | null) => void} section @property {(key: string[]) => void} key
 * @property {() => void} filter @property {(anchor: HTMLElement) => void} columns @property {() => void} use @property {() => void} add
 * @property {() => void} tables opens the list of tables, on screens where it is a sheet
 * @property {() => void} summary switches between the rows and their summary in groups
 */

/** Milliseconds without a key press after which the typed words are searched for. */
const pause = 150;
const none = " ";

export class Toolbar {
  element;
  #count = element("span", { className: "count quiet" });
  #loading = new LoadingBar((sentence) => this.#say(sentence));
  #search = element("input", { type: "search", placeholder: "Search", ariaLabel: "Search the full-text index", autocomplete: "off", spellcheck: false });
  #section = element("select", { ariaLabel: "Sections" });
  #key;
  #filter = element("button", { type: "button", className: "filter-button" }, "Filter");
  #summary = element("button", { type: "button" }, "Summary");
  #use = element("button", { type: "button" }, "Use this list");
  #add = element("button", { type: "button", className: "primary" }, "Add row");

  /**
   * @param {Table} table @param {{hasSearch: boolean, isEditable: boolean, keys: string[][] | null, isSummary?: boolean}} abilities `keys`:
   *   candidates for the key of a view; `isSummary`: groups are shown, not rows
   * @param {Handlers} handlers
   */
  constructor(table, { hasSearch, isEditable, keys, isSummary = false }, handlers) {
    const tables = element("button", { type: "button", className: "open-tables", ariaLabel: "Tables and views" }, "☰");
    const columns = element("button", { type: "button", ariaHasPopup: "dialog" }, "Columns");
    const title = element("h2", {}, table.name);
    const kind = table.kind === "table" ? [] : [element("span", { className: "kind" }, table.module ?? table.kind)];
    const sections = element("label", { className: "labelled" }, "Sections", this.#section);
    this.#key = new KeyMenu(handlers.key);
    this.element = element("header", { className: "table-head" },
      tables, element("div", { className: "table-title" }, title, ...kind, this.#count),
      ...(hasSearch ? [this.#search] : []),
      element("div", { className: "table-actions" }, this.#filter, ...(isSummary ? [] : [sections, ...(keys ? [this.#key.element] : []), columns]), this.#summary, this.#use,
        ...(isEditable ? [this.#add] : [])),
      this.#loading.element);
    fillSelect(this.#section, { [none]: "None", ...Object.fromEntries(table.columns.map(({ name }) => [`c${name}`, name])) });
    this.#key.offer(keys ?? [], table.columns.map(({ name }) => name));
    this.#summary.setAttribute("aria-pressed", String(isSummary));
    this.#summary.addEventListener("click", handlers.summary);
    tables.addEventListener("click", handlers.tables);
    columns.addEventListener("click", () => handlers.columns(columns));
    this.#filter.addEventListener("click", handlers.filter);
    this.#use.addEventListener("click", handlers.use);
    this.#add.addEventListener("click", handlers.add);
    this.#section.addEventListener("change", () => handlers.section(this.#section.value === none ? null : this.#section.value.slice(1)));
    let timer = 0;
    this.#search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = Number(setTimeout(() => handlers.search(this.#search.value), pause));
    });
  }

  /** @param {Address} address @param {string[]} key in use */
  show({ search, section, filters, where }, key) {
    if (document.activeElement !== this.#search) this.#search.value = search;
    this.#section.value = section === null ? none : `c${section}`;
    this.#key.show(key);
    const count = filters.length + (where ? 1 : 0);
    this.#filter.textContent = count ? `Filter (${count})` : "Filter";
    this.#filter.classList.toggle("is-on", count > 0);
  }

  /** @param {boolean} isOpen the bar with filters */
  setFilterOpen(isOpen) {
    this.#filter.ariaExpanded = String(isOpen);
  }

  /** @param {number} total @param {number | null} sections null: there are none */
  showCount(total, sections) {
    const rows = `${formatted(total)} ${total === 1 ? "row" : "rows"}`;
    this.#loading.stop();
    this.#say(sections === null ? rows : `${rows} in ${formatted(sections)} ${sections === 1 ? "section" : "sections"}`);
  }

  /** @param {number} count */
  showGroups(count) {
    this.#say(`${formatted(count)} ${count === 1 ? "group" : "groups"}`);
  }

  /**
   * Called while the rows of other criteria load: the last count does not apply to them.
   *
   * @param {() => import("./loading-bar.js").Progress} progress
   */
  showLoading(progress) {
    this.#say("counting…");
    this.#loading.start(progress);
  }

  /** Called when the rows will not come. */
  showFailure() {
    this.#loading.stop();
    this.#say("");
  }

  /** @param {string} text */
  #say(text) {
    if (this.#count.textContent !== text) this.#count.textContent = text;
  }

  focusSearch() {
    this.#search.focus();
  }
}
