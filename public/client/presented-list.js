// @ts-check
/** What a list shows: the server's state, with the changes of this client that the server has not shown yet. Pure. */

import { apply, unmoved } from "./apply.js";
import { emptyState, offsetOfKey, pendingIn } from "./list-state.js";
import { isEqual, outcomesOf, rowAfter } from "./optimistic-change.js";
import { difference, isStill } from "./optimistic-difference.js";
import { Overlay } from "./optimistic-overlay.js";
import { Correspondence } from "./optimistic-rows.js";
import { Ordering } from "./ordering.js";
import { MismatchError } from "./patch-steps.js";

/** @typedef {import("../freshet.js").Changes} Changes */
/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {import("./optimistic-change.js").LaidChange} LaidChange */
/** @typedef {import("./optimistic-overlay.js").Effect} Effect */
/** @typedef {{message: Message, before: ListState, state: ListState, changes: Changes}} Shown what an event says */

/** Of no rows. */
const unordered = new Ordering({});

export class PresentedList {
  /** @type {LaidChange[]} */
  changes = [];
  #overlay;
  #sources;
  #ordering = unordered;
  #count = 0;

  /** @param {import("./ordering.js").Sources} [sources] */
  constructor(sources) {
    this.#sources = sources;
    this.#overlay = new Overlay(emptyState, [], unordered, "");
  }

  /** What is shown. */
  get state() {
    return this.#overlay.state;
  }

  /** What the server has. */
  get base() {
    return this.#overlay.base;
  }

  /**
   * The server has another state.
   *
   * @param {Message} message @param {ListState} base @param {Changes} changes what the message does to the base
   * @returns {Shown}
   */
  take(message, base, changes) {
    const before = this.#overlay;
    const isPatch = message.type === "patch";
    if (base.order !== before.base.order) this.#ordering = new Ordering(base.order, this.#sources);
    if (this.changes.length === 0 && before.effects.length === 0) {
      this.#overlay = new Overlay(base, [], unordered, "");
      return { message, before: before.state, state: base, changes };
    }
    const correspondence = new Correspondence(isPatch ? message : null, before.base.sections);
    this.#lay(base, message.type === "snapshot" || !before.base.isComplete ? null : correspondence);
    if (message.type === "snapshot" || !base.isComplete || !before.base.isComplete) {
      return { message: base.isComplete ? { type: "snapshot" } : message, before: before.state, state: this.state, changes: unmoved };
    }
    const shown = this.#shown(before, correspondence);
    return message.type === "rows" && isStill(shown.message) ? { ...shown, message: { type: "rows" } } : shown;
  }

  /**
   * The changes are others.
   *
   * @returns {Shown | null} null: it shows in nothing
   */
  lay() {
    const before = this.#overlay;
    if (!before.base.isComplete || (before.effects.length === 0 && this.changes.length === 0)) return null;
    const correspondence = new Correspondence(null, []);
    this.#lay(before.base, correspondence);
    const shown = this.#shown(before, correspondence);
    const isSame = isStill(shown.message) && before.state.heldCount === this.state.heldCount;
    if (!isSame || before.effects.length !== this.#overlay.effects.length) return shown;
    this.#overlay = before;
    return null;
  }

  /**
   * The window of the server's rows that has what is to be shown.
   *
   * @param {Window} window @returns {Window}
   */
  baseWindow({ offset, limit }) {
    const first = this.#overlay.baseOffset(offset);
    return { offset: first, limit: limit === 0 ? 0 : Math.max(1, this.#overlay.baseOffset(offset + limit) - first) };
  }

  /**
   * Where a row of the server's is shown.
   *
   * @param {number} offset @returns {number | null}
   */
  shownOffset(offset) {
    return this.#overlay.shownOffset(offset);
  }

  /** @param {ListState} base @param {Correspondence | null} correspondence null: nothing is known of the last base's rows */
  #lay(base, correspondence) {
    const before = this.#overlay;
    /** @type {Effect[]} */
    const effects = [];
    const outcomes = base.isComplete ? outcomesOf(this.changes, base.key) : new Map();
    const known = new Map(before.effects.map((effect) => [effect.key, effect]));
    for (const [key, outcome] of outcomes) {
      const last = known.get(key);
      const offset = find(key, base, last, correspondence);
      const old = offset === null ? undefined : base.at(offset);
      // Of a row that is not held any more, what was last known.
      const row = rowAfter(outcome, old ?? (offset === null ? undefined : last?.row ?? undefined), base.columns);
      const isKnown = row && last?.row && row !== old && isEqual(row, last.row);
      effects.push({ key, offset, isGone: outcome === null, row: isKnown ? /** @type {Row} */ (last?.row) : row });
    }
    this.#overlay = new Overlay(base, effects, this.#ordering, `+${this.#count += 1}`);
  }

  /** @param {Overlay} before @param {Correspondence} correspondence @returns {Shown} */
  #shown(before, correspondence) {
    const after = this.#overlay;
    const message = difference(before, after, correspondence, marked(pendingIn(before.state), pendingIn(after.state)));
    try {
      return { message, before: before.state, state: after.state, changes: apply(before.state, message).changes };
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error;
      // Nobody is shown a patch that does not fit.
      return { message: { type: "snapshot" }, before: before.state, state: after.state, changes: unmoved };
    }
  }
}

/**
 * Keys of rows that are pending in one of two states, or placed in one of them.
 *
 * @param {import("./list-state.js").Pending} before @param {import("./list-state.js").Pending} after
 */
function marked(before, after) {
  return new Set([...before.keys(), ...after.keys()].filter((key) => before.get(key)?.isPlaced !== after.get(key)?.isPlaced));
}

/**
 * The offset of a row in a base, without a look at all of its rows where that can be.
 *
 * @param {string} key @param {ListState} base @param {Effect | undefined} last what was known of it in the last base
 * @param {Correspondence | null} correspondence @returns {number | null}
 */
function find(key, base, last, correspondence) {
  const isRow = (/** @type {number} */ offset) => keyAt(base, offset) === key;
  if (!last || !correspondence) return offsetOfKey(base, key);
  const offset = last.offset === null ? null : correspondence.newOffset(last.offset);
  // One that is not held stays where the patches say.
  if (offset !== null && (isRow(offset) || !base.at(offset))) return offset;
  if (base.window) return offsetOfKey(base, key);
  for (const inserted of correspondence.inserted) if (isRow(inserted)) return inserted;
  return null;
}

/** @param {ListState} base @param {number} offset */
function keyAt(base, offset) {
  const row = base.at(offset);
  return row && base.keyOf(row);
}
