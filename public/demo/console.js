// @ts-check
/** A typed query: its result, its frames, its explanation, and its text for other programs. */

import { connect } from "../freshet.js";
import { element, fillSelect, formatted, part } from "../shell/dom.js";
import { explain } from "./explanation.js";
import { FrameLog, ToldSocket } from "./frame-log.js";
import { databaseAddress } from "../shell/place.js";
import { connectOptions } from "../shell/session.js";
import { copies, queryOf } from "./query-text.js";

/** @typedef {import("../shell/schema.js").Table} Table */
/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

/** Fields by the names of a query's members, with examples. */
const fields = {
  from: "well JOIN operator ON …", select: "all columns", where: "depth > :min", params: '{"min": 1000}',
  groupBy: "", having: "", sectionBy: "county", orderBy: "name, depth DESC", limit: "all",
};

/** @type {Record<string, Record<string, string>>} */
const demoPresets = {
  // The first preset, because its rows move: the demo's writer often changes these.
  "The first hundred wells": { from: "well", select: "name, county, status, depth", orderBy: "county, name", limit: "100" },
  "The deepest hundred wells": { from: "well", select: "name, county, depth", orderBy: "depth DESC", limit: "100" },
  "Wells by operator, grouped": { from: "well", select: "operator, count(*) AS wells, round(avg(depth)) AS depth", groupBy: "operator", orderBy: "wells DESC" },
  "Drilling, by county": { from: "well", select: "name, operator, depth", where: "status = :status", params: '{"status": "Drilling"}', sectionBy: "county", orderBy: "name" },
  "Banks with their closings": { from: "bank JOIN closing ON closing.bank_id = bank.id", select: "bank.name, state, closed, assets", sectionBy: "state", orderBy: "closed DESC" },
  "A running total (run again and differed)": { from: "closing", select: "closed, assets, round(sum(assets) OVER (ORDER BY closed)) AS total", orderBy: "closed DESC" },
};

export class ConsoleView {
  #log = new FrameLog(part("frame-log"));
  /** @type {import("../freshet.js").Query} */
  #query = {};

