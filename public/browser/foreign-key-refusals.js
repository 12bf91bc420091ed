// @ts-check
/** Finds the table that a foreign key error is about, because SQLite says only that a constraint failed. */

import { sql } from "../client/sql.js";
import { isRow } from "./statements.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("./catalogue.js").Catalogue} Catalogue */
/** @typedef {import("../shell/schema.js").Table} Table */
/** @typedef {import("./statements.js").Values} Values */

/**
 * @param {import("../freshet.js").Client} client @param {Catalogue} catalogue @param {Table} table
 * @param {Values} before the row's key, and the former values of the written columns; empty for a new row
 * @param {Values} written columns with their new values
 * @returns {Promise<string>} a sentence; empty if the table is not found
 */
export async function refusalOf(client, catalogue, table, before, written) {
  const from = catalogue.referencesFrom(table).filter(({ columns }) => columns.every((name) => (written[name] ?? null) !== null));
  const to = catalogue.referencesTo(table).filter(({ references }) => references.every((name) => (before[name] ?? null) !== null) && references.some((name) => name in written));
  const statements = [
    ...from.map(({ columns, table: other, references }) => existence(other, Object.fromEntries(references.map((name, index) => [name, written[columns[index]]])))),
    ...to.map(({ columns, table: other, references }) => existence(other, Object.fromEntries(columns.map((name, index) => [name, before[references[index]]])))),
  ];
  if (statements.length === 0) return "";
  const { results } = await client.transact(statements);
  const isThere = results.map(({ rows }) => rows.length > 0);
  const sentences = [
    ...from.filter((_, index) => !isThere[index]).map(({ columns, table: other }) => `${other} has no ${columns.map((name) => String(written[name])).join(", ")}, to which ${columns.join(", ")} would refer`),
    ...to.filter((_, index) => isThere[from.length + index]).map(({ columns, table: other }) => `rows of ${other} refer to it by ${columns.join(", ")}`),
  ];
  return sentences.join("; ");
}

/** @param {string} table @param {Values} values */
function existence(table, values) {
  return sql`SELECT 1 FROM ${sql.identifier(table)} WHERE ${isRow(values)} LIMIT 1`;
}
