// @ts-check
/**
 * The line over the end of a list that says why its rows may be out of date. It counts down to the next attempt to
 * connect.
 */

import { staleness } from "./staleness.js";

/** @typedef {import("./staleness.js").Situation} Situation */

export class StaleLine {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {string | null} */
  #topic = null;

  /**
   * @param {HTMLElement} host its attribute `data-stale` gets the topic, for style sheets
   * @param {HTMLElement} line @param {() => Situation} situation
   */
  constructor(host, line, situation) {
    this.host = host;
    this.line = line;
    this.situation = situation;
  }

  /** @returns {{topic: string, sentence: string} | null} its present text */
  show() {
    clearTimeout(this.#timer);
    const situation = this.situation();
    const stale = staleness(situation, Date.now());
    if (stale && this.line.textContent !== stale.sentence) this.line.textContent = stale.sentence;
    if (stale?.topic === "reconnecting" && situation.retryAt !== null) this.#timer = setTimeout(() => this.show(), 250);
    const topic = stale?.topic ?? null;
    if (topic !== this.#topic) {
      this.#topic = topic;
      this.line.hidden = topic === null;
      if (topic === null) delete this.host.dataset.stale;
      else this.host.dataset.stale = topic;
    }
    return stale;
  }

  stop() {
    clearTimeout(this.#timer);
  }
}
