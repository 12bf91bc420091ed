// @ts-check
/** Keys that lead from anywhere to the rows and to the list of keys, for users without a pointer. */

import { part } from "./dom.js";

/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

/** @param {() => string} view the name of the shown view */
export function followKeys(view) {
  part("skip").addEventListener("click", (event) => {
    // The default action would change the hash, which determines what is shown.
    event.preventDefault();
    skipToRows(part(view()));
  });
  // Captured, before a list takes the key for the beginning of a section's name.
  document.addEventListener("keydown", (event) => {
    const isField = /** @type {Element} */ (event.target).matches("input, textarea, select, [contenteditable]");
    if (event.key !== "?" || event.ctrlKey || event.metaKey || isField || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    event.stopPropagation();
    showKeys(view());
  }, { capture: true });
  part("show-keys").addEventListener("click", () => showKeys(view()));
}

/** @param {HTMLElement} main */
function skipToRows(main) {
  const list = /** @type {LiveListElement | null} */ (main.querySelector("live-list"));
  if (list?.list) return list.focus();
  main.tabIndex = -1;
  return main.focus();
}

/** @param {string} view */
async function showKeys(view) {
  const { openKeys } = await import("./keys-dialog.js");
  openKeys(view);
}
