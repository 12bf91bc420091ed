// @ts-check
/** The sections that have elements: those with rows in or near the view. */

import { arrange } from "./arrange.js";
import { SectionView } from "./section-view.js";
import { textOf } from "./template.js";

/** @typedef {import("./list-view.js").Frame} Frame */
/** @typedef {import("./recipe.js").SectionRecipe} SectionRecipe */
/** @typedef {import("./motion.js").Motion} Motion */

/**
 * The height of an element is limited: of a taller section, only blocks of this many pixels around the view are
 * covered.
 */
const block = 1_000_000;

export class SectionSet {
  /** @type {Map<string, SectionView>} by name */
  #views = new Map();

  /** @param {HTMLElement} canvas @param {Motion} motion */
  constructor(canvas, motion) {
    this.canvas = canvas;
    this.motion = motion;
  }

  /**
   * Shows the sections of some indices, ascending. Other sections keep their elements until `removeOthers`, because
   * their rows may have to be moved to new sections first.
   *
   * @param {Frame} frame @param {number[]} indices @param {SectionRecipe} recipe
   * @returns {Map<number, SectionView>} by index
   */
  show(frame, indices, recipe) {
    const { state, layout } = frame;
    const views = new Map();
    const shown = new Map();
    for (const index of indices) {
      const section = state.sections[index];
      const name = nameKey(section.name);
      const key = views.has(name) ? `${name} ${index}` : name;
      const view = this.#views.get(key) ?? new SectionView();
      const rowIndex = frame.rowsAbove + layout.sectionStart(index) + index + 1;
      const isOpenEnded = frame.isPartial && index === state.sections.length - 1;
      const changed = view.show(section, rowIndex, frame.hasHeaders, recipe, isOpenEnded);
      if (frame.change?.isNews) for (const element of changed) this.motion.tint(element, "changed");
      this.#place(view, frame, index);
      views.set(key, view);
      shown.set(index, view);
    }
    this.#removed = [...this.#views].filter(([key]) => !views.has(key)).map(([, view]) => view);
    this.#views = views;
    return shown;
  }

  /** @type {SectionView[]} */
  #removed = [];

  removeOthers() {
    for (const view of this.#removed) view.element.remove();
    this.#removed = [];
  }

  /**
   * Puts the sections into the document in their order, so that rows can be moved into them from sections that are
   * removed.
   */
  arrange() {
    arrange(this.canvas, null, [...this.#views.values()].map(({ element }) => element));
  }

  /** @param {SectionView} view @param {Frame} frame @param {number} index */
  #place(view, { layout, top, shift }, index) {
    const from = Math.floor(top / block) * block;
    const isFar = layout.sectionBottom(index) < from - block || layout.sectionTop(index) > from + 3 * block;
    const start = isFar ? layout.sectionTop(index) : Math.max(layout.sectionTop(index), from - block);
    const end = isFar ? start + block : Math.min(layout.sectionBottom(index), from + 3 * block);
    view.placeAt(start + shift, Math.min(end, layout.sectionBottom(index)) - start, start);
  }
}

/** @param {any} name */
function nameKey(name) {
  return `${typeof name}:${textOf(name)}`;
}
