// @ts-check
/** The server's databases: their sizes, journal modes, and whether they are open. */

import { loadDatabases } from "./database.js";
import { element, formatted, part } from "./dom.js";
import { databaseName, pageOf } from "./place.js";

/** @typedef {import("./database.js").Database} Database */

/** How many databases are listed; in longer lists the user searches. */
const most = 500;

/** @param {number} bytes */
export function sizeInWords(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** power;
  return `${power && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

/**
 * The hash with which another database is opened, so that it shows the same view.
 *
 * @param {string} last the hash of the view before
 */
export function hashFor(last) {
  return last === "#databases" ? "" : last;
}

export class DatabasesView {
  /** @type {Database[]} */
  #all = [];
  /** The address's hash before this view was opened, which links to databases keep. */
  #before = "";
  #search = element("input", { type: "search", placeholder: "Search", ariaLabel: "Search databases" });
  #rows = element("div", { className: "server-rows" });
  #note = element("span", { className: "quiet" });

  constructor() {
    this.#search.addEventListener("input", () => this.#draw());
    part("databases").replaceChildren(element("section", { className: "frame server-table" },
      element("div", { className: "frame-head" }, element("h2", {}, "Databases"), this.#note, this.#search), this.#rows));
  }

  /** @param {string} hash of the view that was shown before */
  came(hash) {
    this.#before = hashFor(hash);
  }

  async show() {
    this.#all = await loadDatabases();
    this.#draw();
  }

  #draw() {
    const wanted = this.#search.value.trim().toLowerCase();
    const found = this.#all.filter(({ name }) => name.toLowerCase().includes(wanted));
    this.#note.textContent = found.length === 1 ? "1 database" : `${formatted(found.length)} databases`;
    if (found.length === 0) return this.#rows.replaceChildren(element("p", { className: "quiet" }, "There is none of that name."));
    const titles = ["Name", "Size", "Journal", "In use"].map((title) => element("th", { scope: "col" }, title));
    const rows = found.slice(0, most).map((database) => this.#row(database));
    const more = found.length > most ? [element("p", { className: "quiet" }, `and ${formatted(found.length - most)} more: search for them`)] : [];
    this.#rows.replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...rows)), ...more);
  }

  /** @param {Database} database */
  #row({ name, bytes, journal, open }) {
    const link = element("a", { href: pageOf(name) + this.#before }, name);
    if (name === databaseName) link.setAttribute("aria-current", "true");
    const cells = [element("strong", {}, link), sizeInWords(bytes), journal === "wal" ? "write-ahead log" : "rollback journal", open ? "open" : ""];
    return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
  }
}
