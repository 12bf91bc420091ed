// @ts-check

/** @typedef {import("../../freshet.js").ListState} ListState */
/** @typedef {import("../../freshet.js").IndexPath} IndexPath */
/** @typedef {import("../../freshet.js").Message} Message */

/**
 * The paths of the rows in a patch, including those of inserted and deleted sections. `deleted` and the first of two
 * paths are old coordinates; all others are new ones.
 *
 * @param {Message} patch @param {ListState} before @param {ListState} after
 * @returns {{deleted: IndexPath[], inserted: IndexPath[], moved: IndexPath[][], updated: IndexPath[][]}}
 */
export function pathsOf(patch, before, after) {
  const allOf = (/** @type {ListState} */ state) => (/** @type {number} */ section) =>
    Array.from({ length: state.sections[section].count }, (_, item) => [section, item]);
  const sectionsInserted = (patch.sectionsInserted ?? []).map((/** @type {any} */ [index]) => index);
  return {
    deleted: [...(patch.deleted ?? []), ...(patch.sectionsDeleted ?? []).flatMap(allOf(before))],
    inserted: [
      ...(patch.inserted ?? []).map((/** @type {any} */ [section, item]) => [section, item]),
      ...sectionsInserted.flatMap(allOf(after))],
    moved: (patch.moved ?? []).map((/** @type {any} */ [from, to]) => [from, to]),
    updated: (patch.updated ?? []).map((/** @type {any} */ [from, to]) => [from, to]),
  };
}
