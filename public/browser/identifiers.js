// @ts-check
/** Names in SQL: quoted for SQLite, or plain where possible for readers. Pure. */

import { sql } from "../client/sql.js";

/** SQLite's keywords that cannot be names of columns and tables as they are. */
const reserved = new Set(`add all alter and as autoincrement between case check collate commit constraint create default deferrable
  delete distinct drop else escape except exists foreign from group having in index insert intersect into is isnull join limit not
  notnull null on or order primary references returning select set table then to transaction union unique update using values when
  where`.split(/\s+/));

/** @param {string} name */
export function quoted(name) {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * The name as a person would write it: quoted only if necessary.
 *
 * @param {string} name
 */
export function readable(name) {
  return /^[a-z_][a-z0-9_]*$/i.test(name) && !reserved.has(name.toLowerCase()) ? name : quoted(name);
}

/**
 * A column with its table's name, because another part of the query may use the same name for something else.
 *
 * @param {string} table @param {string} column
 */
export function columnOf(table, column) {
  return sql.join([sql.identifier(table), sql.identifier(column)], ".");
}
