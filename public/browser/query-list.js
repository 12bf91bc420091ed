// @ts-check
/** A list whose columns are known only once its first row has come: that of a published query, or of typed SQL. */

import { element, formatted } from "../shell/dom.js";
import { noLayout } from "./column-layout.js";
import { TableList } from "./table-list.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("./address.js").SortColumn} SortColumn */
/**
 * @typedef {object} Handlers
 * @property {(rows: string) => void} counted how many rows there are; "" if unknown
 * @property {(error: any) => void} refused the query is not answered
 * @property {(column: string, isAdded: boolean) => void} sort the title of a column was clicked
 * @property {(columns: string[], key: string[]) => void} [opened] called when its first rows have come
 */

export class QueryList {
  element = element("div", { className: "query-list" });
  /** @type {import("../freshet.js").LiveList | null} */
  #look = null;
  /** @type {TableList | null} */
  #list = null;

  /** @param {Client} client @param {string} label @param {Handlers} handlers */
  constructor(client, label, handlers) {
    this.client = client;
    this.label = label;
    this.handlers = handlers;
  }

  /** @param {Query} query @param {SortColumn[]} [sort] the order that the titles show */
  open(query, sort = []) {
    this.close();
    const look = this.client.subscribe(query, { window: { offset: 0, limit: 1 } });
    this.#look = look;
    look.addEventListener("error", ({ error }) => {
      if (look !== this.#look) return;
      this.handlers.counted("");
      this.handlers.refused(error);
    });
    look.addEventListener("change", () => {
      if (look !== this.#look) return;
      const { columns, key } = look.state;
      this.#show(query, [...columns], [...key], sort);
      this.handlers.opened?.([...columns], [...key]);
      look.close();
    }, { once: true });
  }

  /** @param {Query} query @param {string[]} names @param {string[]} key @param {SortColumn[]} sort */
  #show(query, names, key, sort) {
    const columns = names.map((name) => ({ name, type: "", notNull: false, key: key.includes(name) ? key.indexOf(name) + 1 : 0 }));
    /** @type {TableList} */
    const list = new TableList({ columns, key, references: [], label: this.label }, {
      sort: this.handlers.sort, menu: () => {}, arranged: () => {},
      updated: ({ total }) => this.handlers.counted(`${formatted(total)} ${total === 1 ? "row" : "rows"}`),
      failed: (error) => list === this.#list && this.handlers.refused(error),
    });
    this.#list = list;
    list.show(noLayout);
    list.showSort(sort);
    list.element.client = this.client;
    list.element.query = query;
    this.element.replaceChildren(list.element);
  }

  close() {
    this.#look?.close();
    this.#list?.close();
    this.#look = null;
    this.#list = null;
  }
}
