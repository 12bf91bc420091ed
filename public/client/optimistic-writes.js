// @ts-check
/**
 * The writes of one list that show before the server has done them: from when they are sent until the list includes
 * them.
 */

import { LaidChange } from "./optimistic-change.js";

/** @typedef {import("../freshet.js").OptimisticChange} OptimisticChange */
/** @typedef {import("../freshet.js").Committed} Committed */
/** @typedef {import("./errors.js").FreshetError} FreshetError */
/** @typedef {import("./types.js").Channel} Channel */
/** @typedef {import("./overlaid-model.js").OverlaidModel} OverlaidModel */
/** @typedef {import("./overlaid-model.js").Shown} Shown */

/** The event `rollback`: a change is taken away, because the server refused the write or its outcome is unknown. */
export class RollbackEvent extends Event {
  /** @param {FreshetError} error @param {OptimisticChange} change */
  constructor(error, change) {
    super("rollback");
    this.error = error;
    this.change = change;
  }
}

export class OptimisticWrites {
  /**
   * @param {OverlaidModel} list @param {Channel} channel
   * @param {object} host
   * @param {(shown: Shown | null) => void} host.show
   * @param {() => Promise<any>} host.isCaughtUp resolves once the server has sent the list all earlier commits
   * @param {(event: Event) => void} host.dispatch
   */
  constructor(list, channel, host) {
    this.list = list;
    this.channel = channel;
    this.host = host;
  }

  /**
   * @param {OptimisticChange} change @param {Record<string, any>} members of the message `transact`
   * @returns {Promise<Committed>}
   */
  async write(change, members) {
    const laid = new LaidChange(change);
    const answer = this.channel.write(members, () => {
      laid.status = "sent";
    });
    this.list.changes = [...this.list.changes, laid];
    this.host.show(this.list.lay());
    let committed;
    try {
      committed = await answer;
    } catch (error) {
      this.#remove([laid]);
      this.host.dispatch(new RollbackEvent(/** @type {FreshetError} */ (error), change));
      throw error;
    }
    laid.status = "committed";
    laid.committed = { commit: committed.commit, epoch: this.channel.epoch() };
    laid.learn(committed.results, this.list.base.key);
    this.#settle(laid);
    return committed;
  }

  /**
   * Removes the changes that the list's next state includes. Both show at once.
   *
   * @param {number} commit the next state's commit
   */
  reached(commit) {
    const epoch = this.channel.epoch();
    const isThere = (/** @type {LaidChange} */ { committed }) => committed !== null && committed.epoch === epoch && committed.commit <= commit;
    if (this.list.changes.some(isThere)) this.list.changes = this.list.changes.filter((laid) => !isThere(laid));
  }

  /** Gives up all changes: no further state will show them. */
  giveUp() {
    this.#remove(this.list.changes.filter(({ status }) => status === "committed"));
  }

  /** @param {LaidChange} laid */
  async #settle(laid) {
    this.reached(this.list.base.commit);
    // The new row is shown under the key that the database assigned.
    this.host.show(this.list.lay());
    if (!this.list.changes.includes(laid)) return;
    // A write that changes nothing in this list leads to no patch, so the list asks the server.
    await this.host.isCaughtUp().catch(() => {});
    this.#remove([laid]);
  }

  /** @param {LaidChange[]} gone */
  #remove(gone) {
    const rest = this.list.changes.filter((laid) => !gone.includes(laid));
    if (rest.length === this.list.changes.length) return;
    this.list.changes = rest;
    this.host.show(this.list.lay());
  }
}
