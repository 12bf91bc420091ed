// @ts-check
/** Writes to one table, and remembers how to take it back. */

import { deleteOf, insertOf, restoreOf, rowidName, updateOf } from "./statements.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("../freshet.js").OptimisticChange} OptimisticChange */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("./catalogue.js").Table} Table */
/** @typedef {Record<string, SQLValue>} Values */

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

  /** @param {Row} row @param {string} column @param {SQLValue} value @param {SQLValue} old */
  async update(row, column, value, old) {
    const key = this.keyOf(row);
    const change = this.showsAtOnce(column) ? { update: { ...key, [column]: value } } : null;
    const { changes } = await this.#write(change, updateOf(this.table, key, column, value));
    if (changes === 0) throw new Error("Somebody else has deleted this row.");
    const afterwards = column in key ? { ...key, [column]: value } : key;
    this.undo.push({ title: `${column} of ${this.titleOf(row)} changed.`, statements: [updateOf(this.table, afterwards, column, old)] });
  }

  /** @param {Row} row @param {() => void} [restored] called when it is back */
  async delete(row, restored) {
    const key = this.keyOf(row);
    const { changes, results } = await this.#write({ delete: key }, deleteOf(this.table, key, this.rowid));
    // A write that was sent again does not say what it took away when that was much.
    if (changes > 0 && results.length === 0) return;
    const [{ rows }] = results;
    if (rows.length === 0) throw new Error("Somebody else has deleted this row.");
    const statements = rows.map((gone) => restoreOf(this.table, gone, this.rowid));
    const caution = this.besides && `Undo brings back the row, and not ${this.besides}.`;
    this.undo.push({ title: `${this.titleOf(row)} deleted.`, caution, statements, done: restored });
  }

  /** @param {OptimisticChange | null} change @param {import("../client/sql.js").SQLFragment} statement */
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
