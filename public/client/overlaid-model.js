// @ts-check
/** The content of a list: the server's state, with this client's changes that the server has not shown yet. Pure. */

import { apply, unmoved } from "./apply.js";
import { BaseCorrespondence } from "./base-correspondence.js";
import { emptyState } from "./list-state.js";
import { stepsOf } from "./optimistic-change.js";
import { OptimisticOverlay } from "./optimistic-overlay.js";
import { isStill, patchBetween } from "./optimistic-patch.js";
import { Ordering } from "./ordering.js";

/** @typedef {import("../freshet.js").Changes} Changes */
/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {import("./optimistic-change.js").LaidChange} LaidChange */
/**
 * @typedef {{message: Message, before: ListState, state: ListState, changes: Changes}} Shown the contents of an event
 */

export class OverlaidModel {
  /** @type {LaidChange[]} */
  changes = [];
  #overlay;
  #sources;
  #ordering = new Ordering({});
  #count = 0;

  /** @param {import("./ordering.js").Sources} [sources] */
  constructor(sources) {
    this.#sources = sources;
    this.#overlay = new OptimisticOverlay(emptyState);
  }

  /** The shown state. */
  get state() {
    return this.#overlay.state;
  }

  /** The server's state. */
  get base() {
    return this.#overlay.base;
  }

  /**
   * Applies another state of the server.
   *
   * @param {Message} message @param {ListState} base @param {Changes} changes what the message does to the base
   * @returns {Shown}
   */
  take(message, base, changes) {
    const before = this.#overlay;
    const isPatch = message.type === "patch";
    if (base.order !== before.base.order) this.#ordering = new Ordering(base.order, this.#sources);
    if (this.changes.length === 0 && before.effects.length === 0) {
      this.#overlay = new OptimisticOverlay(base);
      return { message, before: before.state, state: base, changes };
    }
    const correspondence = new BaseCorrespondence(isPatch ? message : null, before.base.sections);
    this.#lay(base, message.type === "snapshot" || !before.base.isComplete ? null : correspondence);
    if (message.type === "snapshot" || !base.isComplete || !before.base.isComplete) {
      return { message: base.isComplete ? { type: "snapshot" } : message, before: before.state, state: this.state, changes: unmoved };
    }
    const shown = this.#shown(before, correspondence);
    return message.type === "rows" && isStill(shown.message) ? { ...shown, message: { type: "rows" } } : shown;
  }

  /**
   * Called when the changes laid over the list are different.
   *
   * @returns {Shown | null} null: nothing that is shown differs
   */
  lay() {
    const before = this.#overlay;
    if (!before.base.isComplete || (before.effects.length === 0 && this.changes.length === 0)) return null;
    const correspondence = new BaseCorrespondence(null, []);
    this.#lay(before.base, correspondence);
    const shown = this.#shown(before, correspondence);
    const isSame = isStill(shown.message) && before.state.heldCount === this.state.heldCount;
    if (!isSame || before.effects.length !== this.#overlay.effects.length) return shown;
    this.#overlay = before;
    return null;
  }

  /**
   * The window of the server's rows that contains the rows to show.
   *
   * @param {Window} window @returns {Window}
   */
  baseWindow({ offset, limit }) {
    const first = this.#overlay.baseOffset(offset);
    return { offset: first, limit: limit === 0 ? 0 : Math.max(1, this.#overlay.baseOffset(offset + limit) - first) };
  }

  /**
   * The offset at which a row of the server is shown.
   *
   * @param {number} offset @returns {number | null}
   */
  shownOffset(offset) {
    return this.#overlay.shownOffset(offset);
  }

  /**
   * @param {ListState} base @param {BaseCorrespondence | null} correspondence null: nothing is known about the last
   * base's rows
   */
  #lay(base, correspondence) {
    const steps = base.isComplete ? stepsOf(this.changes, base.key) : new Map();
    const effects = OptimisticOverlay.effects(steps, base, this.#overlay, correspondence);
    this.#overlay = new OptimisticOverlay(base, effects, this.#ordering, `+${this.#count += 1}`);
  }

  /** @param {OptimisticOverlay} before @param {BaseCorrespondence} correspondence @returns {Shown} */
  #shown(before, correspondence) {
    const [old, { state }] = [before.state, this.#overlay];
    const message = patchBetween(before, this.#overlay, correspondence);
    return message ? { message, before: old, state, changes: apply(old, message).changes } : { message: { type: "snapshot" }, before: old, state, changes: unmoved };
  }
}
