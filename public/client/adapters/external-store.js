// @ts-check
/** A list as React's `useSyncExternalStore` wants it. */

/** @typedef {import("../../freshet.js").LiveList} LiveList */

/** @param {LiveList} list */
export function externalStore(list) {
  const getSnapshot = () => list.state;
  const subscribe = (/** @type {() => void} */ changed) => {
    list.addEventListener("change", changed);
    return () => list.removeEventListener("change", changed);
  };
  return { subscribe, getSnapshot, getServerSnapshot: getSnapshot };
}
