// @ts-check
/**
 * The coordinates of one patch, protocol 3.3: what goes, what comes, and who is where afterwards. Pure.
 */

/** @typedef {import("./list-model.js").Section} Section */
/** @typedef {import("./list-model.js").Window} Window */
/** @typedef {import("./list-model.js").Row} Row */
/** @typedef {import("./list-model.js").Path} Path */
/** @typedef {import("./list-model.js").Message} Message */
/** @typedef {{start: number, count: number}} Interval */

/** Thrown when a message does not fit to what the client holds: the answer to it is `resync`. */
export class MismatchError extends Error {}

/** Old and new sections of a patch, and the intervals of offsets that it takes out and puts in. */
export class PatchSteps {
  /**
   * The sections of afterwards.
   *
   * @type {Section[]}
   */
  sections;
  /** First offsets of the sections before and after, with the total as the last. */
  #oldStarts;
  #newStarts;
  /**
   * Ascending, apart from one another.
   *
   * @type {Interval[]}
   */
  #removals;
  /** @type {Interval[]} */
  #insertions;

  /** @param {Message} patch @param {Section[]} before */
  constructor(patch, before) {
    this.#oldStarts = starts(before);
    const gone = [...(patch.deleted ?? []), ...(patch.moved ?? []).map((/** @type {any} */ move) => move[0])];
    const come = [...(patch.inserted ?? []), ...(patch.moved ?? []).map((/** @type {any} */ move) => move[1])];
    this.sections = sectionsAfter(patch, before, gone, come);
    this.#newStarts = starts(this.sections);
    this.#removals = ordered([
      ...gone.map((path) => ({ start: this.oldOffsetOf(path), count: 1 })),
      ...(patch.sectionsDeleted ?? []).map((/** @type {number} */ index) => this.#extent(this.#oldStarts, index)),
    ]);
    this.#insertions = ordered([
      ...come.map((path) => ({ start: this.newOffsetOf(path), count: 1 })),
      ...(patch.sectionsInserted ?? []).map((/** @type {[number]} */ [index]) => this.#extent(this.#newStarts, index)),
    ]);
  }

  /** @param {Path} path in old coordinates */
  oldOffsetOf([section, item]) {
    if (!(section in this.#oldStarts)) throw new MismatchError(`no section ${section}`);
    return this.#oldStarts[section] + item;
  }

  /** @param {Path | number[]} path in new coordinates */
  newOffsetOf([section, item]) {
    if (!(section in this.#newStarts)) throw new MismatchError(`no section ${section}`);
    return this.#newStarts[section] + item;
  }

  /** @param {number} offset of a row before */
  newOffset(offset) {
    let rank = offset;
    for (const { start, count } of this.#removals) {
      if (start >= offset) break;
      rank -= Math.min(count, offset - start);
    }
    for (const { start, count } of this.#insertions) {
      if (start > rank) break;
      rank += count;
    }
    return rank;
  }

  /**
   * Sorts held rows into those that stay, by their new offsets, and those that are taken out, by their old ones.
   *
   * @param {Map<number, Row>} held ascending
   */
  carry(held) {
    const rows = new Map();
    const carried = new Map();
    let removal = 0;
    let removed = 0;
    let insertion = 0;
    let inserted = 0;
    for (const [offset, row] of held) {
      while (removal < this.#removals.length && end(this.#removals[removal]) <= offset) {
        removed += this.#removals[removal].count;
        removal += 1;
      }
      if (removal < this.#removals.length && this.#removals[removal].start <= offset) {
        carried.set(offset, row);
        continue;
      }
      const rank = offset - removed;
      while (insertion < this.#insertions.length && this.#insertions[insertion].start <= rank + inserted) {
        inserted += this.#insertions[insertion].count;
        insertion += 1;
      }
      rows.set(rank + inserted, row);
    }
    return { rows, carried };
  }

  /**
   * New offsets of what was put in, moved rows too, as far as the window goes.
   *
   * @param {Window | null} window
   */
  arrivals(window) {
    const first = window ? window.offset : 0;
    const last = window ? window.offset + window.limit : Infinity;
    const offsets = [];
    for (const interval of this.#insertions) {
      for (let offset = Math.max(interval.start, first); offset < Math.min(end(interval), last); offset += 1) {
        offsets.push(offset);
      }
    }
    return offsets;
  }

  /** @param {number[]} boundaries @param {number} index */
  #extent(boundaries, index) {
    if (!(index + 1 in boundaries)) throw new MismatchError(`no section ${index}`);
    return { start: boundaries[index], count: boundaries[index + 1] - boundaries[index] };
  }
}

/**
 * @param {Message} patch @param {Section[]} before
 * @param {number[][]} gone old paths @param {number[][]} come new paths
 * @returns {Section[]}
 */
function sectionsAfter(patch, before, gone, come) {
  const after = before.map((section) => ({ ...section }));
  const at = (/** @type {number} */ index) => {
    if (!(index in after)) throw new MismatchError(`no section ${index}`);
    return after[index];
  };
  for (const [section] of gone) at(section).count -= 1;
  for (const index of patch.sectionsDeleted ?? []) {
    at(index);
    after.splice(index, 1);
  }
  for (const [index, section] of patch.sectionsInserted ?? []) after.splice(index, 0, bareSection(section));
  for (const [section] of come) at(section).count += 1;
  return after;
}

/**
 * A section without its rows.
 *
 * @param {Section} section
 * @returns {Section}
 */
export function bareSection({ name, indexTitle, count }) {
  return { name, indexTitle, count };
}

/** @param {Section[]} sections */
function starts(sections) {
  const result = [0];
  for (const { count } of sections) result.push(result[result.length - 1] + count);
  return result;
}

/** @param {Section[]} sections */
export function countRows(sections) {
  return sections.reduce((sum, { count }) => sum + count, 0);
}

/** @param {Interval[]} intervals */
function ordered(intervals) {
  return intervals.sort((left, right) => left.start - right.start || left.count - right.count);
}

/** @param {Interval} interval */
function end({ start, count }) {
  return start + count;
}
