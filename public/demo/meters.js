// @ts-check
/** Measurements of the page itself. */

/** Events of the last seconds, as a rate. */
export class Rate {
  /** @type {number[]} */
  #times = [];

  /** @param {number} seconds */
  constructor(seconds) {
    this.seconds = seconds;
  }

  count() {
    this.#times.push(performance.now());
  }

  get perSecond() {
    const since = performance.now() - this.seconds * 1000;
    this.#times = this.#times.filter((time) => time >= since);
    return this.#times.length / this.seconds;
  }
}

/** Frames that the browser really draws in a second. */
export class FrameMeter {
  #frames = new Rate(1);
  #isRunning = false;

  start() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const next = () => {
      if (!this.#isRunning) return;
      this.#frames.count();
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  stop() {
    this.#isRunning = false;
  }

  get perSecond() {
    return this.#frames.perSecond;
  }
}

/** The median of the last few latencies, because one of them may include the time that the page took to draw. */
export class Latency {
  /** @type {number[]} */
  #times = [];

  /** @param {number} milliseconds */
  record(milliseconds) {
    this.#times = [...this.#times, milliseconds].slice(-5);
  }

  get median() {
    return [...this.#times].sort((left, right) => left - right)[this.#times.length >> 1];
  }
}

/** @param {number | undefined} milliseconds */
export function inMilliseconds(milliseconds) {
  return milliseconds === undefined ? "–" : `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}
