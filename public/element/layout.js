// @ts-check
/**
 * The positions of sections and rows in pixels, and the rows that a view of a given height shows. Pure: no DOM.
 *
 * Browsers cap the height of an element (Firefox at about 17 million pixels, Chromium at 33): a taller list has a
 * scroll bar for `heightLimit` only. Within `edge` of either end, a position of the bar is the same position in the
 * list, so that the ends are reached as in any list. In between, positions are stretched.
 */

/** @typedef {{first: number, last: number}} Range offsets, `last` excluded */
/** @typedef {{row: number, header: number}} Heights in pixels */

export const heightLimit = 15_000_000;
const edge = 1_000_000;

export class ListLayout {
  /** First offset and top of each section, and as the last entry the total and the whole height. */
  #starts = [0];
  #tops = [0];

  /** @param {readonly {count: number}[]} sections @param {Heights} heights */
  constructor(sections, heights) {
    this.heights = heights;
    for (const { count } of sections) {
      this.#starts.push(this.total + count);
      this.#tops.push(this.height + heights.header + count * heights.row);
    }
  }

  /** The number of rows in all sections. */
  get total() {
    return this.#starts[this.#starts.length - 1];
  }

  /** The height of all sections in pixels. */
  get height() {
    return this.#tops[this.#tops.length - 1];
  }

  /** The height in pixels of the scrolled element. */
  get scrollHeight() {
    return Math.min(this.height, heightLimit);
  }

  get sectionCount() {
    return this.#starts.length - 1;
  }

  /** @param {number} section */
  sectionTop(section) {
    return this.#tops[section];
  }

  /** @param {number} section */
  sectionBottom(section) {
    return this.#tops[section + 1];
  }

  /**
   * Offset of a section's first row.
   *
   * @param {number} section
   */
  sectionStart(section) {
    return this.#starts[section];
  }

  /**
   * The section of a row.
   *
   * @param {number} offset
   */
  sectionOf(offset) {
    return Math.max(0, lastAtMost(this.#starts, Math.min(offset, this.total - 1)));
  }

  /**
   * The section at a height.
   *
   * @param {number} y
   */
  sectionAt(y) {
    return Math.min(Math.max(0, lastAtMost(this.#tops, y)), Math.max(0, this.sectionCount - 1));
  }

  /**
   * Top of a row.
   *
   * @param {number} offset
   */
  rowTop(offset) {
    const section = this.sectionOf(offset);
    return this.#tops[section] + this.heights.header + (offset - this.#starts[section]) * this.heights.row;
  }

  /**
   * Rows that touch the pixels from `top` to `bottom`.
   *
   * @param {number} top @param {number} bottom @returns {Range}
   */
  rowsBetween(top, bottom) {
    if (this.total === 0) return { first: 0, last: 0 };
    const first = this.#nearestRow(top, Math.floor);
    return { first, last: Math.max(first, Math.min(this.total, this.#nearestRow(bottom, Math.ceil))) };
  }

  /** @param {number} y @param {(value: number) => number} round */
  #nearestRow(y, round) {
    const section = this.sectionAt(y);
    const item = round((y - this.#tops[section] - this.heights.header) / this.heights.row);
    const count = this.#starts[section + 1] - this.#starts[section];
    return this.#starts[section] + Math.min(Math.max(0, item), count);
  }

  /**
   * The furthest that a view's top can be scrolled to.
   *
   * @param {number} viewHeight
   */
  lastTop(viewHeight) {
    return Math.max(0, this.height - viewHeight);
  }

  /**
   * As `lastTop`, but as a position of the scroll bar.
   *
   * @param {number} viewHeight
   */
  lastScrollTop(viewHeight) {
    return Math.max(0, this.scrollHeight - viewHeight);
  }

  /**
   * The top of the view in the whole list, for a position of the scroll bar.
   *
   * @param {number} scrollTop @param {number} viewHeight
   */
  topFor(scrollTop, viewHeight) {
    if (this.height <= heightLimit || scrollTop <= edge) return scrollTop;
    const fromEnd = this.lastScrollTop(viewHeight) - scrollTop;
    if (fromEnd <= edge) return this.lastTop(viewHeight) - fromEnd;
    return edge + Math.round((scrollTop - edge) * this.#stretch(viewHeight));
  }

  /**
   * The inverse of `topFor`: the position of the scroll bar for a top of the view.
   *
   * @param {number} top @param {number} viewHeight
   */
  scrollTopFor(top, viewHeight) {
    if (this.height <= heightLimit || top <= edge) return top;
    const fromEnd = this.lastTop(viewHeight) - top;
    if (fromEnd <= edge) return this.lastScrollTop(viewHeight) - fromEnd;
    return edge + (top - edge) / this.#stretch(viewHeight);
  }

  /** @param {number} viewHeight */
  #stretch(viewHeight) {
    return (this.lastTop(viewHeight) - 2 * edge) / (this.lastScrollTop(viewHeight) - 2 * edge);
  }
}

/**
 * Index of the last element that is at most `value`, -1 when none is.
 *
 * @param {number[]} ascending @param {number} value
 */
function lastAtMost(ascending, value) {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
