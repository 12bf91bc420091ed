// @ts-check
/**
 * The rows that may differ between two states that are shown: those that a message is about, and those that changes are laid
 * over. All other rows are in both, in the same order. Pure.
 */

import { PatchSteps } from "./patch-steps.js";
import { identity } from "./values.js";

/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("./optimistic-overlay.js").Overlay} Overlay */
/** @typedef {import("./patch-steps.js").Interval} Interval */
/** @typedef {{old: number | null, now: number | null}} Touched offsets among the rows shown before and after; null: not there */

/** How offsets of the server's last state and of its next one belong together. */
export class Correspondence {
  /** @type {Map<number, number>} */
  #to = new Map();
  /** @type {Map<number, number>} */
  #from = new Map();
  /**
   * Offsets of rows that only one of the two has.
   *
   * @type {Set<number>}
   */
  deleted = new Set();
  /** @type {Set<number>} */
  inserted = new Set();
  /**
   * Offsets before of rows that are in both, and not as they were.
   *
   * @type {number[]}
   */
  changed = [];

  /**
   * @param {Message | null} patch of the server; null: both have the same rows
   * @param {readonly import("../freshet.js").Section[]} sections before
   */
  constructor(patch, sections) {
    this.patch = patch;
    const steps = patch && new PatchSteps(patch, sections);
    this.steps = steps;
    if (!steps || !patch) return;
    for (const [from, to] of patch.moved ?? []) {
      const [old, now] = [steps.oldOffsetOf(from), steps.newOffsetOf(to)];
      this.#to.set(old, now);
      this.#from.set(now, old);
      this.changed.push(old);
    }
    for (const [from] of patch.updated ?? []) this.changed.push(steps.oldOffsetOf(from));
    for (const offset of offsetsOf(steps.removals)) if (!this.#to.has(offset)) this.deleted.add(offset);
    for (const offset of offsetsOf(steps.insertions)) if (!this.#from.has(offset)) this.inserted.add(offset);
  }

  /** @param {number} old @returns {number | null} */
  newOffset(old) {
    if (!this.steps) return old;
    if (this.deleted.has(old)) return null;
    return this.#to.get(old) ?? this.steps.newOffset(old);
  }

  /** @param {number} now @returns {number | null} */
  oldOffset(now) {
    if (!this.steps) return now;
    if (this.inserted.has(now)) return null;
    const moved = this.#from.get(now);
    if (moved !== undefined) return moved;
    let rank = now;
    for (const { start, count } of this.steps.insertions) rank -= Math.max(0, Math.min(count, now - start));
    for (const { start, count } of this.steps.removals) if (start <= rank) rank += count;
    return rank;
  }
}

/** @param {Interval[]} intervals */
function* offsetsOf(intervals) {
  for (const { start, count } of intervals) for (let index = 0; index < count; index += 1) yield start + index;
}

/**
 * In O(rows × log changes).
 *
 * @param {Overlay} before @param {Overlay} after @param {Correspondence} correspondence of their bases
 * @returns {Touched[]}
 */
export function touchedRows(before, after, correspondence) {
  /** @type {Map<string, Touched>} */
  const rows = new Map();
  const add = (/** @type {string} */ id, /** @type {number | null} */ old, /** @type {number | null} */ now) => {
    const known = rows.get(id);
    const isTaken = known && ((old !== null && known.old !== null) || (now !== null && known.now !== null));
    if (known && !isTaken) rows.set(id, { old: known.old ?? old, now: known.now ?? now });
    else rows.set(known ? `${id} ${rows.size}` : id, { old, now });
  };
  // What only one of the bases has is recognised by its key: it may have come with another section, or be a row that was put in.
  const keyed = (/** @type {Overlay} */ { base }, /** @type {number} */ offset, /** @type {string} */ other) => {
    const row = base.at(offset);
    return row ? `key ${base.keyOf(row)}` : other;
  };
  const pairs = new Set(correspondence.changed);
  for (const { offset } of before.effects) if (offset !== null && !correspondence.deleted.has(offset)) pairs.add(offset);
  for (const { offset } of after.effects) {
    const old = offset === null ? null : correspondence.oldOffset(offset);
    if (old !== null) pairs.add(old);
  }
  for (const old of pairs) {
    const now = /** @type {number} */ (correspondence.newOffset(old));
    add(`old ${old}`, before.shownOffset(old), after.shownOffset(now));
  }
  for (const old of correspondence.deleted) add(keyed(before, old, `old ${old}`), before.shownOffset(old), null);
  for (const now of correspondence.inserted) add(keyed(after, now, `new ${now}`), null, after.shownOffset(now));
  for (const { key, source, offset } of before.placed) if (source === null) add(`key ${key}`, offset, null);
  for (const { key, source, offset } of after.placed) if (source === null) add(`key ${key}`, null, offset);
  return [...rows.values()].filter(({ old, now }) => old !== null || now !== null);
}

/**
 * For each section shown before, which one it is afterwards; null: it goes. None of them moves.
 *
 * @param {Overlay} before @param {Overlay} after @param {Message | null} patch of the bases
 * @returns {Map<number, number>}
 */
export function sectionPairs(before, after, patch) {
  const sources = before.base.sections.map((_, index) => index);
  for (const index of patch?.sectionsDeleted ?? []) sources.splice(index, 1);
  for (const [index] of patch?.sectionsInserted ?? []) sources.splice(index, 0, -1);
  const pairs = new Map();
  const ends = [];
  after.sources.forEach((source, now) => {
    const old = source < 0 || sources[source] < 0 ? -1 : before.sources.indexOf(sources[source]);
    if (old >= 0) ends.push([old, now]);
  });
  ends.push([before.sources.length, after.sources.length]);
  let [nextOld, nextNow] = [0, 0];
  for (const [old, now] of ends) {
    // Between two that stay, sections of one name are the same one.
    for (let index = nextOld; index < old; index += 1) {
      const section = before.state.sections[index];
      const same = after.state.sections.slice(nextNow, now).findIndex((other) => isSame(section, other));
      if (same < 0) continue;
      pairs.set(index, nextNow + same);
      nextNow += same + 1;
    }
    if (old < before.sources.length) pairs.set(old, now);
    [nextOld, nextNow] = [old + 1, now + 1];
  }
  return pairs;
}

/** @param {import("../freshet.js").Section} left @param {import("../freshet.js").Section} right */
function isSame(left, right) {
  return left.indexTitle === right.indexTitle && identity([left.name]) === identity([right.name]);
}
