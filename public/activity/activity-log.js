// @ts-check
/** The commits that the server remembers, newest first, and those that happen while the page is open. */

import { encoded } from "../client/values.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").DatabaseChange} DatabaseChange */
/** @typedef {import("../freshet.js").RowChange} RowChange */
/**
 * @typedef {object} Entry
 * @property {number | null} commit null: a gap @property {number} commits how many could only be seen together
 * @property {string | null} gap why the changes before it are unknown @property {RowChange[]} changes
 * @property {Date | null} time when the page saw it; null: it happened before the page was opened
 */

/** How many commits, and how many rows in them, the page keeps. */
const mostEntries = 1_000;
const mostRows = 20_000;

export class ActivityLog extends EventTarget {
  /** @type {Entry[]} */
  entries = [];
  /** @type {any} why the server does not send changes */
  error = null;
  /** Whether the server has begun to send changes. */
  isOpen = false;
  #rows = 0;
  #hasBegun = false;

  /**
   * @param {Client} client
   * @param {() => Promise<number>} currentCommit the file's commit when the page is opened
   */
  constructor(client, currentCommit) {
    super();
    this.client = client;
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
    try {
      for await (const change of this.client.changes({ since: "oldest" })) this.#take(change, opened);
    } catch (error) {
      this.error = error;
      this.#hasBegun = false;
      this.dispatchEvent(new Event("change"));
    }
  }

  /** @param {DatabaseChange} change @param {number} opened the commit at which the page was opened */
  #take({ commit, commits, changes, gap }, opened) {
    this.error = null;
    this.isOpen = true;
    if (gap !== undefined) this.#add({ commit: null, commits: 0, gap, changes: [], time: new Date() });
    else if (changes.length > 0 && commit !== undefined) {
      this.#add({ commit, commits: commits ?? 1, gap: null, changes, time: commit > opened ? new Date() : null });
    }
    this.dispatchEvent(new Event("change"));
  }

  /** @param {Entry} entry */
  #add(entry) {
    // The server no longer knows the commits before a gap.
    if (entry.gap !== null) [this.entries, this.#rows] = [[], 0];
    this.entries = [entry, ...this.entries];
    this.#rows += entry.changes.length;
    while (this.entries.length > 1 && (this.entries.length > mostEntries || this.#rows > mostRows)) {
      this.#rows -= this.entries[this.entries.length - 1].changes.length;
      this.entries.pop();
    }
  }
}

/**
 * The changes of one table, or of one row.
 *
 * @param {readonly Entry[]} entries @param {import("./activity-address.js").ActivityAddress} address
 * @param {string[]} keyColumns of the table @returns {Entry[]} those with such changes, and gaps
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
