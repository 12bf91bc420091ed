// @ts-check
/**
 * Announces the state of the list to assistive technology: that rows are loading, and how many there are when they have
 * come. Patches are not announced. When the state changes quickly, only the last sentence is spoken, at most one each
 * `pause`.
 */

/** Milliseconds from one sentence to the next. */
const pause = 2000;

export class Announcer {
  #last = -Infinity;
  #wanted = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {{textContent: string | null}} element a live region @param {() => number} now in milliseconds */
  constructor(element, now = () => performance.now()) {
    this.element = element;
    this.now = now;
  }

  /** @param {string} sentence */
  say(sentence) {
    if (sentence === this.#wanted) return;
    this.#wanted = sentence;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#speak(), Math.max(0, this.#last + pause - this.now()));
  }

  #speak() {
    this.#last = this.now();
    this.element.textContent = this.#wanted;
  }

  stop() {
    clearTimeout(this.#timer);
    this.#wanted = "";
  }
}
