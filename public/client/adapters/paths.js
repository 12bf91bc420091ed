// @ts-check

/** @typedef {import("../../freshet.js").ListState} ListState */
/** @typedef {import("../../freshet.js").IndexPath} IndexPath */
/** @typedef {import("../../freshet.js").Message} Message */

/**
 * The rows that a patch is about, those of sections that come or go as well; `deleted` and the first of two in old
 * coordinates, all else in new ones.
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
