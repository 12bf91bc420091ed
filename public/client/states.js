// @ts-check
/** The states of a list, for `for await`. */

import { emptyState } from "./list-state.js";

/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {import("./live-list.js").LiveList} LiveList */

/**
 * The states of a list. A slow reader gets only the newest, and so fewer of them.
 *
 * @param {LiveList} list @returns {AsyncGenerator<ListState, void, void>}
 */
export async function* statesOf(list) {
  let last = emptyState;
  while (true) {
    if (list.status === "closed") return;
    if (list.status === "failed") throw list.error;
    if (list.state !== last && list.state.isComplete) {
      last = list.state;
      yield last;
    } else {
      await nextEvent(list);
    }
  }
}

/** @param {LiveList} list */
function nextEvent(list) {
  return new Promise((resolve) => {
    const controller = new AbortController();
    const done = () => {
      controller.abort();
      resolve(undefined);
    };
    for (const type of ["change", "status"]) list.addEventListener(type, done, { signal: controller.signal });
  });
}
