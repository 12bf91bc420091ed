// @ts-check
/** Waits for a commit and returns its rows with their former values, from the server's feed of changes. */

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").RowChange} RowChange */
/** @typedef {import("../freshet.js").DatabaseChange} DatabaseChange */

/** Milliseconds that the server may take to begin the feed, and again to send the commit. */
const patience = 4000;

export class CommitWatch {
  /** @param {Client} client @param {string[] | undefined} tables undefined: all */
  constructor(client, tables) {
    this.feed = client.changes(tables && { tables });
    this.changes = this.feed[Symbol.asyncIterator]();
  }

  /**
   * Resolves once all further commits will be seen. @returns {Promise<boolean>} false: the server has no feed of these
   * tables, or not at the moment
   */
  async begun() {
    return await this.#next() !== null;
  }

  /**
   * @param {(changes: RowChange[]) => boolean} isIt
   * @returns {Promise<RowChange[] | null>} null: the commit was not seen, or only together with others
   */
  async commitWith(isIt) {
    for (let change = await this.#next(); change && change.gap === undefined; change = await this.#next()) {
      if (isIt(change.changes)) return (change.commits ?? 1) === 1 ? change.changes : null;
    }
    return null;
  }

  /** @returns {Promise<DatabaseChange | null>} */
  async #next() {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const late = new Promise((resolve) => { timer = setTimeout(resolve, patience, null); });
    const next = this.changes.next().then(({ value }) => value ?? null, () => null);
    const result = await Promise.race([next, late]);
    clearTimeout(timer);
    return result;
  }

  close() {
    this.feed.close();
  }
}
