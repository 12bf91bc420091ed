// @ts-check
/** The rows that have elements: those in view and a few around. A row keeps its element wherever it goes. */

import { arrange } from "./arrange.js";
import { RowView } from "./row-view.js";

/** @typedef {import("./list-view.js").Frame} Frame */
/** @typedef {import("./recipe.js").Recipe} Recipe */
/** @typedef {import("./section-view.js").SectionView} SectionView */

export class RowSet {
  /**
   * Views by key, or by offset while the contents have not come.
   *
   * @type {Map<string, RowView>}
   */
  #views = new Map();
  /** @type {Map<Element, RowView>} */
  #byElement = new Map();

  /** @param {string} key */
  get(key) {
    return this.#views.get(key);
  }

  /** @param {Element} element of a row */
  of(element) {
    return this.#byElement.get(element);
  }

  /** @param {number} offset */
  at(offset) {
    for (const view of this.#views.values()) if (view.offset === offset) return view;
    return undefined;
  }

  values() {
    return this.#views.values();
  }

  /**
   * Shows the rows of some offsets, ascending.
   *
   * @param {Frame} frame @param {number[]} offsets @param {Map<number, SectionView>} sections by index
   * @param {Recipe} recipe
   * @returns {{removed: RowView[], added: RowView[], order: Map<SectionView, Element[]>}} the removed ones are still in
   *   the document, the added ones not yet
   */
  show(frame, offsets, sections, recipe) {
    const views = new Map();
    const added = [];
    /** @type {Map<SectionView, Element[]>} */
    const order = new Map();
    for (const offset of offsets) {
      const key = this.#keyAt(frame, offset, views);
      const known = this.#views.get(key) ?? this.#awaited(frame, offset);
      const view = known ?? new RowView(recipe);
      if (!known) added.push(view);
      views.set(key, view);
      const index = frame.layout.sectionOf(offset);
      const section = /** @type {SectionView} */ (sections.get(index));
      this.#show(view, frame, offset, index, section, recipe);
      const elements = order.get(section);
      if (elements) elements.push(view.element);
      else order.set(section, [view.element]);
    }
    const kept = new Set(views.values());
    const removed = [...this.#views.values()].filter((view) => !kept.has(view));
    this.#views = views;
    this.#byElement = new Map([...kept].map((view) => [view.element, view]));
    return { removed, added, order };
  }

  /**
   * Puts the rows into their sections, in their order.
   *
   * @param {Map<SectionView, Element[]>} order
   */
  arrange(order) {
    for (const [section, elements] of order) arrange(section.element, section.header, elements);
  }

  /** @param {RowView} view @param {Frame} frame @param {number} offset @param {number} index the section's
   *  @param {SectionView} section @param {Recipe} recipe */
  #show(view, { state, layout, hasHeaders, rowsAbove }, offset, index, section, recipe) {
    const item = offset - layout.sectionStart(index);
    const row = state.at(offset);
    view.show(row, { offset, path: [index, item] }, recipe);
    if (row) view.setPending(state.pendingOf(row) !== null);
    view.setRowIndex(rowsAbove + (hasHeaders ? offset + index + 2 : offset + 1));
    view.placeAt(layout.rowTop(offset) - section.start);
  }

  /**
   * The view that was waiting at an offset for its row's contents, which it now shows.
   *
   * @param {Frame} frame @param {number} offset
   */
  #awaited({ change }, offset) {
    return change?.isMoving ? undefined : this.#views.get(awaitedKey(offset));
  }

  /** @param {Frame} frame @param {number} offset @param {Map<string, RowView>} taken */
  #keyAt({ state, active }, offset, taken) {
    const row = state.at(offset);
    const known = row ? state.keyOf(row) : offset === active.offset ? active.key : null;
    return known === null || taken.has(known) ? awaitedKey(offset) : known;
  }
}

/** @param {number} offset */
function awaitedKey(offset) {
  return `awaited ${offset}`;
}
