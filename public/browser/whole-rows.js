// @ts-check
/** Rows with their whole values; a list has only the beginnings of long ones. */

import { wholeTable } from "./address.js";
import { quoted } from "./identifiers.js";
import { isAnyRow } from "./statements.js";
import { queryOf } from "./table-query.js";

/** @typedef {import("../freshet.js").Row} Row */

/**
 * The query of rows by their keys.
 *
 * @param {import("./catalogue.js").Table} table @param {string[]} key @param {string[]} columns @param {Row[]} rows
 * @returns {import("../freshet.js").Query}
 */
export function wholeRowsQuery(table, key, columns, rows) {
  const { from } = queryOf(table, wholeTable(table.name), null, key);
  const where = isAnyRow(rows.map((row) => Object.fromEntries(key.map((name) => [name, row[name]]))));
  return { from, key: key.map(quoted), select: columns.map(quoted), where };
}
