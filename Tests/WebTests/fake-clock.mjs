// A clock that the test controls. (Node's own mock timers differ between the versions that people have.)

const real = { setTimeout, clearTimeout, setInterval, clearInterval, now: Date.now };

class FakeClock {
  #timers = new Map();
  #count = 0;

  /** From now on, time and timers advance only by the test. */
  start(now = 1_000_000) {
    this.now = now;
    this.#timers.clear();
    const add = (every) => (callback, delay = 0) => {
      this.#timers.set(++this.#count, { callback, due: this.now + delay, every: every ? delay : 0 });
      return this.#count;
    };
    const remove = (id) => this.#timers.delete(id);
    Object.assign(globalThis, { setTimeout: add(false), setInterval: add(true), clearTimeout: remove, clearInterval: remove });
    Date.now = () => this.now;
  }

  stop() {
    const { now, ...timers } = real;
    Object.assign(globalThis, timers);
    Date.now = now;
  }

  /** Lets time pass, and runs the timers that are due, in order. */
  tick(milliseconds) {
    const end = this.now + milliseconds;
    for (;;) {
      const [id, timer] = [...this.#timers].sort(([, left], [, right]) => left.due - right.due)[0] ?? [];
      if (!timer || timer.due > end) break;
      this.now = Math.max(this.now, timer.due);
      if (timer.every) timer.due = this.now + timer.every;
      else this.#timers.delete(id);
      timer.callback();
    }
    this.now = end;
  }

  /** Lets time pass as if the device slept: no timers run meanwhile; afterwards each due timer runs once. */
  sleep(milliseconds) {
    this.now += milliseconds;
  }
}

export const clock = new FakeClock();
