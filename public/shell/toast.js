// @ts-check
/**
 * One sentence about what has just happened, with buttons for what can be done about it. It is shown below the view for
 * three seconds, or longer while one of its buttons has the focus. It covers nothing: the view is shorter meanwhile.
 */

import { element, part } from "./dom.js";

/** @typedef {{title: string, action: () => void}} Button */

/** Milliseconds. */
const shownFor = 3000;

const text = element("span");
const buttons = element("span", { className: "toast-buttons" });
let milliseconds = shownFor;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let shownWeight = 0;

/**
 * @param {string} sentence
 * @param {{weight: number, buttons: Button[], milliseconds?: number}} options a sentence does not replace one of more
 *   weight; `milliseconds` for a sentence with a decision
 */
export function say(sentence, { weight, buttons: wanted, milliseconds: duration = shownFor }) {
  if (!part("toast").hidden && weight < shownWeight) return;
  shownWeight = weight;
  milliseconds = duration;
  text.textContent = sentence;
  buttons.replaceChildren(...wanted.map(({ title, action }) => {
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      hideToast();
      action();
    });
    return button;
  }));
  part("toast").hidden = false;
  hideLater();
}

export function hideToast() {
  clearTimeout(timer);
  part("toast").hidden = true;
}

function hideLater() {
  clearTimeout(timer);
  timer = setTimeout(() => (part("toast").matches(":focus-within") ? hideLater() : hideToast()), milliseconds);
}

part("toast").replaceChildren(text, buttons);
