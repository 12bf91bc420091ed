// @ts-check
/**
 * Offsets of the rows that only one of two sequences has. The other rows are common to both, in the same order. Pure.
 * Look-ups are O(log offsets).
 */

export class OffsetSet {
  /** @type {number[]} */
  #ascending;

  /** @param {Iterable<number>} [offsets] */
  constructor(offsets = []) {
    this.#ascending = [...offsets].sort((left, right) => left - right);
  }

  /** @param {number} offset */
  has(offset) {
    return this.#ascending[this.#countBelow(offset)] === offset;
  }

  /**
   * How many common rows precede an offset.
   *
   * @param {number} offset
   */
  rankOf(offset) {
    return offset - this.#countBelow(offset);
  }

  /**
   * The offset of the row that this many common rows precede.
   *
   * @param {number} rank
   */
  offsetOf(rank) {
    return rank + this.#count((index) => this.#ascending[index] - index <= rank);
  }

  /** @param {number} offset */
  #countBelow(offset) {
    return this.#count((index) => this.#ascending[index] < offset);
  }

  /**
   * The number of leading indexes that `holds` is true for; it must be false for all others.
   *
   * @param {(index: number) => boolean} holds
   */
  #count(holds) {
    let [low, high] = [0, this.#ascending.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
