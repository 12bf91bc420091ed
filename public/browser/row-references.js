// @ts-check
/** Links to the rows that a row refers to, and to those that refer to it, counted by table. */

import { element, formatted } from "../shell/dom.js";
import { quoted } from "./identifiers.js";
import { linkTo } from "./row-cells.js";
import { isRow } from "./statements.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("./catalogue.js").Reference} Reference */

export class RowReferences {
  element = element("section", { className: "references", hidden: true });
  /** @type {LiveList[]} */
  #lists = [];
  #shown = "";

  /** @param {import("../freshet.js").Client} client @param {import("./catalogue.js").Catalogue} catalogue @param {import("./catalogue.js").Table} table */
  constructor(client, catalogue, table) {
    this.client = client;
    this.catalogue = catalogue;
    this.from = catalogue.referencesFrom(table);
    this.to = catalogue.referencesTo(table);
  }

  /**
   * Links below a value that refers to another row.
   *
   * @param {string} column @param {Row} row
   */
  linksFrom(column, row) {
    return this.from.filter(({ columns }) => columns[0] === column).flatMap((reference) => {
      const values = reference.columns.map((name) => row[name]);
      if (values.includes(null)) return [];
      return [element("a", { className: "reference", href: linkTo(reference, values) }, `→ ${reference.table} ${values.join(", ")}`)];
    });
  }

  /**
   * Shows the rows that refer to a row, and keeps their counts up to date while the row is shown.
   *
   * @param {Row} row
   */
  show(row) {
    const values = this.to.map(({ references }) => references.map((name) => row[name]));
    const shown = values.map((each) => each.map(String).join("\n")).join("\n\n");
    if (shown === this.#shown || this.to.length === 0) return;
    this.#shown = shown;
    this.close();
    this.element.hidden = false;
    this.element.replaceChildren(element("h3", {}, "Referred to by"), element("ul", {}, ...this.to.map((reference, index) => this.#item(reference, values[index]))));
  }

  /** @param {Reference} reference @param {any[]} values */
  #item({ columns, table }, values) {
    const count = element("span", { className: "table-count" }, "…");
    const href = linkTo({ columns: [], table, references: columns, isKey: false }, values);
    const where = isRow(Object.fromEntries(columns.map((name, index) => [name, values[index]])));
    const list = this.client.subscribe({ from: quoted(table), where }, { window: { offset: 0, limit: 0 }, minInterval: 500 });
    list.addEventListener("change", () => { count.textContent = formatted(list.total); });
    list.addEventListener("error", () => { count.textContent = "–"; });
    this.#lists.push(list);
    return element("li", {}, element("a", { href }, element("span", {}, `${table} `, element("span", { className: "quiet" }, columns.join(", "))), count));
  }

  close() {
    for (const list of this.#lists) list.close();
    this.#lists = [];
  }
}
