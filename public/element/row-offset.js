// @ts-check

/** @typedef {import("./types.js").ListState} ListState */
/** @typedef {import("./types.js").Row} Row */

/**
 * Where a row stands; null when it is not held.
 *
 * @param {ListState} state @param {Row} row of that state or of another one of the same table
 * @returns {number | null}
 */
export function offsetOfRow(state, row) {
  const path = state.path(state.key.map((column) => row[column]));
  return path && state.offsetOf(path);
}
