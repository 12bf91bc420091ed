// @ts-check
/** The statements that write rows, with their values as parameters. Pure. */

import { sql } from "../client/sql.js";

/** @typedef {import("../client/sql.js").SQLFragment} SQLFragment */
/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Table} Table */
/** @typedef {Record<string, SQLValue>} Values by the names of columns */

/**
 * The condition for one row, by its key.
 *
 * @param {Values} key @returns {SQLFragment}
 */
export function isRow(key) {
  return sql.join(Object.entries(key).map(([name, value]) => sql`${sql.identifier(name)} IS ${value}`), " AND ");
}

/**
 * The condition for any of several rows. Nested by halves: SQLite limits the depth of expressions.
 *
 * @param {Values[]} keys at least one @returns {SQLFragment}
 */
export function isAnyRow(keys) {
  if (keys.length === 1) return isRow(keys[0]);
  const half = Math.ceil(keys.length / 2);
  return sql`(${isAnyRow(keys.slice(0, half))}) OR (${isAnyRow(keys.slice(half))})`;
}

/**
 * @param {Table} table @param {Values} key @param {string} column @param {SQLValue} value
 * @param {SQLValue} [old] the former value, which must still be exactly this; undefined: any
 */
export function updateOf(table, key, column, value, old) {
  const name = sql.identifier(column);
  const isOld = old === undefined ? sql`` : sql` AND ${isValue(name, old)}`;
  return sql`UPDATE ${sql.identifier(table.name)} SET ${name} = ${value} WHERE ${isRow(key)}${isOld}`;
}

/** How many bytes at either end of a large BLOB are compared. */
const compared = 4096;

/**
 * The condition that a column has a value. Large BLOBs are compared by their length and ends, because a message has no
 * room for both the old and the new one.
 *
 * @param {SQLFragment} name of the column @param {SQLValue} value
 */
function isValue(name, value) {
  if (!(value instanceof Uint8Array) || value.length <= 4 * compared) return sql`${name} COLLATE BINARY IS ${value}`;
  const [first, last] = [value.slice(0, compared), value.slice(-compared)];
  return sql`length(${name}) IS ${value.length} AND substr(${name}, 1, ${compared}) IS ${first} AND substr(${name}, -${compared}) IS ${last}`;
}

/** @param {Table} table @param {Values} key @param {string} column */
export function valueIn(table, key, column) {
  return sql`SELECT ${sql.identifier(column)} AS value FROM ${sql.identifier(table.name)} WHERE ${isRow(key)}`;
}

/**
 * Deletes a row and returns it, so that it can be restored.
 *
 * @param {Table} table @param {Values} key @param {string | null} rowid see `rowidName`
 */
export function deleteOf(table, key, rowid) {
  return sql`DELETE FROM ${sql.identifier(table.name)} WHERE ${isRow(key)} RETURNING ${sql.join(identifiers(table, rowid))}`;
}

/**
 * Deletes several rows. They are read first, because RETURNING leaves out rows that were deleted by a cascade of
 * another of them.
 *
 * @param {Table} table @param {Values[]} keys @param {string | null} rowid
 */
export function deletionsOf(table, keys, rowid) {
  const rows = sql`FROM ${sql.identifier(table.name)} WHERE ${isAnyRow(keys)}`;
  return [sql`SELECT ${sql.join(identifiers(table, rowid))} ${rows}`, sql`DELETE ${rows}`];
}

/**
 * Restores a deleted row, with the same rowid.
 *
 * @param {Table} table @param {Values} row what `deleteOf` returned @param {string | null} rowid
 */
export function restoreOf(table, row, rowid) {
  const names = [...(rowid ? [rowid] : []), ...table.columns.filter(({ generated }) => !generated).map(({ name }) => name)];
  return insertOf(table, Object.fromEntries(names.map((name) => [name, row[name]])));
}

/**
 * @param {Table} table @param {Values} values of the columns that do not get their defaults
 * @param {string[]} [returning] names of columns
 */
export function insertOf(table, values, returning = []) {
  const names = Object.keys(values);
  const into = names.length === 0 ? sql`DEFAULT VALUES`
    : sql`(${sql.join(names.map(sql.identifier))}) VALUES (${sql.join(names.map((name) => values[name]))})`;
  const result = returning.length === 0 ? [] : [sql` RETURNING ${sql.join(returning.map(sql.identifier))}`];
  return sql.join([sql`INSERT INTO ${sql.identifier(table.name)} `, into, ...result], "");
}

/**
 * The name by which the hidden rowid of a table can be written: one that no column has. Null if there is no hidden
 * rowid.
 *
 * @param {Table} table @param {boolean} isHidden see `Catalogue.hasHiddenRowid`
 */
export function rowidName({ columns }, isHidden) {
  const taken = columns.map(({ name }) => name.toLowerCase());
  return isHidden ? ["rowid", "_rowid_", "oid"].find((name) => !taken.includes(name)) ?? null : null;
}

/** @param {Table} table @param {string | null} rowid */
function identifiers({ columns }, rowid) {
  const all = columns.map(({ name }) => sql.identifier(name));
  // The name is not quoted: SQLite would read a quoted name that no column has as a text.
  return rowid ? [sql(/** @type {any} */ ([`${rowid} AS ${rowid}`])), ...all] : all;
}
