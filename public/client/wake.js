// @ts-check

/**
 * Calls back when this device may just have come back: it found a network, or the page is visible again. Without
 * such events (in Node) it never does.
 *
 * @param {() => void} callback
 * @returns {() => void} stops it
 */
export function onWake(callback) {
  if (typeof globalThis.addEventListener !== "function" || typeof document === "undefined") return () => {};
  const looked = () => {
    if (document.visibilityState === "visible") callback();
  };
  globalThis.addEventListener("online", callback);
  globalThis.addEventListener("pageshow", callback);
  document.addEventListener("visibilitychange", looked);
  return () => {
    globalThis.removeEventListener("online", callback);
    globalThis.removeEventListener("pageshow", callback);
    document.removeEventListener("visibilitychange", looked);
  };
}
