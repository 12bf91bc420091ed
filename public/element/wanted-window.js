// @ts-check
/** The window of rows whose contents to request. Pure. */

/** @typedef {import("./layout.js").Range} Range */
/** @typedef {{offset: number, limit: number}} Window */

/** The least number of rows to request: a message with fewer is hardly shorter. */
const smallestWindow = 120;

/**
 * The rows in view, and as many again on either side.
 *
 * @param {Range} range @returns {Window}
 */
export function windowAround({ first, last }) {
  const visible = Math.max(1, last - first);
  const limit = Math.max(smallestWindow, visible * 3);
  return { offset: Math.max(0, first - Math.floor((limit - visible) / 2)), limit };
}

/**
 * Whether a window includes the rows in view, and half as many on either side.
 *
 * @param {Window} window @param {Range} range @param {number} total
 */
export function isEnough(window, { first, last }, total) {
  const margin = Math.floor((last - first) / 2);
  return window.offset <= Math.max(0, first - margin)
    && window.offset + window.limit >= Math.min(total, last + margin);
}
