// @ts-check
/**
 * The consequences of a deletion: rows that foreign keys delete too (ON DELETE CASCADE), rows that they change (SET
 * NULL, SET DEFAULT), and rows that forbid it; and the statements that bring back all rows of its commit. Pure.
 */

import { sql } from "../client/sql.js";
import { insertOf, isAnyRow, isRow, rowidName } from "./statements.js";

/** @typedef {import("../client/sql.js").SQLFragment} SQLFragment */
/** @typedef {import("../freshet.js").RowChange} RowChange */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./catalogue.js").Catalogue} Catalogue */
/** @typedef {import("./catalogue.js").Reference} Reference */
/** @typedef {import("../shell/schema.js").Table} Table */
/** @typedef {import("./statements.js").Values} Values */
/** @typedef {{table: string, rows: number}} Count */
/** @typedef {{deleted: Count[], changed: Count[], refusing: Count[]}} Consequences of other rows */

/**
 * The tables from which rows may be deleted together with a row; the row's own table first.
 *
 * @param {Catalogue} catalogue @param {Table} table @returns {Table[]}
 */
export function cascadeOf(catalogue, table) {
  const found = [table];
  for (const each of found) {
    for (const { table: name, onDelete } of catalogue.referencesTo(each)) {
      const other = /** @type {Table} */ (catalogue.find(name));
      if (onDelete === "cascade" && !found.includes(other)) found.push(other);
    }
  }
  return found;
}

/**
 * A common table expression `gone` with the keys of all rows that are deleted. UNION follows each row once, so that
 * tables may refer to themselves and to each other.
 *
 * @param {Catalogue} catalogue @param {Table} table @param {Values[]} rows their keys
 */
function goneOf(catalogue, table, rows) {
  const tables = cascadeOf(catalogue, table);
  const keys = tables.map((each) => catalogue.keyOf(each) ?? []);
  const width = Math.max(...keys.map(({ length }) => length));
  const columns = Array.from({ length: width }, (_, index) => sql.identifier(`k${index}`));
  const keyParts = (/** @type {string} */ alias, /** @type {string[]} */ names) => sql.join(columns.map((_, index) =>
    (index < names.length ? sql`${sql.identifier(alias)}.${sql.identifier(names[index])}` : sql`NULL`)));
  const isGone = (/** @type {number} */ place, /** @type {string} */ alias) => sql.join([sql`gone.place = ${place}`,
    ...keys[place].map((name, index) => sql`${sql.identifier(alias)}.${sql.identifier(name)} IS gone.${columns[index]}`)], " AND ");
  /** Rows that refer to deleted rows of one table. */
  const referring = (/** @type {number} */ place, /** @type {Reference} */ { table: child, columns: names, references }) => {
    const isReferring = names.map((name, index) => sql`p.${sql.identifier(references[index])} = c.${sql.identifier(name)}`);
    return sql` FROM gone CROSS JOIN ${sql.identifier(tables[place].name)} AS p ON ${isGone(place, "p")}
      CROSS JOIN ${sql.identifier(child)} AS c ON ${sql.join(isReferring, " AND ")}`;
  };
  const references = tables.flatMap((each, place) => catalogue.referencesTo(each).map((reference) => ({ place, reference, child: /** @type {Table} */ (catalogue.find(reference.table)) })));
  const followed = references.filter(({ reference }) => reference.onDelete === "cascade").map(({ place, reference, child }) =>
    sql` UNION SELECT ${tables.indexOf(child)}, ${keyParts("c", keys[tables.indexOf(child)])}${referring(place, reference)}`);
  const first = sql`SELECT 0, ${keyParts("p", keys[0])} FROM ${sql.identifier(table.name)} AS p WHERE ${isAnyRow(rows)}`;
  const clause = sql`WITH RECURSIVE gone(${sql.join([sql`place`, ...columns])}) AS MATERIALIZED (${first}${sql.join(followed, "")})`;
  return { tables, columns, references, clause, isGone, referring };
}

/**
 * A SELECT whose rows are `effect` (`deleted`, `changed`, `refusing`), `place` (of the table in the list that is returned) and `n`.
 *
 * @param {Catalogue} catalogue @param {Table} table @param {Values[]} rows their keys
 * @returns {{statement: SQLFragment, tables: Table[]}}
 */
