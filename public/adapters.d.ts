/** Changes in the shapes that people know from elsewhere: what `freshet/adapters` exports, without the client. */
export { changeSet, documentChanges, externalStore, fetchedResults } from "./freshet.js";
export type { ChangeSet, DocumentChange, FetchedResultsDelegate } from "./freshet.js";
