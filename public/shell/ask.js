// @ts-check
/** A dialog that asks before an action. */

import { element } from "./dom.js";

/**
 * @param {string} question @param {string[]} sentences @param {string} title of the button that confirms
 * @returns {Promise<boolean>}
 */
export function ask(question, sentences, title) {
  const before = document.activeElement;
  const dialog = element("dialog", { className: "ask-dialog", ariaLabel: question });
  const yes = element("button", { type: "button", className: "danger" }, title);
  const no = element("button", { type: "button" }, "Cancel");
  dialog.append(element("h2", {}, question), ...sentences.map((sentence) => element("p", {}, sentence)), element("div", { className: "ask-buttons" }, no, yes));
  yes.addEventListener("click", () => dialog.close("yes"));
  no.addEventListener("click", () => dialog.close(""));
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(dialog);
  dialog.showModal();
  no.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      resolve(dialog.returnValue === "yes");
    });
  });
}
