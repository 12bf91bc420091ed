// @ts-check
/** Changes in the form of Realm's collection notifications. */

import { pathsOf } from "./paths.js";

/** @typedef {import("../../freshet.js").ChangeEvent} ChangeEvent */
/** @typedef {import("../../freshet.js").ListState} ListState */
/** @typedef {import("../../freshet.js").IndexPath} IndexPath */
/** @typedef {import("../../freshet.js").ChangeSet} ChangeSet */

/** @param {ChangeEvent} event @returns {ChangeSet | null} */
export function changeSet({ patch, before, after }) {
  if (!patch) return null;
  const { deleted, inserted, moved, updated } = pathsOf(patch, before, after);
  const old = (/** @type {IndexPath[]} */ paths) => offsets(before, paths);
  const now = (/** @type {IndexPath[]} */ paths) => offsets(after, paths);
  return {
    deletions: old([...deleted, ...moved.map(([from]) => from)]),
    insertions: now([...inserted, ...moved.map(([, to]) => to)]),
    oldModifications: old(updated.map(([from]) => from)),
    newModifications: now(updated.map(([, to]) => to)),
    sectionsToDelete: [...(patch.sectionsDeleted ?? [])].sort((left, right) => left - right),
    sectionsToInsert: (patch.sectionsInserted ?? []).map((/** @type {any} */ [index]) => index),
  };
}

/** @param {ListState} state @param {IndexPath[]} paths */
function offsets(state, paths) {
  return paths.map((path) => Number(state.offsetOf(path))).sort((left, right) => left - right);
}
