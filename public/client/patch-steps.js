// @ts-check
/**
 * The coordinates of one patch, protocol 3.3: which rows are removed and inserted, and where all rows are afterwards.
 * Pure.
 */

import { decoded, decodedMembers } from "./values.js";

/** @typedef {import("../freshet.js").Section} Section */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {{start: number, count: number}} Interval */

/** Thrown when a message does not fit the client's state: the client then requests `resync`. */
export class MismatchError extends Error {}
MismatchError.prototype.name = "MismatchError";

/** Old and new sections of a patch, and the intervals of offsets that it removes and inserts. */
export class PatchSteps {
  /**
   * The sections after the patch.
   *
   * @type {Section[]}
   */
  sections;
  /** First offsets of the sections before and after, with the total as the last. */
  #oldStarts;
  #newStarts;
  /**
   * Intervals of old offsets, ascending and disjoint.
   *
   * @type {Interval[]}
   */
  removals;
  /** @type {Interval[]} */
  insertions;

  /** @param {Message} patch @param {readonly Section[]} before */
  constructor(patch, before) {
    this.#oldStarts = starts(before);
    const gone = [...(patch.deleted ?? []), ...(patch.moved ?? []).map((/** @type {any} */ move) => move[0])];
    const come = [...(patch.inserted ?? []), ...(patch.moved ?? []).map((/** @type {any} */ move) => move[1])];
    this.sections = sectionsAfter(patch, before, gone, come);
    this.#newStarts = starts(this.sections);
    this.removals = ordered([
      ...gone.map((path) => ({ start: this.oldOffsetOf(path), count: 1 })),
      ...(patch.sectionsDeleted ?? []).map((/** @type {number} */ index) => extent(this.#oldStarts, index)),
    ]);
    this.insertions = ordered([
      ...come.map((path) => ({ start: this.newOffsetOf(path), count: 1 })),
      ...(patch.sectionsInserted ?? []).map((/** @type {[number]} */ [index]) => extent(this.#newStarts, index)),
    ]);
  }

  /** @param {number[]} path in old coordinates */
  oldOffsetOf(path) {
    return offsetOf(this.#oldStarts, path);
  }

  /** @param {number[]} path in new coordinates */
  newOffsetOf(path) {
    return offsetOf(this.#newStarts, path);
  }

  /** @param {number} offset of a row before */
  newOffset(offset) {
    let rank = offset;
    for (const { start, count } of this.removals) {
      if (start >= offset) break;
      rank -= Math.min(count, offset - start);
    }
    for (const { start, count } of this.insertions) {
      if (start > rank) break;
      rank += count;
    }
    return rank;
  }

  /**
   * New offsets of inserted and moved rows, inside the window.
   *
   * @param {Window | null} window
   */
  arrivals(window) {
    const first = window ? window.offset : 0;
    const last = window ? window.offset + window.limit : Infinity;
    const offsets = [];
    for (const interval of this.insertions) {
      for (let offset = Math.max(interval.start, first); offset < Math.min(end(interval), last); offset += 1) {
        offsets.push(offset);
      }
    }
    return offsets;
  }
}

/** @param {number[]} boundaries first offsets of sections, and the total @param {number[]} path */
function offsetOf(boundaries, [section, item]) {
  const { start, count } = extent(boundaries, section);
  if (!(item >= 0 && item < count)) throw new MismatchError(`no row ${item} in section ${section}`);
  return start + item;
}

/** @param {number[]} boundaries @param {number} section @returns {Interval} */
function extent(boundaries, section) {
  if (!(section >= 0 && section + 1 < boundaries.length)) throw new MismatchError(`no section ${section}`);
  return { start: boundaries[section], count: boundaries[section + 1] - boundaries[section] };
}

/**
 * @param {Message} patch @param {readonly Section[]} before
 * @param {number[][]} gone old paths @param {number[][]} come new paths
 * @returns {Section[]}
 */
function sectionsAfter(patch, before, gone, come) {
  // A section that stays as it is stays the same object.
  const after = [...before];
  const at = (/** @type {number} */ index) => {
    if (!(index in after)) throw new MismatchError(`no section ${index}`);
    return after[index];
  };
  const count = (/** @type {number} */ index, /** @type {number} */ by) => {
    after[index] = { ...at(index), count: at(index).count + by };
  };
  for (const [section] of gone) count(section, -1);
  for (const index of patch.sectionsDeleted ?? []) {
    at(index);
    after.splice(index, 1);
  }
  for (const [index, section] of patch.sectionsInserted ?? []) after.splice(index, 0, sectionOf(section));
  for (const [section] of come) count(section, 1);
  for (const [index, changes] of patch.sectionTotals ?? []) {
    after[index] = { ...at(index), totals: { ...at(index).totals, ...decodedMembers(changes) } };
  }
  return after;
}

/**
 * A section as messages carry it, without rows.
 *
 * @param {any} section @returns {Section}
 */
export function sectionOf({ name, indexTitle, count, totals }) {
  const section = { name: decoded(name), indexTitle, count };
  return totals ? { ...section, totals: decodedMembers(totals) } : section;
}

/**
 * First offsets of the sections, and the total.
 *
 * @param {readonly Section[]} sections
 */
export function starts(sections) {
  const result = [0];
  for (const { count } of sections) result.push(result[result.length - 1] + count);
  return result;
}

/** @param {Interval[]} intervals */
function ordered(intervals) {
  return intervals.sort((left, right) => left.start - right.start || left.count - right.count);
}

/** @param {Interval} interval */
function end({ start, count }) {
  return start + count;
}
