// @ts-check
/**
 * The list on the screen: of all the rows only those in view have elements, and a few around them. A row keeps its
 * element wherever it goes, so that its way can be shown.
 */

import { ListLayout } from "./list-layout.js";
import { RowView, SectionView } from "./row-view.js";
import * as motion from "./motion.js";

/** @typedef {import("./list-model.js").ListModel} ListModel */
/** @typedef {import("./list-model.js").Outcome} Outcome */

/** Rows with elements above and below the view. */
const overscan = 8;

export class ListView {
  /**
   * Rows that are shown: by key, or by place while the contents have not come.
   *
   * @type {Map<string, RowView>}
   */
  #rows = new Map();
  /**
   * By name, as JSON.
   *
   * @type {Map<string, SectionView>}
   */
  #sections = new Map();
  #layout = new ListLayout([], { row: 1, header: 1 });
  #isDue = false;

  /**
   * @param {HTMLElement} scroller @param {HTMLElement} canvas @param {ListModel} model
   * @param {(range: {first: number, last: number}) => void} looked told which rows are in view
   */
  constructor(scroller, canvas, model, looked) {
    this.scroller = scroller;
    this.canvas = canvas;
    this.model = model;
    this.looked = looked;
    scroller.addEventListener("scroll", () => this.#renderSoon(), { passive: true });
    new ResizeObserver(() => this.#resize()).observe(scroller);
  }

  /** Rows in view. */
  get range() {
    return this.#layout.rowsBetween(this.#top, this.#top + this.scroller.clientHeight);
  }

  /** Top of the view in the whole list, in pixels. */
  get #top() {
    return this.#layout.topFor(this.scroller.scrollTop, this.scroller.clientHeight);
  }

  /**
   * The offset of the row that an element stands in.
   *
   * @param {Element} element @returns {number | null}
   */
  offsetAt(element) {
    const row = element.closest("[aria-rowindex]");
    return row ? Number(row.getAttribute("aria-rowindex")) - 1 : null;
  }

  /** @param {number} section */
  scrollToSection(section) {
    this.#scrollTo(this.#layout.sectionTop(section));
  }

  /**
   * Shows what a message did to the model, with the view staying on the rows it shows.
   *
   * @param {Outcome} outcome
   */
  show(outcome) {
    const oldTop = this.#top;
    // At the very top one wants to see what comes in there.
    const anchor = oldTop > 0 && outcome.kind !== "snapshot" ? this.range.first : -1;
    const distance = anchor < 0 ? 0 : oldTop - this.#layout.rowTop(anchor);
    this.#measure();
    if (anchor >= 0) {
      const place = Math.min(outcome.newOffset(anchor), Math.max(0, this.model.total - 1));
      this.#scrollTo(this.#layout.rowTop(place) + distance);
    }
    this.#render(outcome.kind === "patch" ? { outcome, oldTop } : undefined);
  }

  /** @param {number} top in the whole list */
  #scrollTo(top) {
    const scrollTop = this.#layout.scrollTopFor(top, this.scroller.clientHeight);
    if (Math.abs(scrollTop - this.scroller.scrollTop) >= 0.5) this.scroller.scrollTop = scrollTop;
  }

