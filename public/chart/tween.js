// @ts-check
/** Named numbers that move to new values: a chart draws them while its values change. */

/** @typedef {Map<string, number>} Numbers */

const duration = 350;

export class Tween {
  /** @type {Numbers} */
  #from = new Map();
  /** @type {Numbers} */
  #to = new Map();
  #start = -Infinity;
  #frame = 0;

  /**
   * @param {(numbers: Numbers) => void} draw called once a frame until the numbers have arrived
   * @param {() => boolean} isStill whether to jump without animation
   */
  constructor(draw, isStill) {
    this.draw = draw;
    this.isStill = isStill;
  }

  /**
   * Starts moving to new numbers. A number that is new has its value at once, unless `births` has a value to start
   * from.
   *
   * @param {Numbers} target @param {Numbers} births
   */
  go(target, births) {
    const now = performance.now();
    const shown = this.#at(now);
    const isFirst = this.#to.size === 0;
    this.#from = new Map([...target].map(([name, value]) => [name, shown.get(name) ?? (isFirst ? value : births.get(name)) ?? value]));
    this.#to = target;
    this.#start = isFirst || this.isStill() ? -Infinity : now;
    if (this.#frame === 0) this.#tick(now);
  }

  /** @param {number} now @returns {Numbers} */
  #at(now) {
    const elapsed = Math.min(1, (now - this.#start) / duration);
    const progress = 1 - (1 - elapsed) ** 3;
    return new Map([...this.#to].map(([name, value]) => {
      const from = /** @type {number} */ (this.#from.get(name));
      return [name, progress >= 1 ? value : from + (value - from) * progress];
    }));
  }

  /** @param {number} now */
  #tick(now) {
    this.draw(this.#at(now));
    // A hidden page gets no frames. When it is visible again, it draws the state of that moment.
    this.#frame = now - this.#start < duration ? requestAnimationFrame(() => this.#tick(performance.now())) : 0;
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#to = new Map();
  }
}
