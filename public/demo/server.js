// @ts-check
/** What the server does, from its metrics. */

import { Chart } from "./chart.js";
import { formatted, part } from "./dom.js";
import { meanOf, parseMetrics, perSecond } from "./metrics.js";

/** @typedef {import("./metrics.js").Reading} Reading */

const whole = (/** @type {number} */ value) => formatted(Math.round(value));
const tenth = (/** @type {number} */ value) => value.toFixed(1);
const milliseconds = (/** @type {number} */ value) => `${(value * 1000).toFixed(2)} ms`;
const gauge = (/** @type {string} */ name) => (/** @type {Reading | null} */ _, /** @type {Reading} */ now) => now.values.get(name) ?? null;
const rate = (/** @type {string} */ name) => (/** @type {Reading | null} */ before, /** @type {Reading} */ now) => perSecond(before, now, name);

/**
 * @type {{title: string, help: string, format: (value: number) => string,
 *   value: (before: Reading | null, now: Reading) => number | null}[]}
 */
const charts = [
  { title: "Commit to frame", help: "From noticing a commit to having handed over what it caused, the mean of a second", format: milliseconds,
    value: (before, now) => meanOf(before, now, "freshet_tick_duration_seconds") },
  { title: "Ticks per second", help: "Turns that found a change of the database", format: tenth, value: rate("freshet_ticks_total") },
  { title: "Row changes per second", help: "In all followed tables", format: tenth, value: rate("freshet_changes_total") },
  { title: "Patches per second", help: "Sent, to all clients together", format: tenth, value: rate("freshet_patches_total") },
  { title: "Controllers", help: "Queries that are followed", format: whole, value: gauge("freshet_controllers") },
  { title: "Subscribers", help: "Subscriptions of all clients", format: whole, value: gauge("freshet_subscriptions") },
  { title: "Versions held", help: "For clients that come back", format: whole, value: gauge("freshet_versions") },
  { title: "Connections", help: "WebSockets", format: whole, value: gauge("freshet_sessions") },
];

export class ServerView {
  #charts = charts.map(({ title, format, help }) => new Chart(title, format, help));
  /** @type {Reading | null} */
  #before = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  constructor() {
    part("charts").replaceChildren(...this.#charts.map(({ element }) => element));
  }

  show() {
    this.#timer = setInterval(() => this.#read(), 1000);
    this.#read();
  }

  hide() {
    clearInterval(this.#timer);
    this.#before = null;
  }

  async #read() {
    try {
      const answer = await fetch("metrics");
      const now = { values: parseMetrics(await answer.text()), time: performance.now() };
      charts.forEach(({ value }, index) => this.#charts[index].add(value(this.#before, now)));
      this.#before = now;
    } catch {
      for (const chart of this.#charts) chart.add(null);
    }
  }
}