  /** @param {Table[]} tables */
  constructor(tables) {
    this.form = /** @type {HTMLFormElement} */ (part("query-form"));
    this.list = /** @type {LiveListElement} */ (part("result-list"));
    this.presets = presetsFor(tables);
    part("fields").replaceChildren(...Object.entries(fields).map(([name, placeholder]) => element("label", { className: `field-${name}` }, name,
      element("input", { name, placeholder, autocomplete: "off", spellcheck: false, autocapitalize: "off" }))));
    fillSelect(/** @type {HTMLSelectElement} */ (part("preset")), Object.keys(this.presets));
    part("preset").addEventListener("change", () => this.#fill());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#run();
    });
    this.form.addEventListener("click", ({ target }) => this.#copy(/** @type {HTMLElement} */ (target).dataset.copy));
    part("clear-frames").addEventListener("click", () => this.#log.clear());
    part("console-tabs").addEventListener("change", ({ target }) => showTab(/** @type {HTMLInputElement} */ (target).value));
    ToldSocket.tell = (direction, text) => this.#log.add(direction, text);
    // A connection of its own, so that its frames are those of this query.
    this.list.header = element("div", { className: "columns" });
    this.list.client = connect(databaseAddress, { ...connectOptions(), WebSocket: ToldSocket });
    this.list.addEventListener("error", ({ error }) => {
      showError(error.message);
      part("result-note").textContent = "";
    });
    this.list.addEventListener("update", (event) => this.#showResult(/** @type {CustomEvent} */ (event).detail.after));
    if (!asked().has("from")) this.#fill();
  }

  show() {
    // On a phone the focus brings the keyboard up, over the result and the navigation.
    if (!matchMedia("(hover: none)").matches) this.form.querySelector("input")?.focus();
    this.navigated();
  }

  /** `#console?from=well&orderBy=depth`; an address without settings gets those of the view. */
  navigated() {
    const wanted = asked();
    if (!wanted.has("from")) return this.#sayAddress();
    if (wanted.toString() === this.#address().toString()) return undefined;
    for (const name of Object.keys(fields)) this.#field(name).value = wanted.get(name) ?? "";
    return this.#run();
  }

  #sayAddress() {
    history.replaceState(null, "", `#console?${this.#address()}`);
  }

  /** The address of what is in the fields. */
  #address() {
    const filled = Object.keys(fields).map((name) => [name, this.#field(name).value]).filter(([, value]) => value !== "");
    return new URLSearchParams(filled);
  }

  #fill() {
    const preset = this.presets[/** @type {HTMLSelectElement} */ (part("preset")).value] ?? {};
    for (const name of Object.keys(fields)) this.#field(name).value = preset[name] ?? "";
    this.#run();
  }

  /** @param {string} name @returns {HTMLInputElement} */
  #field(name) {
    return /** @type {any} */ (this.form.elements.namedItem(name));
  }

  #run() {
    showError(null);
    this.#sayAddress();
    try {
      this.#query = queryOf(Object.fromEntries(Object.keys(fields).map((name) => [name, this.#field(name).value])));
    } catch (error) {
      showError(/** @type {Error} */ (error).message);
      return;
    }
    // A new list, not a requery, so that the log shows what one query does from its first frame on.
    part("result-note").textContent = "counting…";
    this.list.query = null;
    this.list.query = this.#query;
    explain(this.#query, part("explanation"));
  }

  /** @param {import("../freshet.js").ListState} state */
  #showResult({ total, sections, columns }) {
    part("result-note").textContent = `${counted(total, "row")}, ${counted(sections.length, "section")}`;
    if (JSON.stringify(columns) === this.#columns) return;
    this.#columns = JSON.stringify(columns);
    this.list.style.setProperty("--columns", String(columns.length));
    this.list.header?.replaceChildren(...columns.map((column) => {
      const title = element("span", {}, column);
      title.setAttribute("role", "columnheader");
      return title;
    }));
  }

  #columns = "";

  /** @param {string | undefined} kind */
  async #copy(kind) {
    if (!kind) return;
    const text = copies[kind](this.#query, databaseAddress);
    try {
      await navigator.clipboard.writeText(text);
      part("copied").textContent = "Copied";
    } catch {
      // Without permission or TLS the clipboard cannot be written, so the text is at least shown.
      part("copied").textContent = text;
    }
    setTimeout(() => { part("copied").textContent = ""; }, 4000);
  }
}

/** The fields in the address. */
function asked() {
  return new URLSearchParams(location.hash.startsWith("#console?") ? location.hash.slice("#console?".length) : "");
}

/** @param {string | null} sentence */
function showError(sentence) {
  part("query-error").hidden = sentence === null;
  part("query-error").textContent = sentence;
}

/** @param {number} count @param {string} noun */
const counted = (count, noun) => `${formatted(count)} ${noun}${count === 1 ? "" : "s"}`;

/** @param {string} shown */
function showTab(shown) {
  part("frame-log").hidden = shown !== "frames";
  part("explanation").hidden = shown !== "explanation";
  part("clear-frames").hidden = shown !== "frames";
}

/**
 * Queries to start from: the demo's, and each table as a whole.
 *
 * @param {Table[]} tables @returns {Record<string, Record<string, string>>}
 */
function presetsFor(tables) {
  const names = new Set(tables.map(({ name }) => name));
  const isDemo = names.has("well") && names.has("closing");
  const whole = tables.map(({ name, columns }) => [`All of ${name}`, {
    from: `"${name.replaceAll('"', '""')}"`, orderBy: columns[0] ? `"${columns[0].name.replaceAll('"', '""')}"` : "",
  }]);
  return { ...(isDemo ? demoPresets : {}), ...Object.fromEntries(whole) };
}
