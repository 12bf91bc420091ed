// @ts-check
/**
 * The commits that the server remembers for this page, newest first. The feed goes on from where an earlier visit
 * began, as far as the
 * server's history goes back.
 */

import { encoded } from "../client/values.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").DatabaseChange} DatabaseChange */
/** @typedef {import("../freshet.js").RowChange} RowChange */
/**
 * @typedef {object} Entry
 * @property {number | null} commit null: a gap @property {number} commits that could only be seen together
 * @property {string | null} gap why what was before is not known @property {RowChange[]} changes
 * @property {Date | null} time when it was seen; null: before this page was opened
 */

/** Commits, and rows in them, that the page holds. */
const mostEntries = 1_000;
const mostRows = 20_000;

export class ActivityLog extends EventTarget {
  /** @type {Entry[]} */
  entries = [];
  /** @type {any} why the server does not tell */
  error = null;
  /**
   * The position before each entry.
   *
   * @type {string[]}
   */
  #before = [];
  #rows = 0;
  /** @type {string | null} */
  #position = null;
  #hasBegun = false;

  /**
   * @param {Client} client
   * @param {Pick<Storage, "getItem" | "setItem"> | null} storage keeps where to begin
   * @param {string} place the server's address
   * @param {() => Promise<number>} currentCommit what the file is at when the page is opened
   */
  constructor(client, storage, place, currentCommit) {
    super();
    this.client = client;
    this.storage = storage;
    this.name = `freshet activity ${place}`;
    this.currentCommit = currentCommit;
  }

  /** Whether older commits were dropped. */
  get isCut() {
    return this.entries.length >= mostEntries || this.#rows >= mostRows;
  }

  async begin() {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const opened = await this.currentCommit().catch(() => -1);
    const since = this.#kept();
    this.#position = since;
    try {
      for await (const change of this.client.changes({ since: since ?? "oldest" })) this.#take(change, opened);
    } catch (error) {
      this.error = error;
      this.#hasBegun = false;
      this.dispatchEvent(new Event("change"));
    }
  }

  /** @param {DatabaseChange} change @param {number} opened the commit at which the page was opened */
  #take({ position, commit, commits, changes, gap }, opened) {
    const before = this.#position ?? position;
    this.#position = position;
    this.error = null;
    if (gap !== undefined) this.#add({ commit: null, commits: 0, gap, changes: [], time: new Date() }, position);
    else if (changes.length > 0 && commit !== undefined) {
      this.#add({ commit, commits: commits ?? 1, gap: null, changes, time: commit > opened ? new Date() : null }, before);
    } else if (this.entries.length === 0) this.#keep(position);
    this.dispatchEvent(new Event("change"));
  }

  /** @param {Entry} entry @param {string} before the position from which a later visit gets it again */
  #add(entry, before) {
    // The server no longer knows the commits before a gap.
    if (entry.gap !== null) [this.entries, this.#before, this.#rows] = [[], [], 0];
    this.entries = [entry, ...this.entries];
    this.#before.unshift(before);
    this.#rows += entry.changes.length;
    while (this.entries.length > 1 && (this.entries.length > mostEntries || this.#rows > mostRows)) {
      this.#rows -= this.entries[this.entries.length - 1].changes.length;
      this.entries.pop();
      this.#before.pop();
    }
    this.#keep(this.#before[this.#before.length - 1]);
  }

  #kept() {
    return this.storage?.getItem(this.name) ?? null;
  }

  /** @param {string} position */
  #keep(position) {
    if (this.#kept() === position) return;
    try {
      this.storage?.setItem(this.name, position);
    } catch {
      // Storage may be full or forbidden: the next visit begins with what happens then.
    }
  }
}

/**
 * The changes of one table, or of one row.
 *
 * @param {readonly Entry[]} entries @param {import("./activity-address.js").ActivityAddress} address
 * @param {string[]} keyColumns of the table @returns {Entry[]} those that have any, and gaps
 */
export function entriesOf(entries, { table, key }, keyColumns) {
  if (table === null) return [...entries];
  const isWanted = (/** @type {RowChange} */ change) => change.table === table
    && (key === null || change.op === "schema" || keyColumns.every((name, index) => encoded(change.key?.[name] ?? null) === encoded(key[index] ?? null)));
  return entries.flatMap((entry) => {
    const changes = entry.changes.filter(isWanted);
    return changes.length > 0 || entry.gap !== null ? [{ ...entry, changes }] : [];
  });
}
