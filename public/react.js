// @ts-check
/**
 * Live lists in React 18 and newer: `freshet/react`.
 *
 * In reading order: `use-live-query.js` is the hook, `query-store.js` follows one component's query, `early-lists.js`
 * has the lists of components that wait in a Suspense boundary, `view.js` is the content that is shown, `wanted.js`
 * compares queries.
 */

export { FreshetProvider, useFreshet } from "./react/context.js";
export { useLiveQuery } from "./react/use-live-query.js";
