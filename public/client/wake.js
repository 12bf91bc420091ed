// @ts-check

/**
 * Calls back when the device may just have woken: it has a network, or the page is visible again. Without such events
 * (in Node) it never calls back.
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
