// @ts-check
/** The progress of a list that takes longer than a second to load. */

import { element, formatted } from "../shell/dom.js";

/**
 * @typedef {{rows: number, total: number | null}} Progress `rows`: the number loaded so far; `total`: the number of
 * all, null if unknown
 */

/** Milliseconds before it appears, and between two updates. */
const patience = 1000;
const pause = 250;

export class LoadingBar {
  element = element("progress", { className: "loading-bar", hidden: true, ariaLabel: "Loading rows" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {(sentence: string) => void} say */
  constructor(say) {
    this.say = say;
  }

  /** @param {() => Progress} progress */
  start(progress) {
    this.stop();
    this.#timer = setTimeout(() => this.#show(progress), patience);
  }

  /** @param {() => Progress} progress */
  #show(progress) {
    const { rows, total } = progress();
    if (total === null) this.element.removeAttribute("value");
    else Object.assign(this.element, { max: total, value: rows });
    const sentence = `${formatted(rows)} ${rows === 1 ? "row" : "rows"} so far`;
    this.element.setAttribute("aria-valuetext", sentence);
    this.element.hidden = false;
    this.say(sentence);
    this.#timer = setTimeout(() => this.#show(progress), pause);
  }

  stop() {
    clearTimeout(this.#timer);
    this.element.hidden = true;
  }
}
