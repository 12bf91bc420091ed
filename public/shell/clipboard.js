// @ts-check
/** Copies text to the clipboard, also without TLS, where browsers have no `navigator.clipboard`. */

import { element } from "./dom.js";

/** @param {string} text @returns {Promise<boolean>} false: the browser does not allow it */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const before = document.activeElement;
    const field = element("textarea", { className: "off-screen", value: text, ariaHidden: "true" });
    (document.querySelector("dialog[open]") ?? document.body).append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    return isCopied;
  }
}
