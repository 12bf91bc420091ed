// @ts-check
/** Writes to one table, and remembers how to take it back. */

import { cellText } from "./cell-text.js";
import { deleteOf, insertOf, restoreOf, rowidName, updateOf, valueIn } from "./statements.js";
import { isSame } from "./value-editor.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("../freshet.js").OptimisticChange} OptimisticChange */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {Record<string, SQLValue>} Values */

/** Texts of this many letters and more are cut where they are told. */
const toldLetters = 60;

/** @param {any} value @param {import("../shell/schema.js").Column} [column] */
function inWords(value, column = { name: "", type: "", notNull: false, key: 0 }) {
  const { text, kind } = cellText(value, column);
  return kind === "text" ? `“${text.slice(0, toldLetters)}${text.length > toldLetters ? "…" : ""}”` : text;
}

/** The row that was to be written is not there. */
export class GoneError extends Error {
  constructor() {
    super("Somebody else has deleted this row.");
  }
}

/** The value that was to be replaced is another one by now: `current`, which the next attempt may replace. */
export class ConflictError extends Error {
  /** @param {SQLValue} current @param {import("../shell/schema.js").Column} [column] */
  constructor(current, column) {
    super(`Somebody else has changed this: it is ${inWords(current, column)} now.`);
    this.current = current;
  }
}

export class TableWriter {
  /**
   * @param {Client} client @param {Table} table @param {string[]} key @param {boolean} hasHiddenRowid
   * @param {import("../shell/undo.js").Undo} undo
   * @param {() => LiveList | null} list where changes show before the server has made them
   * @param {string} besides what the deletion of a row may change and undoing it does not
   */
  constructor(client, table, key, hasHiddenRowid, undo, list = () => null, besides = "") {
    this.client = client;
    this.list = list;
    this.table = table;
    this.key = key;
    this.rowid = rowidName(table, hasHiddenRowid);
    this.undo = undo;
    this.besides = besides;
  }

  /**
   * The columns that identify a row, with its values.
   *
   * @param {Row} row @returns {Values}
   */
  keyOf(row) {
    return Object.fromEntries(this.key.map((name) => [name, row[name]]));
  }

  /**
   * Whether a change shows before the server has made it: a row with another key is another row.
   *
   * @param {string} column
   */
  showsAtOnce(column) {
    return !this.key.includes(column) && this.list() !== null;
  }

  /**
   * @param {Row} row @param {string} column @param {SQLValue} value @param {SQLValue} old what it was when the user began: another value is not overwritten
   * @throws {ConflictError} another program has changed the value
   * @throws {GoneError}
   */
  async update(row, column, value, old) {
    const key = this.keyOf(row);
    const { table } = this;
    const afterwards = column in key ? { ...key, [column]: value } : key;
    const change = this.showsAtOnce(column) ? { update: { ...key, [column]: value } } : null;
    const { changes, results } = await this.#write(change, [updateOf(table, key, column, value, old), valueIn(table, afterwards, column)]);
    // A write that was sent again says nothing more.
    const [made, { rows: [now] } = { rows: [{ value }] }] = results;
    if ((made?.changes ?? changes) === 0) {
      if (!now || column in key) throw new GoneError();
      if (isSame(now.value, value)) return;
      if (isSame(now.value, old)) throw new Error("It stays as it is: a trigger keeps it, or it holds bytes that are no text.");
      throw new ConflictError(now.value, table.columns.find(({ name }) => name === column));
    }
    // As it is stored: SQLite may have converted it, a trigger changed it.
    const stored = now ? now.value : value;
    this.undo.push({
      title: `${column} of ${this.titleOf(row)} changed.`,
      statements: [updateOf(table, afterwards, column, old, stored), valueIn(table, column in key ? key : afterwards, column)],
      objection: ({ results: [{ changes: undone }, { rows: [{ value: current } = { value: undefined }] }] }) => {
        if (undone > 0 || isSame(current, old)) return null;
        return current === undefined ? "The row is not there any more." : `Somebody else has changed it: it is ${inWords(current)} now.`;
      },
      forced: [updateOf(table, afterwards, column, old)],
    });
  }

  /**
   * Whether the row is there still.
   *
   * @param {Row} row
   */
  async hasRow(row) {
    const { results: [{ rows }] } = await this.client.transact(valueIn(this.table, this.keyOf(row), this.key[0]));
    return rows.length > 0;
  }

  /** @param {Row} row @param {() => void} [restored] called when it is back */
  async delete(row, restored) {
    const key = this.keyOf(row);
    const { changes, results } = await this.#write({ delete: key }, deleteOf(this.table, key, this.rowid));
    // A write that was sent again does not say what it took away when that was much.
    if (changes > 0 && results.length === 0) return;
    const [{ rows }] = results;
    if (rows.length === 0) throw new GoneError();
    const statements = rows.map((gone) => restoreOf(this.table, gone, this.rowid));
    const caution = this.besides && `Undo brings back the row, and not ${this.besides}.`;
    this.undo.push({ title: `${this.titleOf(row)} deleted.`, caution, statements, done: restored });
  }

  /** @param {OptimisticChange | null} change @param {import("../freshet.js").Transaction} statement */
  #write(change, statement) {
    const list = this.list();
    return list && change ? list.optimistically(change, statement) : this.client.transact(statement);
  }

  /** @param {Values} values @returns {Promise<Row>} the key of the new row */
  async insert(values) {
    const { results: [{ rows: [row] }] } = await this.client.transact(insertOf(this.table, values, this.key));
    this.undo.push({ title: `${this.titleOf(row)} added.`, statements: [deleteOf(this.table, this.keyOf(row), this.rowid)] });
    return row;
  }

  /** @param {Row} row */
  titleOf(row) {
    return `${this.table.name} ${this.key.map((name) => String(row[name])).join(", ")}`;
  }
}
