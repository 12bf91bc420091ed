// @ts-check
/** Writes to one table, and remembers how to undo the writes. */

import { plainTransaction } from "../client/sql.js";
import { encoded } from "../client/values.js";
import { formatted } from "../shell/dom.js";
import { reasonOf } from "../shell/reason.js";
import { cellText } from "./cell-text.js";
import { consequencesIn, countingOf, restoring, unreferredDeletionOf } from "./deletion-plan.js";
import { refusalOf } from "./foreign-key-refusals.js";
import { deleteOf, deletionsOf, insertOf, restoreOf, rowidName, updateOf, valueIn } from "./statements.js";
import { isSame } from "./value-editor.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("../freshet.js").OptimisticChange} OptimisticChange */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {Record<string, SQLValue>} Values */

/** Texts of this many characters or more are cut in messages. */
const toldLetters = 60;

/** @param {any} value @param {import("../shell/schema.js").Column} [column] */
function inWords(value, column = { name: "", type: "", notNull: false, key: 0 }) {
  const { text, kind } = cellText(value, column);
  if (kind === "number") return String(value);
  return kind === "text" ? `“${text.slice(0, toldLetters)}${text.length > toldLetters ? "…" : ""}”` : text;
}

/** The error that the row to be written does not exist any more. */
export class GoneError extends Error {
  constructor() {
    super("Somebody else has deleted this row.");
  }
}

/**
 * The error that the value to be replaced has changed. `current` is the new value, which the next attempt may replace.
 */
export class ConflictError extends Error {
  /** @param {SQLValue} current @param {import("../shell/schema.js").Column} [column] */
  constructor(current, column) {
    super(`Somebody else has changed this: it is ${inWords(current, column)} now.`);
    this.current = current;
  }
}

export class TableWriter {
  /**
   * @param {Client} client @param {import("./catalogue.js").Catalogue} catalogue @param {Table} table @param {string[]} key
   * @param {import("../shell/undo.js").Undo} undo
   * @param {() => LiveList | null} list the list in which changes show before the server has made them
   */
  constructor(client, catalogue, table, key, undo, list = () => null) {
    this.client = client;
    this.catalogue = catalogue;
    this.list = list;
    this.table = table;
    this.key = key;
    this.rowid = rowidName(table, catalogue.hasHiddenRowid(table));
    this.undo = undo;
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
   * Whether a change shows before the server has made it. Changes of a key do not, because the row would be a different
   * one.
   *
   * @param {string} column
   */
  showsAtOnce(column) {
    return !this.key.includes(column) && this.list() !== null;
  }

  /**
   * @param {Row} row @param {string} column @param {SQLValue} value @param {SQLValue} old the value when the user began
   * to edit: if it has changed since, it is not overwritten
   * @throws {ConflictError} another program has changed the value
   * @throws {GoneError}
   */
  update(row, column, value, old) {
    return this.undo.waitFor(this.#update(row, column, value, old));
  }

  /** @param {Row} row @param {string} column @param {SQLValue} value @param {SQLValue} old */
  async #update(row, column, value, old) {
    const key = this.keyOf(row);
    const { table } = this;
    const afterwards = column in key ? { ...key, [column]: value } : key;
    const change = this.showsAtOnce(column) ? { update: { ...key, [column]: value } } : null;
    const statements = [updateOf(table, key, column, value, old), valueIn(table, afterwards, column)];
    const { changes, results } = await this.#named(this.#write(change, statements), { ...row, [column]: old }, { [column]: value });
    // The answer to a write that was sent again has no rows.
    const [made, { rows: [now] } = { rows: [{ value }] }] = results;
    if ((made?.changes ?? changes) === 0) {
      if (!now || column in key) throw new GoneError();
      if (isSame(now.value, value)) return;
      if (isSame(now.value, old)) throw new Error("It stays as it is: a trigger keeps it, or it holds bytes that are no text.");
      throw new ConflictError(now.value, table.columns.find(({ name }) => name === column));
    }
    // The value as stored: SQLite may have converted it, or a trigger changed it.
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
   * Whether the row still exists.
   *
   * @param {Row} row
   */
  async hasRow(row) {
    const { results: [{ rows }] } = await this.client.transact(valueIn(this.table, this.keyOf(row), this.key[0]));
    return rows.length > 0;
  }

  /** @param {Row[]} rows @param {() => void} [restored] called when they are back */
  async delete(rows, restored) {
    const deletion = await this.deleteUnsaid(rows);
    if (!deletion) return;
    const title = `${this.titleOf(...deletion.gone)} deleted.`;
    const statements = within(this.client, this.restoringOf(deletion.gone));
    if (statements) this.undo.push({ title, statements, done: restored });
    else this.undo.say(`${title} They are too much for one message: Undo cannot bring them back.`);
  }

  /**
   * Deletes rows without remembering how to undo it.
   *
   * @param {Row[]} rows @param {import("../client/sql.js").SQLFragment[]} [readings] SELECTs that run before the
   * deletion
   * @returns {Promise<{gone: Row[], read: Row[][]} | null>} the deleted rows; null: they are deleted, and the answer to
   * a repeated write was too large to include them
   * @throws {GoneError}
   */
  async deleteUnsaid(rows, readings = []) {
    const keys = rows.map((row) => this.keyOf(row));
    const deletions = keys.length === 1 ? [deleteOf(this.table, keys[0], this.rowid)] : deletionsOf(this.table, keys, this.rowid);
    const { changes, results } = await this.#write({ delete: keys }, [...readings, ...deletions]);
    if (changes > 0 && results.length === 0) return null;
    const all = results.map(({ rows: found }) => found);
    const gone = all[readings.length] ?? [];
    if (gone.length === 0) throw new GoneError();
    return { gone, read: all.slice(0, readings.length) };
  }

  /** @param {Row[]} gone @returns {import("../client/sql.js").SQLFragment[]} */
  restoringOf(gone) {
    if (gone.length === 1) return [restoreOf(this.table, gone[0], this.rowid)];
    // Rows that refer to one another come back in an order that their references allow.
    return restoring(this.catalogue, gone.map((row) => ({ table: this.table.name, op: "delete", key: this.keyOf(row), old: row }))) ?? [];
  }

  /** @param {OptimisticChange | null} change @param {import("../freshet.js").Transaction} statement */
  #write(change, statement) {
    const list = this.list();
    return list && change ? list.optimistically(change, statement) : this.client.transact(statement);
  }

  /**
   * @template T
   * @param {Promise<T>} write @param {Row} before @param {Values} written
   * @returns {Promise<T>} rejected with an error that names the foreign key's table
   */
  async #named(write, before, written) {
    try {
      return await write;
    } catch (error) {
      if (!/FOREIGN KEY/i.test(reasonOf(error))) throw error;
      const sentence = await refusalOf(this.client, this.catalogue, this.table, before, written).catch(() => "");
      throw sentence ? new Error(`${reasonOf(error)}: ${sentence}`) : error;
    }
  }

