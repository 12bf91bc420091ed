// @ts-check
/** An address as a query for the server. Pure. */

import { plainQuery, sql } from "../client/sql.js";
import { affinityOf } from "./affinity.js";
import { conditionOf } from "./filters.js";
import { columnOf, quoted, readable } from "./identifiers.js";
import { totalsOf, totalsToShare } from "./totals.js";

/** @typedef {import("../client/sql.js").SQLFragment} SQLFragment */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("./address.js").Address} Address */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {import("./catalogue.js").Search} Search */

/** Cells get only the beginning of longer values; the detail panel asks for the whole value. */
export const longestText = 300;
export const longestBlob = 64;
/** The key of rows that no columns identify: they are numbered. */
export const rowNumber = "#";

/**
 * The name of the column with the length of a BLOB, because only the beginning of a BLOB is sent.
 *
 * @param {string} column
 */
export function lengthOf(column) {
  return `length(${column})`;
}

/**
 * @param {Table} table @param {Address} address @param {Search | null} search the full-text index in which words are
 * looked up
 * @param {string[]} key columns that identify a row; `[rowNumber]` numbers the rows
 * @returns {Query}
 */
export function queryOf(table, address, search, key) {
  const { name, columns } = table;
  const isNumbered = key[0] === rowNumber;
  const where = conditionsOf(table, address, search);
  return {
    from: isNumbered ? `(SELECT row_number() OVER () AS "#", * FROM ${quoted(name)}) AS ${quoted(name)}` : quoted(name),
    key: key.map(quoted),
    select: [...key.map(quoted), ...columns.filter((column) => !key.includes(column.name)).flatMap((column) => shortened(name, column))],
    ...(where.length > 0 && { where: where.length === 1 ? where[0] : sql.join(where.map((part) => sql`(${part})`), " AND ") }),
    ...(address.section !== null && { sectionBy: columnOf(name, address.section) }),
    orderBy: address.sort.map(({ column, descending }) => sql.join([columnOf(name, column), ...(descending ? [raw("DESC")] : [])], " ")),
    ...totalsOf(table, address.totals),
  };
}

/** How many rows of a large table are requested first. */
export const firstRows = 200;

/**
 * The query of the first rows only, which SQLite finds at once in a table of any size. They are shown until the whole
 * list has come.
 *
 * @param {Query} query of `queryOf` @param {Table} table @param {string[]} key
 * @returns {Query}
 */
export function firstRowsOf({ where, sectionBy, orderBy = [], totals: _, ...others }, { name }, key) {
  const order = [...(sectionBy ? [sectionBy] : []), ...orderBy, ...key.map(quoted)];
  const hidden = key.includes("rowid") ? "rowid, " : "";
  return {
    ...others, ...(sectionBy && { sectionBy }), orderBy,
    from: sql`(SELECT ${raw(hidden)}* FROM ${sql.identifier(name)}${where ? sql` WHERE ${fragment(where)}` : raw("")}
      ORDER BY ${sql.join(order.map(fragment))} LIMIT ${raw(String(firstRows))}) AS ${sql.identifier(name)}`,
  };
}

/** @param {any} part */
function fragment(part) {
  return typeof part === "string" ? raw(part) : part;
}

/** @param {string} text SQL of this file, never a user's */
function raw(text) {
  return sql(/** @type {any} */ ([text]));
}

/** @param {string} table @param {import("../shell/schema.js").Column} column */
function shortened(table, { name, type }) {
  const affinity = affinityOf(type);
  // Numeric columns rarely hold long values, so they are sent whole. SQLite cuts the values of the others, and does not
  // send the rest.
  if (affinity !== "TEXT" && affinity !== "BLOB") return [quoted(name)];
  const value = `${quoted(table)}.${quoted(name)}`;
  const text = `WHEN 'text' THEN substr(${value}, 1, ${longestText + 1})`;
  const blob = `WHEN 'blob' THEN substr(${value}, 1, ${longestBlob})`;
  const cut = `CASE typeof(${value}) ${text} ${blob} ELSE ${value} END AS ${quoted(name)}`;
  if (affinity === "TEXT") return [cut];
  return [cut, `CASE typeof(${value}) WHEN 'blob' THEN length(${value}) END AS ${quoted(lengthOf(name))}`];
}

/**
 * @param {Table} table @param {Address} address @param {Search | null} search
 * @returns {(string | SQLFragment)[]} conditions that all have to hold
 */
function conditionsOf({ name, columns }, { where, filters, search: words }, search) {
  const own = where.trim() ? [raw(where.trim())] : [];
  const byColumn = filters.map((filter) =>
    conditionOf(filter, columns.find((column) => column.name === filter.column), columnOf(name, filter.column)));
  if (!search || !words.trim()) return [...byColumn, ...own];
  const matching = sql`${sql.identifier(search.index)} MATCH ${matchOf(words)}`;
  if (search.index === name) return [matching, ...byColumn, ...own];
  return [sql`${columnOf(name, search.rowid)} IN (SELECT rowid FROM ${sql.identifier(search.index)} WHERE ${matching})`, ...byColumn, ...own];
}

/**
 * Words as an FTS5 query, with any characters in them; the last word is a prefix.
 *
 * @param {string} words
 */
export function matchOf(words) {
  return `${words.trim().split(/\s+/).map((word) => `"${word.replaceAll('"', '""')}"`).join(" ")}*`;
}

/**
 * The query as a person would write it: whole columns, unquoted names where possible, values as parameters.
 *
 * @param {Table} table @param {Address} address @param {Search | null} search @param {string[]} key
 * @returns {Query}
 */
export function queryToShare(table, address, search, key) {
  const query = queryOf(table, address, search, key);
  const { where, params } = plainQuery(query.where ? { where: query.where } : {});
  const isDefault = table.kind === "table" || table.kind === "virtual";
  return {
    from: key[0] === rowNumber ? query.from : readable(table.name),
    ...(where && { where: plainer(where, table) }),
    ...(params && { params }),
    ...(address.section !== null && { sectionBy: readable(address.section) }),
    ...(address.sort.length > 0 && { orderBy: address.sort.map(({ column, descending }) => readable(column) + (descending ? " DESC" : "")) }),
    ...(!isDefault && { key: key.map(readable) }),
    ...totalsToShare(table, address.totals),
  };
}

/**
 * The text without the quotes around names that do not need them.
 *
 * @param {string} text @param {Table} table
 */
function plainer(text, { name, columns }) {
  return columns.reduce((result, column) =>
    result.replaceAll(`${quoted(name)}.${quoted(column.name)}`, readable(column.name)), text);
}
