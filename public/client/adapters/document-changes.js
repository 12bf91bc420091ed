// @ts-check
/** Changes in the form of Firestore's `docChanges()`: one after the other. */

import { pathsOf } from "./paths.js";

/** @typedef {import("../../freshet.js").Key} Key */

/**
 * @template {object} R @template {Key} K @param {import("../../freshet.js").ChangeEvent<R, K>} event
 * @returns {import("../../freshet.js").DocumentChange<R>[] | null}
 */
export function documentChanges({ patch, before, after }) {
  if (!patch) return null;
  const { deleted, inserted, moved, updated } = pathsOf(patch, before, after);
  const old = (/** @type {any} */ path) => Number(before.offsetOf(path));
  const now = (/** @type {any} */ path) => Number(after.offsetOf(path));
  const descending = deleted.map(old).sort((left, right) => right - left);
  const arrivals = [
    ...inserted.map((path) => ({ from: -1, to: now(path) })),
    ...moved.map(([from, to]) => ({ from: old(from), to: now(to) })),
  ].sort((left, right) => left.to - right.to);
  return [
    ...descending.map((index) => (
      { type: /** @type {const} */ ("removed"), row: before.at(index), oldIndex: index, newIndex: -1 })),
    ...placed(arrivals, descending.reverse(), after),
    ...updated.map(([, to]) => (
      { type: /** @type {const} */ ("modified"), row: after.row(to), oldIndex: now(to), newIndex: now(to) })),
  ];
}

/**
 * Insertions and moves, ascending by their new offsets. When one is applied, all rows that belong before it are in
 * place; between them there may still be rows that have not moved yet. So its index is its offset in the result plus
 * the number of such rows before it. Which of them are before it follows from how many staying rows precede each.
 *
 * @template {object} R @template {Key} K @param {{from: number, to: number}[]} arrivals
 * @param {number[]} deletions old offsets, ascending @param {import("../../freshet.js").ListState<R, K>} after
 * @returns {import("../../freshet.js").DocumentChange<R>[]}
 */
function placed(arrivals, deletions, after) {
  const movers = arrivals.map(({ from }) => from).filter((from) => from >= 0).sort((left, right) => left - right);
  // For each mover, the number of staying rows before it.
  const staying = movers.map((from, index) => from - countBelow(deletions, from) - index);
  const waiting = new Counter(movers.length);
  return arrivals.map(({ from, to }, index) => {
    const staysBefore = to - index;
    // Waiting movers with the same number of staying rows before them come after the placed row.
    const place = () => to + waiting.before(countBelow(staying, staysBefore));
    if (from < 0) return { type: "added", row: after.at(to), oldIndex: -1, newIndex: place() };
    const mover = countBelow(movers, from);
    // The old index counts the staying rows, placed rows and waiting movers before it.
    const oldIndex = staying[mover] + placedBefore(arrivals, index, staying[mover]) + waiting.before(mover);
    waiting.remove(mover);
    return { type: "modified", row: after.at(to), oldIndex, newIndex: place() };
  });
}

/**
 * How many of the first `index` arrivals have at most `staying` staying rows before them: these are before a mover with
 * that number. The numbers ascend, so a binary search finds it.
 *
 * @param {{to: number}[]} arrivals @param {number} index @param {number} staying
 */
function placedBefore(arrivals, index, staying) {
  let low = 0;
  let high = index;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (arrivals[middle].to - middle <= staying) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {number[]} ascending @param {number} bound */
function countBelow(ascending, bound) {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A set of indexes below `length` that counts its members below any index in O(log n): a Fenwick tree. */
class Counter {
  /** @type {number[]} */
  #sums;

  /** @param {number} length */
  constructor(length) {
    this.#sums = Array.from({ length: length + 1 }, (_, index) => index & -index);
  }

  /** @param {number} index */
  before(index) {
    let sum = 0;
    for (let node = index; node > 0; node -= node & -node) sum += this.#sums[node];
    return sum;
  }

  /** @param {number} index */
  remove(index) {
    for (let node = index + 1; node < this.#sums.length; node += node & -node) this.#sums[node] -= 1;
  }
}
