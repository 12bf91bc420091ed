// @ts-check
/**
 * Failed banks: a join of two tables, sorted by the second one's date, and a chart of the number of closings in each
 * section.
 */

import "../live-chart.js";
import { formatted, part } from "../shell/dom.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../live-chart.js").LiveChartElement} LiveChartElement */
/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

const parts = {
  from: "bank JOIN closing ON closing.bank_id = bank.id",
  select: ["bank.name", "city", "state", "closed", "acquirer"],
  orderBy: ["closed DESC", "bank.name"],
  totals: { assets: "round(sum(assets))", largest: "round(max(assets))" },
};
const sections = {
  year: /** @type {const} */ ({ by: "substr(closed, 1, 4)", order: "DESC", indexTitle: "substr(closed, 3, 2)" }),
  state: "state",
};

export class BanksView {
  #wasShown = false;
  /** @type {keyof typeof sections} */
  #by = "year";

  /** @param {Client} client */
  constructor(client) {
    this.list = /** @type {LiveListElement} */ (part("bank-list"));
    this.list.client = client;
    this.chart = /** @type {LiveChartElement} */ (part("bank-chart"));
    this.chart.client = client;
    this.chart.addEventListener("activate", (event) => this.#scrollTo(/** @type {CustomEvent} */ (event).detail.row.section));
    this.#section(this.#by);
    this.list.addEventListener("update", (event) => {
      part("bank-total").textContent = formatted(/** @type {CustomEvent} */ (event).detail.after.total);
    });
    part("bank-sections").addEventListener("change", (event) => {
      this.#section(/** @type {any} */ (/** @type {HTMLInputElement} */ (event.target).value));
      this.#sayAddress();
    });
  }

  show() {
    // Only the first time: later, the focus would scroll to the active row.
    if (!this.#wasShown) this.list.focus({ preventScroll: true });
    this.#wasShown = true;
    this.navigated();
  }

  /** `#banks?by=state`; an address without settings gets those of the view. */
  navigated() {
    const asked = new URLSearchParams(location.hash.split("?")[1] ?? "").get("by");
    if (asked !== null && Object.hasOwn(sections, asked)) this.#section(/** @type {keyof typeof sections} */ (asked));
    this.#sayAddress();
  }

  #sayAddress() {
    history.replaceState(null, "", this.#by === "year" ? "#banks" : `#banks?by=${this.#by}`);
  }

  /** @param {keyof typeof sections} by */
  #section(by) {
    this.#by = by;
    /** @type {HTMLInputElement} */ (part("bank-sections").querySelector(`[value="${by}"]`)).checked = true;
    part("chart-title").textContent = `Closings by ${by}`;
    this.chart.setAttribute("label", `Closings by ${by}`);
    this.list.query = { ...parts, sectionBy: sections[by] };
    const expression = by === "year" ? sections.year.by : sections.state;
    this.chart.query = { from: parts.from, select: [`${expression} AS section`, "count(*) AS banks"], groupBy: [expression], orderBy: [expression] };
  }

  /** @param {import("../freshet.js").SQLValue} name of a section */
  #scrollTo(name) {
    const index = this.list.list?.sections.findIndex((section) => section.name === name) ?? -1;
    if (index >= 0) this.list.scrollToSection(index);
  }
}
