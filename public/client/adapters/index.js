// @ts-check
/** Changes in the forms that other libraries use. */

export { changeSet } from "./change-set.js";
export { documentChanges } from "./document-changes.js";
export { externalStore } from "./external-store.js";
export { fetchedResults } from "./fetched-results.js";
