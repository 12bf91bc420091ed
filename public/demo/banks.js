// @ts-check
/** Failed banks: two tables joined, sorted by the second one's date, and a chart of the sections' counts. */

import { element, formatted, part } from "../shell/dom.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").ListState} ListState */
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
  /** Bars by the name of their section. @type {Map<any, HTMLLIElement>} */
  #bars = new Map();
  #wasShown = false;
  /** @type {keyof typeof sections} */
  #by = "year";

  /** @param {Client} client */
  constructor(client) {
    this.list = /** @type {LiveListElement} */ (part("bank-list"));
    this.list.client = client;
    this.list.query = this.#query(this.#by);
    this.list.addEventListener("update", (event) => this.#draw(/** @type {CustomEvent} */ (event).detail.after));
    part("bank-sections").addEventListener("change", (event) => {
      this.#section(/** @type {any} */ (/** @type {HTMLInputElement} */ (event.target).value));
      this.#sayAddress();
    });
  }

  show() {
    // Later on it would bring the active row into view, and lose the scroll position.
    if (!this.#wasShown) this.list.focus({ preventScroll: true });
    this.#wasShown = true;
    this.navigated();
  }

  /** `#banks?by=state`; an address without them gets those of the view. */
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
    part("bars-title").textContent = `Closings by ${by}`;
    this.list.query = this.#query(by);
  }

  /** @param {keyof typeof sections} by */
  #query(by) {
    return { ...parts, sectionBy: sections[by] };
  }

  /** @param {ListState} state whose sections have the counts of all rows, whatever window is held */
  #draw({ sections: all, total }) {
    part("bank-total").textContent = formatted(total);
    const most = Math.max(1, ...all.map(({ count }) => count));
    const bars = new Map();
    for (const [index, { name, count }] of all.entries()) {
      const bar = this.#bars.get(name) ?? this.#bar(String(name));
      bars.set(name, bar);
      const [, track, number] = /** @type {any} */ (bar.firstElementChild?.children);
      track.firstElementChild.style.transform = `scaleX(${count / most})`;
      number.textContent = formatted(count);
      /** @type {any} */ (bar.firstElementChild).onclick = () => this.list.scrollToSection(index);
    }
    const wanted = [...bars.values()];
    const shown = part("bars").children;
    if (wanted.length !== shown.length || wanted.some((bar, index) => bar !== shown[index])) part("bars").replaceChildren(...wanted);
    this.#bars = bars;
  }

  /** @param {string} title */
  #bar(title) {
    return element("li", {}, element("button", { type: "button" },
      element("span", { className: "bar-title" }, title),
      element("span", { className: "bar-track" }, element("span", { className: "bar-fill" })),
      element("span", { className: "bar-count" })));
  }
}
