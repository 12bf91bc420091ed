// @ts-check
/** How offsets of the server's last state correspond to those of its next one. Pure. */

import { OffsetSet } from "./offset-set.js";
import { PatchSteps } from "./patch-steps.js";

/** Rows are matched by position, including rows whose contents are not held. */
export class BaseCorrespondence {
  /**
   * Offsets in the last state of rows that moved or were updated.
   *
   * @type {number[]}
   */
  changed = [];
  /**
   * Offsets in the last state of rows that the next one lacks.
   *
   * @type {Set<number>}
   */
  deleted = new Set();
  /**
   * Offsets in the next state of rows that the last one lacks.
   *
   * @type {Set<number>}
   */
  inserted = new Set();
  /** @type {Map<number, number>} */
  #moves = new Map();
  /** @type {Map<number, number>} */
  #movesBack = new Map();
  /** Offsets in the last state of rows that are deleted or move. */
  #leaving;
  #arriving;

  /**
   * @param {import("../freshet.js").Message | null} patch the server's patch; null: both states have the same rows
   * @param {readonly import("../freshet.js").Section[]} sections of the last state
   */
  constructor(patch, sections) {
    const steps = patch && new PatchSteps(patch, sections);
    for (const [from, to] of patch?.moved ?? []) {
      const [old, now] = [/** @type {PatchSteps} */ (steps).oldOffsetOf(from), /** @type {PatchSteps} */ (steps).newOffsetOf(to)];
      this.#moves.set(old, now);
      this.#movesBack.set(now, old);
    }
    this.#leaving = new OffsetSet(offsetsOf(steps?.removals));
    this.#arriving = new OffsetSet(offsetsOf(steps?.insertions));
    for (const offset of offsetsOf(steps?.removals)) if (!this.#moves.has(offset)) this.deleted.add(offset);
    for (const offset of offsetsOf(steps?.insertions)) if (!this.#movesBack.has(offset)) this.inserted.add(offset);
    this.changed = [...this.#moves.keys(), ...(patch?.updated ?? []).map((/** @type {any} */ [from]) => steps?.oldOffsetOf(from))];
  }

  /** @param {number} old @returns {number | null} */
  newOffset(old) {
    if (this.deleted.has(old)) return null;
    return this.#moves.get(old) ?? this.#arriving.offsetOf(this.#leaving.rankOf(old));
  }

  /** @param {number} now @returns {number | null} */
  oldOffset(now) {
    if (this.inserted.has(now)) return null;
    return this.#movesBack.get(now) ?? this.#leaving.offsetOf(this.#arriving.rankOf(now));
  }
}

/** @param {import("./patch-steps.js").Interval[]} [intervals] */
function* offsetsOf(intervals = []) {
  for (const { start, count } of intervals) for (let index = 0; index < count; index += 1) yield start + index;
}
