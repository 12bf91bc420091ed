// @ts-check
/** Tables and views at the left, with how many rows they have. */

import { element, formatted } from "../shell/dom.js";
import { formatAddress, wholeTable } from "./address.js";
import { tokenForm } from "./pages.js";

/** @typedef {import("./catalogue.js").Catalogue} Catalogue */
/** @typedef {import("./catalogue.js").Table} Table */

/** With fewer tables the filter is hidden. */
const manyTables = 10;

export class Sidebar {
  /** @type {Map<string, {link: HTMLAnchorElement, count: HTMLElement}>} */
  #items = new Map();
  #filter = element("input", { type: "search", placeholder: "Filter", ariaLabel: "Filter tables and views", autocomplete: "off", spellcheck: false });
  #groups = element("div", { className: "sidebar-groups" });

  /** @param {HTMLElement} nav @param {import("./row-counts.js").RowCounts} counts */
  constructor(nav, counts) {
    this.nav = nav;
    this.counts = counts;
    nav.replaceChildren(this.#filter, this.#groups,
      element("details", { className: "access" }, element("summary", {}, "Use a token"), tokenForm()));
    this.#filter.addEventListener("input", () => this.#applyFilter());
    nav.addEventListener("keydown", (event) => this.#keyDown(event));
    counts.counted = (name, count) => this.#showCount(name, count);
    this.#seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) counts.setWanted(/** @type {HTMLElement} */ (target).dataset.table ?? "", isIntersecting);
    }, { root: this.#groups, rootMargin: "100px" });
  }

  #seen;

  /** @param {Catalogue} catalogue @param {string} current the table that is open */
  show(catalogue, current) {
    const { tables, views, others } = catalogue.groups;
    this.#seen.disconnect();
    this.#items.clear();
    this.#filter.hidden = catalogue.tables.length < manyTables;
    const isOpen = others.some(({ name }) => name === current);
    this.#groups.replaceChildren(
      ...(tables.length ? [this.#group("Tables", tables)] : []),
      ...(views.length ? [this.#group("Views", views)] : []),
      ...(others.length ? [element("details", { open: isOpen }, element("summary", {}, "Indexes and their parts"), this.#list(others, "Indexes and their parts"))] : []));
    this.setCurrent(current);
    this.#applyFilter();
  }

  /** @param {string} title @param {Table[]} tables */
  #group(title, tables) {
    return element("section", {}, element("h2", {}, title), this.#list(tables, title));
  }

  /**
   * Shows published queries, if the server answers nothing else. Their rows are not counted.
   *
   * @param {{name: string}[]} queries
   */
  showPublished(queries) {
    this.#items.clear();
    this.#filter.hidden = queries.length < manyTables;
    const items = queries.map(({ name }) => {
      const link = element("a", { href: formatAddress(wholeTable(name)) }, element("span", { className: "table-name" }, name));
      this.#items.set(name, { link, count: element("span") });
      return element("li", {}, link);
    });
    this.#groups.replaceChildren(...(items.length ? [element("section", {}, element("h2", {}, "Published queries"), element("ul", {}, ...items))] : []));
  }

  /** @param {Table[]} tables @param {string} label */
  #list(tables, label) {
    return element("ul", { ariaLabel: label }, ...tables.map(({ name }) => {
      const count = element("span", { className: "table-count" });
      const link = element("a", { href: formatAddress(wholeTable(name)), title: name }, element("span", { className: "table-name" }, name), count);
      link.dataset.table = name;
      this.#items.set(name, { link, count });
      this.#seen.observe(link);
      this.#showCount(name, this.counts.known.get(name) ?? null);
      return element("li", {}, link);
    }));
  }

  /** @param {string} current */
  setCurrent(current) {
    for (const [name, { link }] of this.#items) {
      if (name === current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.#items.get(current)?.link.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} name @param {number | null} count */
  #showCount(name, count) {
    const item = this.#items.get(name);
    const text = count === null ? "" : formatted(count);
    if (!item || item.count.textContent === text) return;
    const wasThere = item.count.textContent !== "";
    item.count.textContent = text;
    if (wasThere) item.count.animate([{ backgroundColor: "var(--changed)" }, {}], { duration: 1400, easing: "ease-in" });
  }

  #applyFilter() {
    const text = this.#filter.value.trim().toLowerCase();
    for (const [name, { link }] of this.#items) /** @type {HTMLElement} */ (link.parentElement).hidden = !name.toLowerCase().includes(text);
    for (const group of this.#groups.children) {
      /** @type {HTMLElement} */ (group).hidden = ![...group.querySelectorAll("li")].some(({ hidden }) => !hidden);
      if (text && group instanceof HTMLDetailsElement) group.open = !group.hidden;
    }
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter" && event.target === this.#filter) this.#links[0]?.click();
    if (!step) return;
    const at = this.#links.indexOf(/** @type {any} */ (document.activeElement));
    const next = this.#links[at + step];
    (next ?? (step < 0 ? this.#filter : null))?.focus();
    event.preventDefault();
  }

  /** @returns {HTMLAnchorElement[]} those that can be seen */
  get #links() {
    return /** @type {any} */ ([...this.#groups.querySelectorAll("a")].filter((link) => link.offsetParent !== null));
  }
}
