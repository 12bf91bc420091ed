// @ts-check
/** Rows of a table in groups, with their totals, as a query for the server. Pure. */

import { encoded } from "../client/values.js";
import { plainQuery, sql } from "../client/sql.js";
import { groupName } from "./groups.js";
import { columnOf, quoted } from "./identifiers.js";
import { queryOf } from "./table-query.js";
import { totalsOf } from "./totals.js";

/** @typedef {import("../client/sql.js").SQLFragment} SQLFragment */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./address.js").Address} Address */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {import("./catalogue.js").Search} Search */
/** @typedef {import("./groups.js").Group} Group */
/** @typedef {import("./groups.js").Period} Period */

/** @type {Record<Period, string>} arguments of SQLite's strftime; a week is named by its Monday */
const formats = { day: "'%Y-%m-%d'", week: "'%Y-%m-%d'", month: "'%Y-%m'", year: "'%Y'" };
/** The Monday of a week, from any of its days. */
const toMonday = ", '-6 days', 'weekday 1'";
/**
 * Numbers from here up are milliseconds since 1970. Smaller ones are seconds since 1970 or Julian days, which SQLite
 * distinguishes itself.
 */
const leastMilliseconds = 100_000_000_000;

/** @param {Address} address @returns {string} the name of the column with the numbers of rows, which no group has */
export function countName({ groups }) {
  return groups.some((group) => groupName(group) === "count") ? "count(*)" : "count";
}

/**
 * The measures of each group: the count, then the totals.
 *
 * @param {Table} table @param {Address} address @returns {string[]} names of columns in the result
 */
export function measureNames(table, address) {
  return [countName(address), ...Object.keys(totalsOf(table, address.totals).totals ?? {})];
}

/**
 * The measure that is drawn: the one in the address, or the first total, or the count.
 *
 * @param {Table} table @param {Address} address
 */
export function drawnMeasure(table, address) {
  const names = measureNames(table, address);
  return address.chart !== null && names.includes(address.chart) ? address.chart : names[1] ?? names[0];
}

/** @param {string} table @param {Group} group @returns {SQLFragment} */
function expressionOf(table, { column, period }) {
  const value = columnOf(table, column);
  if (period === null) return value;
  const raw = (/** @type {string} */ text) => sql(/** @type {any} */ ([text]));
  return sql.join([raw(`strftime(${formats[period]}, CASE WHEN typeof(`), value, raw(`) = 'integer' AND abs(`), value,
    raw(`) >= ${leastMilliseconds} THEN `), value, raw(" / 1000 ELSE "), value, raw(` END, 'auto'${period === "week" ? toMonday : ""})`)], "");
}

/**
 * @param {Table} table @param {Address} address @param {Search | null} search
 * @returns {Query} a row for each group: the groups' values, the count, and the totals
 */
export function summaryQuery(table, address, search) {
  const { from, where } = queryOf(table, { ...address, sort: [], section: null, totals: [] }, search, []);
  const groups = new Map(address.groups.map((group) => [groupName(group), expressionOf(table.name, group)]));
  const measures = new Map([[countName(address), sql`count(*)`], ...Object.entries(totalsOf(table, address.totals).totals ?? {})]);
  const all = new Map([...groups, ...measures]);
  const named = [...all].map(([name, expression]) => sql.join([fragment(expression), sql.identifier(name)], " AS "));
  return {
    from, ...(where && { where }), select: named, groupBy: [...groups.values()], orderBy: orderOf(table, address, all),
  };
}

/**
 * The order in the address; otherwise the newest period first, or the largest value.
 *
 * @param {Table} table @param {Address} address @param {Map<string, any>} all expressions by name
 */
function orderOf(table, address, all) {
  const asked = address.sort.filter(({ column }) => all.has(column));
  const usual = address.groups[0].period === null ? drawnMeasure(table, address) : groupName(address.groups[0]);
  const sort = asked.length > 0 ? asked : [{ column: usual, descending: true }];
  return sort.map(({ column, descending }) => sql.join([fragment(all.get(column)), ...(descending ? [sql`DESC`] : [])], " "));
}

/** @param {any} part @returns {SQLFragment} */
function fragment(part) {
  return typeof part === "string" ? sql(/** @type {any} */ ([part])) : part;
}

/**
 * @param {Table} table @param {Address} address @param {Search | null} search
 * @returns {Query} as other programs would send it, in JSON
 */
export function summaryToShare(table, address, search) {
  return JSON.parse(encoded(plainQuery(summaryQuery(table, address, search))));
}

/**
 * The rows of one group.
 *
 * @param {Table} table @param {Address} address @param {Row} row of the summary @returns {Address}
 */
export function rowsOfGroup(table, address, row) {
  /** @type {string[]} */
  const conditions = address.where ? [`(${address.where})`] : [];
  const filters = [...address.filters];
  for (const group of address.groups) {
    const value = row[groupName(group)];
    const isFilter = group.period === null && value !== "" && !(value instanceof Uint8Array);
    if (isFilter) filters.push({ column: group.column, operator: value === null ? "null" : "eq", value: value === null ? "" : String(value) });
    else conditions.push(`${textOf(table, group)} IS ${literal(value)}`);
  }
  return { ...address, groups: [], chart: null, sort: [], filters, where: conditions.join(" AND ") };
}

/** @param {Table} table @param {Group} group */
function textOf(table, group) {
  const { select } = plainQuery({ select: expressionOf(table.name, group) });
  return String(select).replaceAll(`${quoted(table.name)}.`, "");
}

/** @param {any} value @returns {string} SQL */
function literal(value) {
  if (value === null) return "NULL";
  if (value instanceof Uint8Array) return `x'${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}'`;
  return `'${String(value).replaceAll("'", "''")}'`;
}
