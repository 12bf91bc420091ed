// @ts-check
/** Looks up rows that a column may refer to, by their value there and by what they are called. */

import { sql } from "../client/sql.js";
import { affinityOf } from "./affinity.js";
import { conditionOf } from "./filters.js";
import { quoted } from "./identifiers.js";
import { namingColumn } from "./naming-column.js";
import { rowsOnce } from "./rows-once.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../shell/schema.js").Table} Table */
/** @typedef {import("../shell/schema.js").Column} Column */
/** @typedef {{value: SQLValue, name: string}} Hit `name` is empty if only the value names the row */
/** @typedef {{table: string, find: (text: string) => Promise<Hit[]>}} ReferenceSearch */

/** How many rows are shown. */
const mostHits = 10;
/** How many characters of a name are shown. */
const shownLetters = 80;

/**
 * @param {{client: import("../freshet.js").Client, catalogue: import("./catalogue.js").Catalogue, table: Table}} place
 * @param {Column} column
 * @returns {ReferenceSearch | null} null: it refers to nothing, or only together with other columns
 */
export function referenceSearch({ client, catalogue, table }, { name }) {
  const reference = catalogue.referencesFrom(table).find(({ columns }) => columns.length === 1 && columns[0] === name);
  const target = reference && catalogue.find(reference.table);
  const key = target && catalogue.keyOf(target);
  if (!target || !key) return null;
  return {
    table: target.name,
    async find(text) {
      const rows = await rowsOnce(client, hitsQuery(target, key, reference.references[0], text));
      return rows.map((row) => ({ value: row.value, name: String(row.name ?? "") }));
    },
  };
}

/**
 * @param {Table} target @param {string[]} key of its rows @param {string} value name of the column that is referred to
 * @param {string} text that was typed
 * @returns {Query} rows of `value` and `name`; the row with exactly that value first, then those that begin with it
 */
export function hitsQuery(target, key, value, text) {
  const { columns } = target;
  const naming = namingColumn(columns) ?? columns.find(({ name, type, key: place }) => place === 0 && name !== value && affinityOf(type) === "TEXT")?.name ?? null;
  const own = sql.identifier(value);
  const called = naming === null ? own : sql.identifier(naming);
  const typed = text.trim();
  const contains = (/** @type {import("../client/sql.js").SQLFragment} */ column) => conditionOf({ column: "", operator: "contains", value: typed }, undefined, column);
  const order = [sql`CAST(${own} AS TEXT) = ${typed} DESC`, sql`(instr(${own}, ${typed}) = 1 OR instr(lower(${called}), ${typed.toLowerCase()}) = 1) DESC`, sql`${called} COLLATE NOCASE`];
  return {
    from: quoted(target.name), key: key.map(quoted), limit: mostHits,
    select: [sql`${own} AS value`, naming === null ? sql`NULL AS name` : sql`substr(${called}, 1, ${shownLetters}) AS name`],
    ...(typed !== "" && { where: naming === null ? contains(own) : sql`${contains(own)} OR ${contains(called)}` }),
    orderBy: typed === "" ? order.slice(2) : order,
  };
}
