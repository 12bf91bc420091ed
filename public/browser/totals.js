// @ts-check
/** Totals of columns: the kinds of totals, and the queries for them. Pure. */

import { sql } from "../client/sql.js";
import { affinityOf } from "./affinity.js";
import { columnOf, readable } from "./identifiers.js";

/** @typedef {import("../client/sql.js").SQLFragment} SQLFragment */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {"sum" | "avg" | "min" | "max"} Call */
/** @typedef {{column: string, call: Call}} Total */

/** The titles of totals in a column's menu, by SQLite's names. */
export const calls = { sum: "Sum", avg: "Average", min: "Minimum", max: "Maximum" };

/** How many characters of a text are shown. */
const longest = 60;

/** @param {Total} total */
export function nameOf({ column, call }) {
  return `${call}(${column})`;
}

/**
 * The totals with one added, or without it if it was there.
 *
 * @param {Total[]} totals @param {string} column @param {Call} call @returns {Total[]}
 */
export function toggled(totals, column, call) {
  const others = totals.filter((each) => each.column !== column || each.call !== call);
  return others.length < totals.length ? others : [...totals, { column, call }];
}

/**
 * Whether values of a column can be added up.
 *
 * @param {{type: string}} column
 */
export function isNumeric({ type }) {
  return affinityOf(type) !== "TEXT";
}

/**
 * The totals as members of a query; nothing without totals. Totals of missing columns are left out.
 *
 * @param {Table} table @param {Total[]} totals @returns {{totals?: Record<string, string | SQLFragment>}}
 */
export function totalsOf({ name, columns }, totals) {
  const known = totals.flatMap((total) => {
    const column = columns.find((each) => each.name === total.column);
    const isCut = column && !isNumeric(column) && (total.call === "min" || total.call === "max");
    return column ? [[nameOf(total), expression(total.call, columnOf(name, column.name), !isCut)]] : [];
  });
  return known.length > 0 ? { totals: Object.fromEntries(known) } : {};
}

/** @param {Call} call @param {SQLFragment} column @param {boolean} isWhole @returns {SQLFragment} */
function expression(call, column, isWhole) {
  const total = sql.join([sql(/** @type {any} */ ([`${call}(`])), column, sql`)`], "");
  return isWhole ? total : sql.join([sql`substr(`, total, sql(/** @type {any} */ ([`, 1, ${longest})`]))], "");
}

/**
 * As `totalsOf`, but written as a person would.
 *
 * @param {Table} table @param {Total[]} totals @returns {{totals?: Record<string, string>}}
 */
export function totalsToShare({ columns }, totals) {
  const known = totals.filter(({ column }) => columns.some(({ name }) => name === column));
  return known.length > 0 ? { totals: Object.fromEntries(known.map((total) => [nameOf(total), `${total.call}(${readable(total.column)})`])) } : {};
}
