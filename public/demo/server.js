// @ts-check
/**
 * What the server does: how long commits take to reach clients, which lists are open, how many clients share them, and
 * which queries are slow.
 */

import { formatted, part } from "../shell/dom.js";
import { serverAddress } from "../shell/place.js";
import { request } from "../shell/session.js";
import { Chart } from "./chart.js";
import { meanOf, parseMetrics, perSecond, readingsOf } from "./metrics.js";
import { bytesInWords, counted, latencyInWords, milliseconds, serverInWords, slowCount, totalOf } from "./server-report.js";
import { openLists, slowQueries } from "./server-tables.js";

/** @typedef {import("./metrics.js").Reading} Reading */
/** @typedef {import("./server-report.js").Report} Report */

const whole = (/** @type {number} */ value) => formatted(Math.round(value));
const tenth = (/** @type {number} */ value) => value.toFixed(1);
const gauge = (/** @type {string} */ name) => (/** @type {Reading | null} */ _, /** @type {Reading} */ now) => totalOf(now.values, name);
const rate = (/** @type {string} */ name) => (/** @type {Reading | null} */ before, /** @type {Reading} */ now) => perSecond(before, now, name);

/**
 * @type {{title: string, help: string, format: (value: number) => string,
 *   value: (before: Reading | null, now: Reading) => number | null}[]}
 */
const charts = [
  { title: "From commit to client", help: "From noticing a commit until its patches are handed to the network: the mean of each second", format: milliseconds,
    value: (before, now) => meanOf(before, now, "freshet_tick_duration_seconds") },
  { title: "Commits a second", help: "Commits to the file that changed something, whoever made them", format: tenth, value: rate("freshet_ticks_total") },
  { title: "Rows changed a second", help: "In all tables that a list follows", format: tenth, value: rate("freshet_changes_total") },
  { title: "Patches a second", help: "Sent to all clients together", format: tenth, value: rate("freshet_patches_total") },
  { title: "Lists followed", help: "Different queries; clients that ask the same share one", format: whole, value: gauge("freshet_controllers") },
  { title: "Subscriptions", help: "Lists on the screens of all clients together", format: whole, value: gauge("freshet_subscriptions") },
  { title: "Connections", help: "WebSockets that are open", format: whole, value: gauge("freshet_sessions") },
  { title: "Memory", help: "What the server holds of this machine's memory", format: bytesInWords, value: gauge("process_resident_memory_bytes") },
];

export class ServerView {
  #charts = charts.map(({ title, format, help }) => new Chart(title, format, help));
  /** @type {Reading | null} */
  #before = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  /** Counts how often the view was shown or hidden, so that late answers are ignored. */
  #showing = 0;
  /**
   * The report from which the tables were drawn. While it is the same they are not redrawn, so that selected text stays
   * selected.
   */
  #drawn = "";
  /**
   * Why the server does not report its lists; if set, it is not asked again.
   *
   * @type {string | null}
   */
  #silence = null;

  constructor() {
    this.#charts[0].element.classList.add("wide-chart");
    /** @type {HTMLAnchorElement} */ (part("all-numbers")).href = serverAddress("metrics");
    part("charts").replaceChildren(...this.#charts.map(({ element }) => element));
  }

  async show() {
    const shown = (this.#showing += 1);
    await this.#readHistory();
    if (shown !== this.#showing) return;
    this.#timer = setInterval(() => this.#read(), 1000);
    this.#read();
  }

  /** Reads the history, so that the charts begin before the page was opened. */
  async #readHistory() {
    /** @type {Reading | null} */
    let before = null;
    for (const chart of this.#charts) chart.clear();
    for (const reading of await readHistory()) {
      const earlier = before;
      charts.forEach(({ value }, index) => this.#charts[index].add(value(earlier, reading), reading.time));
      before = reading;
    }
  }

  hide() {
    this.#showing += 1;
    clearInterval(this.#timer);
    this.#before = null;
    this.#silence = null;
  }

  async #read() {
    const [reading, report] = await Promise.all([readMetrics(), this.#silence ?? readReport()]);
    if (typeof report === "string" && reading) this.#silence = report;
    if (reading) {
      charts.forEach(({ value }, index) => this.#charts[index].add(value(this.#before, reading), reading.time));
      part("latency-note").textContent = latencyInWords(reading) ?? "No commit has been seen yet.";
    } else {
      for (const chart of this.#charts) chart.add(null, Date.now());
    }
    this.#before = reading;
    this.#showReport(report, reading ?? { values: new Map(), time: 0 });
  }

  /** @param {Report | string} report the report, or why there is none @param {Reading} reading */
  #showReport(report, reading) {
    const known = typeof report === "string" ? null : report;
    part("server-note").textContent = serverInWords(known, reading);
    const { lists = null, listsLeftOut = 0, slowQueries: slow = slowCount(reading) } = known ?? {};
    const drawn = JSON.stringify([report && !known ? report : lists, listsLeftOut, slow]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    part("open-lists").replaceChildren(...(known ? openLists(known) : [String(report)]));
    part("slow-queries").replaceChildren(...(known ? slowQueries(known)
      : [`${counted(slowCount(reading), "query", "queries")} took longer than the server’s limit for slow ones.`]));
  }
}

/** @returns {Promise<Reading | null>} null: there is no answer */
async function readMetrics() {
  try {
    const answer = await request(serverAddress("metrics"));
    return answer.ok ? { values: parseMetrics(await answer.text()), time: Date.now() } : null;
  } catch {
    return null;
  }
}

/** @returns {Promise<Reading[]>} the oldest first; empty if the server keeps none */
async function readHistory() {
  try {
    const answer = await request(serverAddress("metrics/history"));
    return answer.ok ? readingsOf(await answer.json()) : [];
  } catch {
    return [];
  }
}

/** @returns {Promise<Report | string>} the report, or why there is none */
async function readReport() {
  try {
    const answer = await request("v1/server");
    if (answer.ok) return await answer.json();
    if (answer.status === 404) return "This server does not list what is open.";
    return (await answer.json()).detail ?? "This server does not list what is open.";
  } catch {
    return "The server cannot be reached.";
  }
}
