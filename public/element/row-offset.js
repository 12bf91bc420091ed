// @ts-check

/** @typedef {import("./types.js").ListState} ListState */
/** @typedef {import("./types.js").Row} Row */

/**
 * The offset of a row; null if it is not held.
 *
 * @param {ListState} state @param {Row} row of that state or of another one of the same table
 * @returns {number | null}
 */
export function offsetOfRow(state, row) {
  const path = state.path(state.key.map((column) => row[column]));
  return path && state.offsetOf(path);
}
