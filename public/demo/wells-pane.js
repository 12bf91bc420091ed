// @ts-check
/** One list of wells, with its order, its sections and its filter. */

import { isSameQuery } from "../element/source.js";
import { fillSelect, formatted, fromTemplate } from "../shell/dom.js";
import { markRow } from "../shell/mark-row.js";
import { departuresOf } from "./departures.js";
import { rescale, showDepth } from "./depth-scale.js";
import { sections, sorts, wellsQuery } from "./wells-query.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").ChangeEvent} ChangeEvent */
/** @typedef {import("../freshet.js").ListState} ListState */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */
/** @typedef {import("./wells-query.js").PaneSettings} PaneSettings */

/** Milliseconds to wait for a write to show; a write that changes nothing here never shows. */
const longestWait = 5000;

/** @param {Record<string, {title: string}>} choices */
const titles = (choices) => Object.fromEntries(Object.entries(choices).map(([name, { title }]) => [name, title]));

export class WellsPane {
  /**
   * @param {Client} client @param {PaneSettings} settings @param {import("./depth-scale.js").DepthScale} scale
   * @param {object} handlers
   * @param {() => void} handlers.patched
   * @param {(row: Row, element: HTMLElement | undefined) => void} handlers.activated
   * @param {(departure: import("./departures.js").Departure) => void} handlers.departed called when a row moved out of
   * view
   * @param {() => void} handlers.settled called when the settings have changed
   */
  constructor(client, settings, scale, { patched, activated, departed, settled }) {
    this.element = fromTemplate("pane-template");
    this.list = /** @type {LiveListElement} */ (this.element.querySelector("live-list"));
    this.form = /** @type {HTMLFormElement} */ (this.element.querySelector("form"));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => {
      this.#query();
      settled();
    });
    this.list.client = client;
    this.list.renderRow = (element, { depth }) => showDepth(element, depth, scale);
    scale.addEventListener("change", () => rescale(this.list, scale));
    this.list.addEventListener("activate", (event) => {
      const { row, offset } = /** @type {CustomEvent} */ (event).detail;
      activated(row, rowElement(this.list, offset));
    });
    this.list.addEventListener("update", (event) => {
      const change = /** @type {ChangeEvent} */ (/** @type {CustomEvent} */ (event).detail);
      if (change.kind === "patch") patched();
      // After a burst, too many rows have left to follow one of them.
      const departures = departuresOf(change, this.list.visibleRange);
      if (departures.length > 0 && departures.length < 4) this.#named(departures[0]).then(departed);
      if (this.#isAnswered) this.#showTotal(change.after);
    });
    this.list.addEventListener("answered", () => {
      this.#isAnswered = true;
      if (this.list.list) this.#showTotal(this.list.list.state);
    });
    this.settings = settings;
  }

  /** @returns {PaneSettings} */
  get settings() {
    const { value: filter } = this.#field("filter");
    return { sort: this.#field("sort").value, by: this.#field("sections").value, filter };
  }

  set settings({ sort, by, filter }) {
    fillSelect(this.#field("sort"), titles(sorts), sort);
    fillSelect(this.#field("sections"), titles(sections), by);
    this.#field("filter").value = filter;
    this.#query();
  }

  get total() {
    return this.list.list?.total ?? 0;
  }

  /** The topmost well in view. */
  get firstInView() {
    return this.list.list?.at(this.list.visibleRange.first);
  }

  get idsInView() {
    const { first, last } = this.list.visibleRange;
    const rows = Array.from({ length: last - first }, (_, index) => this.list.list?.at(first + index));
    return rows.flatMap((row) => (row ? [row.id] : []));
  }

  /**
   * Brings a well into view, unless it is there.
   *
   * @param {number} id @returns {Promise<number | null>} its offset
   */
  async show(id) {
    const offset = (await this.list.list?.locate(id).catch(() => null))?.offset ?? null;
    const { first, last } = this.list.visibleRange;
    if (offset === null || (offset > first && offset < last - 1)) return offset;
    // The row is placed below the top, so that the rows before it are visible too.
    this.list.scrollToOffset(Math.max(0, offset - 2));
    return offset;
  }

  /**
   * As `show`, and also marks the row and gives it the focus.
   *
   * @param {number} id
   */
  async follow(id) {
    const offset = await this.show(id);
    if (offset === null) return;
    this.list.focusRow(offset);
    markRow(this.list, offset);
  }

  /**
   * Resolves when the list shows the state of a commit; false if nothing of it shows in this list.
   *
   * @param {number} commit @returns {Promise<boolean>}
   */
  shows(commit) {
    const { list } = this.list;
    if (!list) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(late);
        list.removeEventListener("change", look);
        resolve(list.state.commit >= commit);
      };
      const look = () => {
        if (list.state.commit >= commit) end();
      };
      const late = setTimeout(end, longestWait);
      list.addEventListener("change", look);
      look();
    });
  }

  /**
   * Asks the server for the present name of a row that left the window.
   *
   * @param {import("./departures.js").Departure} departure
   */
  async #named(departure) {
    if (departure.name !== null) return departure;
    const [row] = await this.list.list?.fetch({ offset: departure.offset, limit: 1 }).catch(() => []) ?? [];
    return row?.id === departure.row.id ? { ...departure, name: row.name } : departure;
  }

  /** @param {string} name @returns {any} */
  #field(name) {
    return this.form.elements.namedItem(name);
  }

  /** Whether the rows match the settings. */
  #isAnswered = false;

  #query() {
    const query = wellsQuery(this.settings);
    if (isSameQuery(query, this.list.query)) return;
    this.#isAnswered = false;
    this.#output.value = "counting…";
    this.list.query = query;
  }

  get #output() {
    return /** @type {HTMLOutputElement} */ (this.element.querySelector("output"));
  }

  /** @param {ListState} state */
  #showTotal({ total, sections: { length } }) {
    const text = `${formatted(total)} in ${formatted(length)} ${length === 1 ? "section" : "sections"}`;
    if (this.#output.value !== text) this.#output.value = text;
  }
}

/** @param {LiveListElement} list @param {number} offset @returns {HTMLElement | undefined} */
function rowElement(list, offset) {
  const rows = /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".live-row"));
  return [...rows].find((row) => list.rowAt(row)?.offset === offset);
}
