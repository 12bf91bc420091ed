// @ts-check
/**
 * The table on view and how it is shown, as the fragment of the address: `#/orders?where=…&sort=-total`. So every view
 * can be shared, survives a reload, and is one step of the browser's history. Pure.
 */

import { mostGroups } from "./groups.js";

/** @typedef {import("./filters.js").Filter} Filter */
/** @typedef {{column: string, descending: boolean}} SortColumn */
/**
 * @typedef {object} Address
 * @property {string} table empty: no table was named @property {string} where SQL, as typed
 * @property {SortColumn[]} sort @property {Filter[]} filters @property {string | null} section a column
 * @property {import("./totals.js").Total[]} totals
 * @property {import("./groups.js").Group[]} groups if there are any, their summary is shown and not the rows
 * @property {string | null} chart the measure that is drawn; null: the default
 * @property {string} search words for a full-text index @property {string[]} key columns, for views; empty: guessed
 * @property {any[] | null} row key of the row whose details are open
 */

/** @param {string} table @returns {Address} the address of a whole table */
export function wholeTable(table) {
  return { table, where: "", sort: [], filters: [], section: null, totals: [], groups: [], chart: null, search: "", key: [], row: null };
}

/** @param {string} hash as in `location.hash` @returns {Address} */
export function parseAddress(hash) {
  const [path, ...rest] = hash.replace(/^#?\/?/, "").split("?");
  const parameters = new URLSearchParams(rest.join("?"));
  const columns = (/** @type {string} */ name) => listed(parameters.get(name));
  return {
    table: decoded(path), where: parameters.get("where") ?? "",
    sort: parseSort(parameters.get("sort")),
    filters: parameters.getAll("filter").map(parseFilter),
    section: parameters.get("section"), totals: columns("total").flatMap(parseTotal),
    groups: columns("group").map(parseGroup).slice(0, mostGroups), chart: parameters.get("chart"), search: parameters.get("search") ?? "", key: parseColumns(parameters.get("key")),
    row: parseKey(parameters.get("row")),
  };
}

/**
 * The next order after a click on a column: first ascending, then descending, then without the column.
 *
 * @param {SortColumn[]} sort @param {string} column @param {boolean} isAdded whether the other columns stay @returns
 * {SortColumn[]}
 */
export function sortedBy(sort, column, isAdded) {
  const old = sort.find((each) => each.column === column);
  const next = !old ? [{ column, descending: false }] : old.descending ? [] : [{ column, descending: true }];
  if (!isAdded) return next;
  return old ? sort.flatMap((each) => (each === old ? next : [each])) : [...sort, ...next];
}

/** @param {string | null} text @returns {string[]} its comma-separated parts */
function listed(text) {
  return (text ?? "").split(",").filter(Boolean);
}

/** @param {string | null} text @returns {string[]} names of columns */
export function parseColumns(text) {
  return listed(text).map(decoded);
}

/** @param {string[]} names */
export function formatColumns(names) {
  return names.map(encoded).join(",");
}

/** @param {string | null} text @returns {SortColumn[]} */
export function parseSort(text) {
  return listed(text).map((each) => ({ column: decoded(each.replace(/^-/, "")), descending: each.startsWith("-") }));
}

/** @param {SortColumn[]} sort */
export function formatSort(sort) {
  return sort.map(({ column, descending }) => (descending ? "-" : "") + encoded(column)).join(",");
}

/** @param {Address} address */
export function formatAddress({ table, where, sort, filters, section, totals, groups, chart, search, key, row }) {
  const parameters = new URLSearchParams();
  if (search) parameters.set("search", search);
  for (const { column, operator, value } of filters) parameters.append("filter", [encoded(column), operator, value].join(":"));
  if (where) parameters.set("where", where);
  if (section !== null) parameters.set("section", section);
  if (sort.length) parameters.set("sort", formatSort(sort));
  if (totals.length) parameters.set("total", totals.map(({ column, call }) => `${call}:${encoded(column)}`).join(","));
  if (groups.length) parameters.set("group", groups.map(({ column, period }) => (period ? `${period}:` : "") + encoded(column)).join(","));
  if (groups.length && chart !== null) parameters.set("chart", chart);
  if (key.length) parameters.set("key", formatColumns(key));
  if (row) parameters.set("row", formatKey(row));
  const text = String(parameters);
  return `#/${encodeURIComponent(table)}${text && `?${text}`}`;
}

/**
 * A column's name, escaped where it would be read as something else, such as a leading minus.
 *
 * @param {string} name
 */
function encoded(name) {
  return encodeURIComponent(name).replace(/^-/, "%2D");
}

/** @param {string} text possibly typed by hand */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} text @returns {import("./totals.js").Total[]} empty if it is not a total */
function parseTotal(text) {
  const [, call, column] = text.match(/^(sum|avg|min|max):(.+)$/) ?? [];
  return column ? [{ column: decoded(column), call: /** @type {any} */ (call) }] : [];
}

/** @param {string} text @returns {import("./groups.js").Group} */
function parseGroup(text) {
  const [, period, column] = text.match(/^(day|week|month|year):(.+)$/) ?? [null, null, text];
  return { column: decoded(column ?? ""), period: /** @type {any} */ (period) };
}

/** @param {string} text @returns {Filter} */
function parseFilter(text) {
  const [column, operator, ...value] = text.split(":");
  return { column: decoded(column), operator: /** @type {any} */ (operator ?? ""), value: value.join(":") };
}

/** @param {any[]} key of a row @returns {string} JSON */
export function formatKey(key) {
  return JSON.stringify(key.map(keyValue));
}

/**
 * JSON has no integers beyond 2^53 and no BLOBs.
 *
 * @param {any} value
 */
function keyValue(value) {
  if (typeof value === "bigint") return { $int: String(value) };
  if (value instanceof Uint8Array) return { $blob: btoa(String.fromCharCode(...value)) };
  return value;
}

/** @param {string | null} text as `formatKey` gives it, or typed by hand @returns {any[] | null} */
export function parseKey(text) {
  try {
    const values = JSON.parse(text ?? "null");
    return Array.isArray(values) ? values.map(keyFrom) : null;
  } catch {
    return null;
  }
}

/** @param {any} value */
function keyFrom(value) {
  if (typeof value !== "object" || value === null) return value;
  if ("$int" in value) return BigInt(value.$int);
  return Uint8Array.from(atob(value.$blob), (character) => character.charCodeAt(0));
}
