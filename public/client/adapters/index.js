// @ts-check
/** Changes in the shapes that people know from elsewhere. */

export { changeSet } from "./change-set.js";
export { documentChanges } from "./document-changes.js";
export { externalStore } from "./external-store.js";
export { fetchedResults } from "./fetched-results.js";
