// @ts-check
/** What somebody says a write will do to a list's rows, and what several of them come to. Pure. */

import { identity } from "./values.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").OptimisticChange} OptimisticChange */
/** @typedef {import("../freshet.js").StatementResult} StatementResult */
/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {{kind: "insert" | "update" | "delete", row: Row}} Step */
/**
 * What becomes of the row with one key: `given` over what it is, over nothing when it `isFresh`; null: it goes.
 *
 * @typedef {{given: Row, isFresh: boolean, isInsert: boolean} | null} Outcome
 */

let count = 0;

/** One change, while it is laid over a list. */
export class LaidChange {
  /** @type {Step[]} */
  steps;
  /** @type {"queued" | "sent" | "committed"} */
  status = "queued";
  /**
   * Of the write, and the epoch that it belongs to.
   *
   * @type {{commit: number, epoch: string | undefined} | null}
   */
  committed = null;
  /** What stands for the keys that the database will give to new rows. */
  #name = `new ${count += 1}`;
  /**
   * Keys that it has given.
   *
   * @type {Row[]}
   */
  #keys = [];

  /** @param {OptimisticChange} change */
  constructor(change) {
    this.change = change;
    this.steps = /** @type {const} */ (["delete", "update", "insert"])
      .flatMap((kind) => rowsOf(change[kind]).map((row) => ({ kind, row: plainRow(row) })));
  }

  /**
   * The steps, with a key in each of them.
   *
   * @param {readonly string[]} key
   */
  keyed(key) {
    let inserts = 0;
    return this.steps.map(({ kind, row }) => {
      if (kind !== "insert") return { kind, row };
      const index = inserts++;
      const missing = key.filter((column) => row[column] === undefined || row[column] === null);
      const own = Object.fromEntries(missing.map((column) => [column, this.#keys[index]?.[column] ?? `${this.#name}.${index}`]));
      return { kind, row: { ...row, ...own } };
    });
  }

  /**
   * The database has given keys to new rows: `RETURNING` says them, or the rowid of a statement that inserted one row.
   *
   * @param {StatementResult[]} results @param {readonly string[]} key
   */
  learn(results, key) {
    const returned = results.flatMap(({ rows }) => rows).filter((row) => key.every((column) => row[column] !== undefined));
    const rowids = results.filter(({ lastInsertRowid, changes }) => lastInsertRowid !== null && changes === 1);
    if (returned.length > 0) this.#keys = returned;
    else if (key.length === 1) this.#keys = rowids.map(({ lastInsertRowid }) => ({ [key[0]]: lastInsertRowid }));
  }
}

/** @param {any} rows one, several or none @returns {Row[]} */
function rowsOf(rows) {
  const list = rows === undefined || rows === null ? [] : [rows].flat();
  for (const row of list) if (typeof row !== "object" || row === null) throw new TypeError("A change has rows: { insert, update, delete }, each an object or several");
  return list;
}

/**
 * With SQLite's values.
 *
 * @param {Row} row
 */
function plainRow(row) {
  const values = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(values.map(([column, value]) => [column, typeof value === "boolean" ? Number(value) : value]));
}

/**
 * What changes, one after the other, come to.
 *
 * @param {LaidChange[]} changes @param {readonly string[]} key @returns {Map<string, Outcome>} by key
 */
export function outcomesOf(changes, key) {
  /** @type {Map<string, Outcome>} */
  const outcomes = new Map();
  for (const { kind, row } of changes.flatMap((change) => change.keyed(key))) {
    const name = identity(key.map((column) => row[column] ?? null));
    const before = outcomes.get(name);
    if (kind === "delete") outcomes.set(name, null);
    else if (kind === "insert") outcomes.set(name, { given: row, isFresh: before === null, isInsert: true });
    else if (before !== null) outcomes.set(name, { isFresh: false, isInsert: false, ...before, given: { ...before?.given, ...row } });
  }
  return outcomes;
}

/**
 * The row as it is to be; null: there is none.
 *
 * @param {Outcome} outcome @param {Row | undefined} base what the server has @param {readonly string[]} columns
 * @returns {Row | null}
 */
export function rowAfter(outcome, base, columns) {
  if (!outcome || (!base && !outcome.isInsert)) return null;
  const under = outcome.isFresh ? undefined : base;
  const row = Object.fromEntries(columns.map((column) => [column, Object.hasOwn(outcome.given, column) ? outcome.given[column] : under?.[column] ?? null]));
  // The same object for as long as nothing differs.
  return base && isEqual(row, base) ? base : row;
}

/** @param {Row} left @param {Row} right */
export function isEqual(left, right) {
  return Object.keys(left).every((column) => left[column] === right[column] || identity([left[column]]) === identity([right[column]]));
}