  /** @param {Values} values @returns {Promise<Row>} the key of the new row */
  insert(values) {
    return this.undo.waitFor(this.#insert(values));
  }

  /** @param {Values} values @returns {Promise<Row>} */
  async #insert(values) {
    const { results: [{ rows: [row] }] } = await this.#named(this.client.transact(insertOf(this.table, values, this.key)), {}, values);
    const { statement, tables } = countingOf(this.catalogue, this.table, [this.keyOf(row)]);
    this.undo.push({
      title: `${this.titleOf(row)} added.`, statements: [unreferredDeletionOf(this.catalogue, this.table, this.keyOf(row)), statement],
      objection: ({ results: [{ changes }, { rows }] }) => {
        if (changes > 0) return null;
        const { deleted, changed, refusing } = consequencesIn(rows, tables);
        const names = [...deleted, ...changed, ...refusing].map(({ table }) => table).join(", ");
        return names ? `rows of ${names} refer to it by now. Delete it where you see it.` : "The row is not there any more.";
      },
    });
    return row;
  }

  /** @param {Row[]} rows */
  titleOf(...rows) {
    if (rows.length > 1) return `${formatted(rows.length)} rows of ${this.table.name}`;
    return `${this.table.name} ${this.key.map((name) => String(rows[0][name])).join(", ")}`;
  }
}

/**
 * @param {Client} client @param {import("../client/sql.js").SQLFragment[] | null} statements
 * @returns {import("../client/sql.js").SQLFragment[] | null} null: the message would be too large for the server
 */
export function within(client, statements) {
  const most = client.hello?.limits?.messageBytes ?? Infinity;
  const size = new TextEncoder().encode(encoded(plainTransaction(statements ?? []))).length;
  // The message also has a type, an id and the name of the write.
  return size + 200 < most ? statements : null;
}