export function countingOf(catalogue, table, rows) {
  const { tables, columns, references, clause, referring } = goneOf(catalogue, table, rows);
  const listed = [...tables];
  const others = references.filter(({ reference }) => reference.onDelete !== "cascade").map(({ place, reference, child }) => {
    const own = catalogue.keyOf(child) ?? [];
    const wide = Array.from({ length: Math.max(columns.length, own.length) });
    const selected = sql.join(wide.map((_, index) => (index < own.length ? sql`c.${sql.identifier(own[index])}` : sql`NULL`)));
    const gone = sql.join(wide.map((_, index) => columns[index] ?? sql`NULL`));
    const except = tables.includes(child) ? sql` EXCEPT SELECT ${gone} FROM gone WHERE place = ${tables.indexOf(child)}` : sql``;
    listed.push(child);
    return sql` UNION ALL SELECT ${reference.onDelete ? "changed" : "refusing"}, ${listed.length - 1}, count(*) FROM (SELECT DISTINCT ${selected}${referring(place, reference)}${except})`;
  });
  const statement = sql`${clause} SELECT 'deleted' AS effect, place, count(*) AS n FROM gone GROUP BY place${sql.join(others, "")}`;
  return { statement, tables: listed };
}

/**
 * SELECTs of the rows that are deleted from tables with generated columns, because the feed of changes does not know
 * their former states.
 *
 * @param {Catalogue} catalogue @param {Table} table @param {Values[]} rows their keys
 * @returns {{table: Table, statement: SQLFragment}[]}
 */
export function readingsOf(catalogue, table, rows) {
  const { tables, clause, isGone } = goneOf(catalogue, table, rows);
  return tables.flatMap((each, place) => {
    const written = each.columns.filter(({ generated }) => !generated);
    if (place === 0 || written.length === each.columns.length) return [];
    const names = [...new Set([...(catalogue.keyOf(each) ?? []), ...written.map(({ name }) => name)])];
    const selected = sql.join(names.map((name) => sql`c.${sql.identifier(name)} AS ${sql.identifier(name)}`));
    return [{ table: each, statement: sql`${clause} SELECT ${selected} FROM gone CROSS JOIN ${sql.identifier(each.name)} AS c ON ${isGone(place, "c")}` }];
  });
}

/**
 * The changes, with former rows that were read before if the changes do not have them.
 *
 * @param {Catalogue} catalogue @param {RowChange[]} changes @param {{table: Table, rows: Row[]}[]} read
 * @returns {RowChange[]}
 */
export function completed(catalogue, changes, read) {
  const rows = new Map(read.flatMap(({ table, rows: all }) => all.map((row) => [JSON.stringify([table.name, (catalogue.keyOf(table) ?? []).map((name) => String(row[name]))]), row])));
  return changes.map((change) => {
    if (change.old || change.op !== "delete") return change;
    const key = (catalogue.keyOf(/** @type {Table} */ (catalogue.find(change.table))) ?? []).map((name) => String(change.key?.[name]));
    const old = rows.get(JSON.stringify([change.table, key]));
    return old ? { ...change, old } : change;
  });
}

/**
 * @param {Row[]} rows of `countingOf` @param {Table[]} tables @param {number} [own] how many rows the user deletes,
 * which do not count
 * @returns {Consequences}
 */
export function consequencesIn(rows, tables, own = 1) {
  const counts = (/** @type {string} */ effect) => {
    /** @type {Map<string, number>} */
    const found = new Map();
    for (const { effect: its, place, n } of rows) {
      const { name } = tables[Number(place)];
      // The first table's count includes the rows that the user deletes.
      const count = Number(n) - (effect === "deleted" && place === 0 ? own : 0);
      if (its === effect && count > 0) found.set(name, (found.get(name) ?? 0) + count);
    }
    return [...found].map(([table, count]) => ({ table, rows: count }));
  };
  return { deleted: counts("deleted"), changed: counts("changed"), refusing: counts("refusing") };
}

/**
 * The deletion of a row if no row refers to it; otherwise it changes nothing.
 *
 * @param {Catalogue} catalogue @param {Table} table @param {Values} key
 */
export function unreferredDeletionOf(catalogue, table, key) {
  const own = sql.identifier(table.name);
  const isUnreferred = catalogue.referencesTo(table).map(({ table: child, columns, references }) => {
    const isReferring = columns.map((name, index) => sql`c.${sql.identifier(name)} = ${own}.${sql.identifier(references[index])}`);
    return sql` AND NOT EXISTS (SELECT 1 FROM ${sql.identifier(child)} AS c WHERE ${sql.join(isReferring, " AND ")})`;
  });
  return sql`DELETE FROM ${own} WHERE ${isRow(key)}${sql.join(isUnreferred, "")}`;
}

/**
 * The statements that undo the deletions and updates of a commit. Rows that others refer to come first. Rows that
 * another program has changed since, and rows that triggers added, stay.
 *
 * @param {Catalogue} catalogue @param {RowChange[]} changes @returns {SQLFragment[] | null} null: not all former rows are known
 */
