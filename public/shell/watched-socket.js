// @ts-check
/** The page's WebSocket, whose incoming messages can be watched as they arrive. */

/** @typedef {(text: string, time: number) => void} Watcher `time` as of `performance.now()` */

/** @type {Set<Watcher>} */
const watchers = new Set();

export class WatchedSocket extends WebSocket {
  /** @param {string | URL} url @param {string} protocol */
  constructor(url, protocol) {
    super(url, protocol);
    this.addEventListener("message", ({ data }) => {
      if (watchers.size === 0) return;
      const now = performance.now();
      for (const watcher of watchers) watcher(data, now);
    });
  }
}

/** @param {Watcher} watcher @returns {() => void} stops it */
export function watchFrames(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
