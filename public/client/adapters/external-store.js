// @ts-check
/** A list in the form of React's `useSyncExternalStore`. */

/**
 * @template {object} R @template {import("../../freshet.js").Key} K
 * @param {import("../../freshet.js").LiveList<R, K>} list
 */
export function externalStore(list) {
  const getSnapshot = () => list.state;
  const subscribe = (/** @type {() => void} */ changed) => {
    list.addEventListener("change", changed);
    return () => list.removeEventListener("change", changed);
  };
  return { subscribe, getSnapshot, getServerSnapshot: getSnapshot };
}
