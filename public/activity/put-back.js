// @ts-check
/** Statements that restore rows to their state before a change, unless they have changed again since. Pure. */

import { sql } from "../client/sql.js";
import { insertOf, isRow } from "../browser/statements.js";

/** @typedef {import("../client/sql.js").SQLFragment} SQLFragment */
/** @typedef {import("../freshet.js").RowChange} RowChange */
/** @typedef {import("../shell/schema.js").Table} Table */
/** @typedef {Record<string, any>} Values */

/** @param {RowChange} change @returns {boolean} whether the row's former state is known */
export function canPutBack({ op, old }) {
  return op === "insert" || ((op === "update" || op === "delete") && old !== undefined);
}

/** @param {Table} table @param {Values} values @returns {Values} those of columns that can be written */
function written({ columns }, values) {
  const generated = new Set(columns.filter((column) => column.generated).map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !generated.has(name)));
}

/** @param {Values} values @returns {SQLFragment} a comparison by exact characters, whatever the collation */
function isStill(values) {
  return sql.join(Object.entries(values).map(([name, value]) => sql`${sql.identifier(name)} COLLATE BINARY IS ${value}`), " AND ");
}

/**
 * @param {Table} table @param {RowChange} change one that `canPutBack`
 * @returns {SQLFragment} changes one row, or none if the row has changed since
 */
export function putBackOf(table, { op, key = {}, old = {}, new: row = {} }) {
  const name = sql.identifier(table.name);
  // The key has the rowid if no column has it.
  if (op === "delete") return insertOf(table, written(table, { ...key, ...old }));
  if (op === "insert") return sql`DELETE FROM ${name} WHERE ${isRow(key)} AND ${isStill(written(table, row))}`;
  const values = written(table, old);
  const now = Object.fromEntries(Object.keys(values).map((column) => [column, row[column]]));
  const assignments = Object.entries(values).map(([column, value]) => sql`${sql.identifier(column)} = ${value}`);
  return sql`UPDATE ${name} SET ${sql.join(assignments)} WHERE ${isRow(key)} AND ${isStill(now)}`;
}

/**
 * The opposite of `putBackOf`: makes the row what the change made it.
 *
 * @param {Table} table @param {RowChange} change @returns {SQLFragment}
 */
export function repeatOf(table, change) {
  const { op, key, old = {}, new: row = {} } = change;
  if (op === "update") {
    const then = Object.fromEntries(Object.keys(old).map((column) => [column, row[column]]));
    return putBackOf(table, { ...change, old: then, new: { ...row, ...old } });
  }
  return putBackOf(table, { table: change.table, op: op === "insert" ? "delete" : "insert", key, old: row, new: old });
}

/**
 * Sorts changes in the order in which they can be put back: inserted rows are removed first, and deleted rows come back
 * last.
 *
 * @param {readonly RowChange[]} changes @returns {RowChange[]}
 */
export function inPutBackOrder(changes) {
  const rank = { insert: 0, update: 1, delete: 2, schema: 3 };
  return changes.filter(canPutBack).reverse().sort((left, right) => rank[left.op] - rank[right.op]);
}
