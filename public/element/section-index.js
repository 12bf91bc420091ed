// @ts-check
/**
 * The titles at the side of the list, for jumps: by clicks, by dragging over them, or with the arrow keys. To assistive
 * technology it is a slider whose values are the titles.
 */

import { entryAt, entryOf, indexEntries, thinned } from "./index-titles.js";

/** @typedef {import("./types.js").Section} Section */
/** @typedef {import("./index-titles.js").IndexEntry} IndexEntry */

/** Pixels of height that a title needs to be readable. */
const titleHeight = 16;

export class SectionIndex {
  /** @type {IndexEntry[]} */
  #entries = [];
  #current = -1;
  #shown = "";
  /** @type {readonly Section[]} */
  #sections = [];
  #height = 0;

  /**
   * @param {HTMLElement} element
   * @param {(section: number) => void} jump
   */
  constructor(element, jump) {
    this.element = element;
    this.jump = jump;
    element.addEventListener("pointerdown", (event) => this.#pointerDown(event));
    element.addEventListener("pointermove", (event) => {
      if (element.hasPointerCapture(event.pointerId)) this.#jumpTo(this.#entryUnder(event));
    });
    element.addEventListener("lostpointercapture", () => delete element.dataset.dragged);
    element.addEventListener("keydown", (event) => this.#keyDown(event));
    new ResizeObserver(() => this.#resized()).observe(element);
  }

  /**
   * @param {readonly Section[]} sections @param {boolean} isWanted
   * @returns {boolean} whether it is visible: not with a single section
   */
  show(sections, isWanted) {
    if (sections !== this.#sections) {
      this.#sections = sections;
      this.#entries = indexEntries(sections);
      this.#arrange();
    }
    const isShown = isWanted && this.#entries.length > 1;
    if (this.element.hidden === isShown) this.element.hidden = !isShown;
    return isShown;
  }

  /**
   * Marks the title of the section that is in view.
   *
   * @param {number} section
   */
  follow(section) {
    this.#setCurrent(entryOf(this.#entries, this.#sections[section]?.indexTitle));
  }

  #resized() {
    const { clientHeight } = this.element;
    if (clientHeight === this.#height) return;
    this.#height = clientHeight;
    this.#arrange();
  }

  /** As many titles as there is room for. */
  #arrange() {
    const entries = thinned(this.#entries, Math.max(2, Math.floor(this.#height / titleHeight)));
    const titles = JSON.stringify(entries.map(({ title }) => title));
    this.element.setAttribute("aria-valuemin", "1");
    this.element.setAttribute("aria-valuemax", String(this.#entries.length));
    if (titles === this.#shown) return;
    this.#shown = titles;
    this.element.replaceChildren(...entries.map(({ title }) => {
      const element = document.createElement("span");
      element.className = "live-index-title";
      element.textContent = title;
      return element;
    }));
    const current = this.#current;
    this.#current = -1;
    this.#setCurrent(current);
  }

  /** @param {number} entry */
  #setCurrent(entry) {
    if (entry === this.#current) return;
    this.#current = entry;
    const { title, section } = this.#entries[entry] ?? { title: "", section: -1 };
    const name = this.#sections[section]?.name;
    this.element.setAttribute("aria-valuenow", String(entry + 1));
    this.element.setAttribute("aria-valuetext", name === title || section < 0 ? title : `${title}, ${name}`);
    for (const element of this.element.children) {
      element.classList.toggle("live-current", element.textContent === title);
    }
  }

  /** @param {PointerEvent} event */
  #pointerDown(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    this.element.focus({ preventScroll: true });
    this.#jumpTo(this.#entryUnder(event));
  }

  /** @param {PointerEvent} event */
  #entryUnder({ clientY }) {
    const first = this.element.firstElementChild?.getBoundingClientRect();
    const last = this.element.lastElementChild?.getBoundingClientRect();
    if (!first || !last) return -1;
    // A finger hides the title under it, so a bubble shows the title next to it.
    this.element.style.setProperty("--at", `${clientY - this.element.getBoundingClientRect().top}px`);
    return entryAt(this.#entries.length, (clientY - first.top) / (last.bottom - first.top));
  }

  /** @param {number} entry */
  #jumpTo(entry) {
    if (entry < 0 || entry >= this.#entries.length) return;
    this.element.dataset.dragged = this.#entries[entry].title;
    this.jump(this.#entries[entry].section);
    this.#setCurrent(entry);
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const last = this.#entries.length - 1;
    /** @type {Record<string, number>} */
    const destinations = {
      ArrowUp: this.#current - 1, ArrowLeft: this.#current - 1, ArrowDown: this.#current + 1,
      ArrowRight: this.#current + 1, PageUp: this.#current - 5, PageDown: this.#current + 5, Home: 0, End: last,
    };
    if (!Object.hasOwn(destinations, event.key)) return;
    event.preventDefault();
    this.#jumpTo(Math.min(last, Math.max(0, destinations[event.key])));
    delete this.element.dataset.dragged;
  }
}
