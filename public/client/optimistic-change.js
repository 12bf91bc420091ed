// @ts-check
/** The effect on a list's rows that the application expects of a write, and the combination of several. Pure. */

import { identity } from "./values.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").OptimisticChange} OptimisticChange */
/** @typedef {import("../freshet.js").StatementResult} StatementResult */
/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {{kind: "insert" | "update" | "delete", row: Row}} Step */
let count = 0;

/** An expected change, while it is laid over a list. */
export class LaidChange {
  /** @type {Step[]} */
  steps;
  /** @type {"queued" | "sent" | "committed"} */
  status = "queued";
  /**
   * The write's commit, and the epoch that it belongs to.
   *
   * @type {{commit: number, epoch: string | undefined} | null}
   */
  committed = null;
  /** The stand-in for keys that the database will assign to new rows. */
  #name = `new ${count += 1}`;
  /**
   * Keys that the database has assigned.
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
   * Learns the keys that the database assigned to new rows, from `RETURNING` or from the rowid of a statement that
   * inserted one row.
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
 * The row with its values as SQLite stores them.
 *
 * @param {Row} row
 */
function plainRow(row) {
  const values = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(values.map(([column, value]) => [column, typeof value === "boolean" ? Number(value) : value]));
}

/**
 * The steps for each row, in order.
 *
 * @param {LaidChange[]} changes @param {readonly string[]} key @returns {Map<string, Step[]>} by key
 */
export function stepsOf(changes, key) {
  /** @type {Map<string, Step[]>} */
  const steps = new Map();
  for (const step of changes.flatMap((change) => change.keyed(key))) {
    const name = identity(key.map((column) => step.row[column] ?? null));
    steps.set(name, [...(steps.get(name) ?? []), step]);
  }
  return steps;
}

/**
 * The row after the change; null: deleted, or unknown.
 *
 * @param {Step[]} steps @param {Row | undefined} base the server's row @param {readonly string[]} columns
 * @returns {Row | null}
 */
export function rowAfter(steps, base, columns) {
  const row = steps.reduce((/** @type {Row | null} */ row, { kind, row: given }) => {
    if (kind === "delete" || (kind === "update" && !row)) return null;
    return Object.fromEntries(columns.map((column) => [column, Object.hasOwn(given, column) ? given[column] : row?.[column] ?? null]));
  }, base ?? null);
  // The same object is returned while nothing differs.
  return row && base && isEqual(row, base) ? base : row;
}

/**
 * Whether the row is deleted, whatever it was.
 *
 * @param {Step[]} steps
 */
export function isGone(steps) {
  return steps.reduce((isGone, { kind }) => (kind === "update" ? isGone : kind === "delete"), false);
}

/** @param {Row} left @param {Row} right */
export function isEqual(left, right) {
  return Object.keys(left).every((column) => left[column] === right[column] || identity([left[column]]) === identity([right[column]]));
}
