/** Changes in the forms that other libraries use: what `freshet/adapters` exports, without the client. */
export { changeSet, documentChanges, externalStore, fetchedResults } from "./freshet.js";
export type { ChangeSet, DocumentChange, FetchedResultsDelegate } from "./freshet.js";