export function restoring(catalogue, changes) {
  const known = changes.filter(({ table }) => catalogue.find(table));
  const deleted = known.filter(({ op }) => op === "delete");
  const updated = known.filter(({ op }) => op === "update");
  if ([...deleted, ...updated].some(({ old }) => !old)) return null;
  return [...insertions(catalogue, deleted), ...updated.flatMap((change) => updateBack(catalogue, change))];
}

/**
 * Rows that refer to each other in a circle are inserted without a reference, and get it when all of them are there.
 *
 * @param {Catalogue} catalogue @param {RowChange[]} deleted
 */
function insertions(catalogue, deleted) {
  const parentsOf = parentsAmong(catalogue, deleted);
  /** @type {Set<RowChange>} */
  const there = new Set();
  /** @type {SQLFragment[]} */
  const later = [];
  const inserted = parentsFirst(deleted, parentsOf).map((change) => {
    const early = parentsOf(change).filter(({ parent }) => parent !== change && !there.has(parent)).flatMap(({ columns }) => columns);
    there.add(change);
    const without = Object.fromEntries(early.map((name) => [name, null]));
    if (early.length > 0) later.push(...updateBack(catalogue, { ...change, old: Object.fromEntries(early.map((name) => [name, change.old?.[name]])), new: without }));
    return insertionOf(catalogue, { ...change, old: { ...change.old, ...without } });
  });
  return [...inserted, ...later];
}

/**
 * Which of the deleted rows a row refers to, and by which columns.
 *
 * @param {Catalogue} catalogue @param {RowChange[]} deleted
 * @returns {(change: RowChange) => {parent: RowChange, columns: string[]}[]}
 */
function parentsAmong(catalogue, deleted) {
  /** @type {Map<string, Map<string, RowChange>>} by table and columns, then by their values */
  const indexes = new Map();
  const valuesOf = (/** @type {RowChange} */ { old = {} }, /** @type {string[]} */ columns) => JSON.stringify(columns.map((name) => String(old[name])));
  const indexOf = (/** @type {string} */ table, /** @type {string[]} */ columns) => {
    const name = JSON.stringify([table, columns]);
    const index = indexes.get(name) ?? new Map(deleted.filter((change) => change.table === table).map((change) => [valuesOf(change, columns), change]));
    indexes.set(name, index);
    return index;
  };
  return (change) => catalogue.referencesFrom(/** @type {Table} */ (catalogue.find(change.table))).flatMap(({ table, columns, references }) => {
    const parent = indexOf(table, references).get(valuesOf(change, columns));
    return parent ? [{ parent, columns }] : [];
  });
}

/** @param {RowChange[]} deleted @param {ReturnType<typeof parentsAmong>} parentsOf */
function parentsFirst(deleted, parentsOf) {
  /** @type {Set<RowChange>} in their order */
  const result = new Set();
  const begun = new Set();
  // Not by recursion: a chain of rows may be long.
  for (const change of deleted) {
    const path = [change];
    while (path.length > 0) {
      const last = path[path.length - 1];
      const isNew = !begun.has(last);
      begun.add(last);
      const parents = isNew ? parentsOf(last).map(({ parent }) => parent).filter((parent) => !begun.has(parent)) : [];
      if (parents.length > 0) path.push(...parents);
      else result.add(/** @type {RowChange} */ (path.pop()));
    }
  }
  return [...result];
}

/** @param {Catalogue} catalogue @param {RowChange} change */
function insertionOf(catalogue, { table: name, key, old = {} }) {
  const table = /** @type {Table} */ (catalogue.find(name));
  const rowid = rowidName(table, catalogue.hasHiddenRowid(table));
  const number = rowid === null ? undefined : key?.[rowid] ?? old[rowid];
  const values = Object.entries(old).filter(([column]) => table.columns.some((each) => each.name === column && !each.generated));
  return insertOf(table, Object.fromEntries([...(number === undefined ? [] : [[rowid, number]]), ...values]));
}

/** @param {Catalogue} catalogue @param {RowChange} change */
function updateBack(catalogue, { table: name, key = {}, old = {}, new: now = {} }) {
  const table = /** @type {Table} */ (catalogue.find(name));
  const columns = Object.keys(old).filter((column) => table.columns.some((each) => each.name === column && !each.generated));
  if (columns.length === 0) return [];
  const set = columns.map((column) => sql`${sql.identifier(column)} = ${old[column]}`);
  const isStill = columns.map((column) => sql`${sql.identifier(column)} COLLATE BINARY IS ${now[column]}`);
  return [sql`UPDATE ${sql.identifier(name)} SET ${sql.join(set)} WHERE ${isRow(key)} AND ${sql.join(isStill, " AND ")}`];
}
