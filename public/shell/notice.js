// @ts-check
/** One sentence below the view: what has failed, or what the page waits for. Like a toast, it covers nothing. */

import { part } from "./dom.js";

/** Milliseconds. */
const shownFor = 3000;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {string | null} sentence null: hides the notice @param {boolean} [stays] until the next call */
export function notify(sentence, stays = false) {
  clearTimeout(timer);
  part("notice").hidden = sentence === null;
  part("notice").textContent = sentence;
  if (sentence !== null && !stays) timer = setTimeout(() => notify(null), shownFor);
}

part("notice").addEventListener("click", () => notify(null));
