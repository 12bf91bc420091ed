// @ts-check
/** One sentence over the lists for a while, with something to do about it: what a burst took, undo, follow. */

import { element, part } from "../shell/dom.js";

/** @typedef {{title: string, action: () => void}} Button */

/** Milliseconds. */
const shownFor = 9_000;

export class Said {
  #text = element("span");
  #button = element("button", { type: "button" });
  /** Sentences of less weight do not take the place of this one. */
  #weight = 0;
  /** @type {(() => void) | null} */
  #action = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  constructor() {
    part("said").replaceChildren(this.#text, this.#button);
    this.#button.addEventListener("click", () => {
      const action = this.#action;
      this.hide();
      action?.();
    });
  }

  /** @param {string} sentence @param {{weight: number, button?: Button}} options */
  say(sentence, { weight, button }) {
    if (!part("said").hidden && weight < this.#weight) return;
    this.#weight = weight;
    this.#text.textContent = sentence;
    this.#button.hidden = !button;
    this.#button.textContent = button?.title ?? "";
    this.#action = button?.action ?? null;
    part("said").hidden = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.hide(), shownFor);
  }

  hide() {
    clearTimeout(this.#timer);
    part("said").hidden = true;
    this.#action = null;
  }
}
