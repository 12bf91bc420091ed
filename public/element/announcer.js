// @ts-check
/**
 * Says to assistive technology what goes on: that rows are on their way, how many there are when they have come. Not
 * what each patch does; and no more than a sentence in a while, the last one, when things change quickly.
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
