// @ts-check
/** The hook. Rendering opens nothing and changes nothing, except for lists that a Suspense boundary waits for. */

import { useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { FreshetContext } from "./context.js";
import { earlyList, earlyView } from "./early-lists.js";
import { QueryStore } from "./query-store.js";
import { resultOf } from "./view.js";
import { isSame, wantedOf } from "./wanted.js";

/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../react.js").LiveQueryOptions} LiveQueryOptions */
/** @typedef {import("./view.js").View} View */
/** @typedef {import("./wanted.js").Wanted} Wanted */

/** @param {Query | null} query @param {LiveQueryOptions} [options] */
export function useLiveQuery(query, options = {}) {
  const { suspense = false, throwErrors = false } = options;
  const wanted = useWanted(query, options);
  const [store] = useState(() => new QueryStore(suspense && wanted ? earlyView(wanted) : undefined));
  const current = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getServerSnapshot);
  useEffect(() => store.retain(), [store]);
  useEffect(() => store.follow(wanted, suspense), [store, wanted]);

  const view = suspense && wanted ? firstRows(current, wanted) : current;
  const isPending = wanted !== null && !isSame(view.answered, wanted);
  if (throwErrors && wanted && !isPending && view.isRefused) throw view.error;
  return useMemo(() => resultOf(view, wanted, isPending), [view, wanted, isPending]);
}

/**
 * The same object until the client, the query or an option changes.
 *
 * @param {Query | null} query @param {LiveQueryOptions} options @returns {Wanted | null}
 */
function useWanted(query, options) {
  const provided = useContext(FreshetContext);
  const client = options.client ?? provided;
  if (client === undefined) {
    throw new Error("useLiveQuery needs a client: <FreshetProvider client={…}> around it, or the option client");
  }
  const wanted = client && query ? wantedOf(client, query, options) : null;
  return useMemo(() => wanted, [client, wanted?.key ?? null]);
}

/**
 * Suspends until there are rows or an error to show.
 *
 * @param {View} view @param {Wanted} wanted @returns {View}
 */
function firstRows(view, wanted) {
  if (view.state.version !== null || isSame(view.answered, wanted)) return view;
  const early = earlyList(wanted);
  if (!early.isSettled) throw early.promise;
  return early.view;
}