  #resize() {
    if (this.scroller.clientHeight === 0) return;
    const anchor = this.#layout.total > 0 && this.#top > 0 ? this.range.first : -1;
    const before = this.#layout.heights;
    this.#measure();
    const isOther = before.row !== this.#layout.heights.row || before.header !== this.#layout.heights.header;
    if (anchor >= 0 && isOther) this.#scrollTo(this.#layout.rowTop(anchor) - this.#layout.heights.header);
    this.#render();
  }

  /** The style sheet says how tall rows are; it depends on the width of the page. */
  #measure() {
    const style = getComputedStyle(this.scroller);
    const heights = {
      row: parseInt(style.getPropertyValue("--row-height"), 10) || 36,
      header: parseInt(style.getPropertyValue("--header-height"), 10) || 34,
    };
    this.#layout = new ListLayout(this.model.sections, heights);
    this.canvas.style.height = `${this.#layout.scrollHeight}px`;
    this.scroller.setAttribute("aria-rowcount", String(this.model.total));
  }

  #renderSoon() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#render();
    });
  }

  /** @param {{outcome: Outcome, oldTop: number}} [change] what to make visible */
  #render(change) {
    const layout = this.#layout;
    const top = this.#top;
    // Where the list is stretched, places on the canvas depend on the position of the scroll bar.
    const shift = this.scroller.scrollTop - top;
    const margin = overscan * layout.heights.row;
    const { first, last } = layout.rowsBetween(top - margin, top + this.scroller.clientHeight + margin);
    const sections = this.#renderSections(first, last, shift);
    const rows = new Map();
    for (let offset = first; offset < last; offset += 1) {
      const section = layout.sectionOf(offset);
      const row = this.model.row(offset);
      const key = row ? this.model.keyOf(row) : `awaited ${offset}`;
      const view = this.#rows.get(key) ?? new RowView();
      rows.set(key, view);
      view.show(offset, row);
      this.#place(view, sections[section - layout.sectionOf(first)], offset, section);
      const rowTop = layout.rowTop(offset);
      if (change && this.#rows.has(key)) {
        motion.slide(view.element, this.#limited(view.top - change.oldTop - (rowTop - top)));
      }
      view.top = rowTop;
    }
    this.#removeRows(rows, change, top, shift);
    this.#rows = rows;
    if (change) this.#highlight(change.outcome);
    this.looked(this.range);
  }

  /**
   * A row that comes from far away need not fly through the whole list.
   *
   * @param {number} distance
   */
  #limited(distance) {
    const limit = this.scroller.clientHeight;
    return Math.max(-limit, Math.min(limit, distance));
  }

  /** @param {RowView} view @param {SectionView} section @param {number} offset @param {number} index the section's */
  #place(view, section, offset, index) {
    const top = `${this.#layout.rowTop(offset) - this.#layout.sectionTop(index)}px`;
    if (view.element.style.top !== top) view.element.style.top = top;
    if (view.element.parentNode !== section.element) section.element.append(view.element);
  }

  /** @param {number} first offset @param {number} last offset, excluded @param {number} shift */
  #renderSections(first, last, shift) {
    const shown = new Map();
    const result = [];
    const end = first < last ? this.#layout.sectionOf(last - 1) : -1;
    for (let index = this.#layout.sectionOf(first); index <= end; index += 1) {
      const { name, count } = this.model.sections[index];
      const key = JSON.stringify(name);
      const view = this.#sections.get(key) ?? new SectionView(name);
      if (view.show(count)) motion.flash(view.count);
      view.element.style.top = `${this.#layout.sectionTop(index) + shift}px`;
      view.element.style.height = `${this.#layout.sectionHeight(index)}px`;
      if (!view.element.isConnected) this.canvas.append(view.element);
      shown.set(key, view);
      result.push(view);
    }
    // Not at once: rows of it that are still wanted are about to be put elsewhere.
    for (const [key, view] of this.#sections) if (!shown.has(key)) queueMicrotask(() => view.element.remove());
    this.#sections = shown;
    return result;
  }

  /**
   * @param {Map<string, RowView>} kept @param {{outcome: Outcome, oldTop: number} | undefined} change
   * @param {number} top @param {number} shift
   */
  #removeRows(kept, change, top, shift) {
    for (const [key, view] of this.#rows) {
      if (kept.has(key)) continue;
      if (view.element.contains(document.activeElement)) this.scroller.focus({ preventScroll: true });
      const screenTop = change ? view.top - change.oldTop : -1;
      const isInView = screenTop >= 0 && screenTop < this.scroller.clientHeight;
      if (isInView && view.element.dataset.state === "shown") {
        view.element.style.top = `${screenTop + top + shift}px`;
        this.canvas.append(view.element);
        motion.leave(view.element);
      } else {
        view.element.remove();
      }
    }
  }

  /** @param {Outcome} outcome */
  #highlight(outcome) {
    for (const offset of outcome.inserted) this.#withRow(offset, (view) => motion.enter(view.element));
    for (const offset of outcome.moved) this.#withRow(offset, (view) => motion.arrive(view.element));
    for (const { offset, columns } of outcome.changed) {
      this.#withRow(offset, (view) => {
        for (const column of columns) if (view.cell(column)) motion.flash(view.cell(column));
      });
    }
  }

  /** @param {number} offset @param {(view: RowView) => void} body */
  #withRow(offset, body) {
    const row = this.model.row(offset);
    const view = row && this.#rows.get(this.model.keyOf(row));
    if (view) body(view);
  }
}
