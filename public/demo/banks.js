// @ts-check
/** Failed banks: two tables joined, sorted by the second one's date, and a chart of the sections' counts. */

import { element, formatted, part } from "./dom.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").ListState} ListState */
/** @typedef {import("../live-list.js").LiveListElement} LiveListElement */

const parts = {
  from: "bank JOIN closing ON closing.bank_id = bank.id",
  select: ["bank.name", "city", "state", "closed", "acquirer"],
  orderBy: ["closed DESC", "bank.name"],
};
const sections = {
  year: /** @type {const} */ ({ by: "substr(closed, 1, 4)", order: "DESC", indexTitle: "substr(closed, 3, 2)" }),
  state: "state",
};

export class BanksView {
  /** Bars by the name of their section. @type {Map<any, HTMLLIElement>} */
  #bars = new Map();

  /** @param {Client} client */
  constructor(client) {
    this.list = /** @type {LiveListElement} */ (part("bank-list"));
    this.list.client = client;
    this.list.query = this.#query("year");
    this.list.addEventListener("update", (event) => this.#draw(/** @type {CustomEvent} */ (event).detail.after));
    part("bank-sections").addEventListener("change", (event) => {
      const { value } = /** @type {HTMLInputElement} */ (event.target);
      part("bars-title").textContent = `Closings by ${value}`;
      this.list.query = this.#query(/** @type {keyof typeof sections} */ (value));
    });
  }

  show() {
    this.list.focus({ preventScroll: true });
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
