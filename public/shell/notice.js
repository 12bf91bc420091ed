// @ts-check
/** One sentence at the bottom of the page: what did not work. */

import { part } from "./dom.js";

/** @param {string | null} sentence null: there is nothing to say any more */
export function notify(sentence) {
  part("notice").hidden = sentence === null;
  part("notice").textContent = sentence;
}

part("notice").addEventListener("click", () => notify(null));
