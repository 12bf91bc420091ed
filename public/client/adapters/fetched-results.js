// @ts-check
/** Changes as `NSFetchedResultsController` reports them to its delegate. */

import { pathsOf } from "./paths.js";

/** @typedef {import("../../freshet.js").LiveList} LiveList */
/** @typedef {import("../../freshet.js").FetchedResultsDelegate} FetchedResultsDelegate */

/** @param {LiveList} list @param {FetchedResultsDelegate} delegate */
export function fetchedResults(list, delegate) {
  const changed = (/** @type {any} */ { kind, patch, before, after }) => {
    if (kind === "rows") return;
    if (kind === "snapshot") {
      delegate.didReload?.(list);
      return;
    }
    delegate.willChange?.(list);
    for (const index of patch.sectionsDeleted ?? []) delegate.didChangeSection?.(before.sections[index], index, "delete");
    for (const [index] of patch.sectionsInserted ?? []) delegate.didChangeSection?.(after.sections[index], index, "insert");
    const { deleted, inserted, moved, updated } = pathsOf(patch, before, after);
    for (const path of deleted) delegate.didChangeObject?.(before.row(path), path, "delete", null);
    for (const path of inserted) delegate.didChangeObject?.(after.row(path), null, "insert", path);
    for (const [from, to] of moved) delegate.didChangeObject?.(after.row(to), from, "move", to);
    for (const [from, to] of updated) delegate.didChangeObject?.(after.row(to), from, "update", to);
    delegate.didChange?.(list);
  };
  list.addEventListener("change", changed);
  return () => list.removeEventListener("change", changed);
}
