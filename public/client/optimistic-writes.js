// @ts-check
/** The writes of one list that show before the server has done them: from the first moment until the list has them. */

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
   * @param {() => Promise<any>} host.isCaughtUp answered by the server once it has sent the list all that was committed
   * before
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
   * Takes away what the next state of the list has. It is shown together with that.
   *
   * @param {number} commit of that state
   */
  reached(commit) {
    const epoch = this.channel.epoch();
    const isThere = (/** @type {LaidChange} */ { committed }) => committed !== null && committed.epoch === epoch && committed.commit <= commit;
    if (this.list.changes.some(isThere)) this.list.changes = this.list.changes.filter((laid) => !isThere(laid));
  }

  /** Nothing comes any more that would show what was written. */
  giveUp() {
    this.#remove(this.list.changes.filter(({ status }) => status === "committed"));
  }

  /** @param {LaidChange} laid */
  async #settle(laid) {
    this.reached(this.list.base.commit);
    // Under the key that the database gave it.
    this.host.show(this.list.lay());
    if (!this.list.changes.includes(laid)) return;
    // A write that changes nothing in this list leads to no patch.
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
