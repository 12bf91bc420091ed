// @ts-check
/**
 * The published queries of a server that answers no others: each has fields for its parameters, and is opened as a
 * list.
 */

import { element } from "../shell/dom.js";
import { request } from "../shell/session.js";
import { QueryList } from "./query-list.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {{name: string, type: string, required?: boolean, default?: any, description?: string}} Parameter */
/** @typedef {{name: string, description?: string, parameters: Parameter[]}} PublishedQuery */

/** @returns {Promise<PublishedQuery[]>} */
export async function publishedQueries() {
  try {
    const answer = await request("v1/queries");
    return answer.ok ? (await answer.json()).queries : [];
  } catch {
    return [];
  }
}

/**
 * A typed text as a value of the parameter's type; undefined if empty, for the default.
 *
 * @param {string} text @param {Parameter} parameter
 */
export function parameterValue(text, { type }) {
  if (text === "") return undefined;
  return /int|real|number/i.test(type) && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

export class PublishedList {
  element = element("div", { className: "open-table" });
  #count = element("span", { className: "count quiet" });
  #error = element("p", { className: "query-error", role: "alert", hidden: true });
  #list;
  #fields;

  /** @param {Client} client @param {PublishedQuery} query @param {() => void} showTables */
  constructor(client, query, showTables) {
    this.client = client;
    this.query = query;
    this.#fields = query.parameters.map((parameter) => ({ parameter, field: element("input", {
      name: parameter.name, placeholder: parameter.default === undefined ? parameter.type : String(parameter.default), autocomplete: "off", title: parameter.description ?? "" }) }));
    const tables = element("button", { type: "button", className: "open-tables", ariaLabel: "Published queries" }, "☰");
    tables.addEventListener("click", showTables);
    const form = element("form", { className: "table-actions" }, ...this.#fields.map(({ parameter, field }) =>
      element("label", { className: "labelled" }, parameter.name, field)), ...(this.#fields.length ? [element("button", { className: "primary" }, "Show")] : []));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#open();
    });
    this.element.append(element("header", { className: "table-head" }, tables, element("div", { className: "table-title" },
      element("h2", {}, query.name), element("span", { className: "kind" }, "published"), this.#count), form));
    if (query.description) this.element.append(element("p", { className: "published-about quiet" }, query.description));
    this.#list = new QueryList(client, query.name, {
      counted: (rows) => { this.#count.textContent = rows; }, refused: (error) => this.#refuse(error.message),
      sort: () => this.#refuse("The order of a published query is its own."),
    });
    this.element.append(this.#error, this.#list.element);
    const isReady = query.parameters.every((parameter) => !parameter.required || parameter.default !== undefined);
    if (isReady) this.#open();
    else this.#fields[0]?.field.focus();
  }

  #open() {
    this.#refuse(null);
    this.#count.textContent = "counting…";
    const values = this.#fields.map(({ parameter, field }) => [parameter.name, parameterValue(field.value, parameter)]);
    const params = Object.fromEntries(values.filter(([, value]) => value !== undefined));
    this.#list.open({ name: this.query.name, ...(Object.keys(params).length > 0 && { params }) });
  }

  /** @param {string | null} sentence */
  #refuse(sentence) {
    this.#error.hidden = sentence === null;
    this.#error.textContent = sentence;
  }

  close() {
    this.#list.close();
    this.element.remove();
  }
}
