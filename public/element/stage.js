// @ts-check
/** The elements of sections and rows: makes the document show a frame. */

import { Motion } from "./motion.js";
import { RowSet } from "./row-set.js";
import { SectionSet } from "./section-set.js";

/** @typedef {import("./list-view.js").Frame} Frame */
/** @typedef {import("./row-view.js").RowView} RowView */
/** @typedef {import("./transition.js").Transition} Transition */

/**
 * The functions that make rows and headers. They are called for each frame, because the page may change its templates.
 *
 * @typedef {object} Makers
 * @property {(columns: readonly string[]) => import("./recipe.js").Recipe} row
 * @property {() => import("./recipe.js").SectionRecipe} section
 */

/** How many rows above and below the view have elements. */
const overscan = 10;

export class Stage {
  motion = new Motion();
  rows = new RowSet();

  /** @param {HTMLElement} canvas @param {Makers} makers */
  constructor(canvas, makers) {
    this.canvas = canvas;
    this.makers = makers;
    this.sections = new SectionSet(canvas, this.motion);
  }

  /** @param {Frame} frame @param {Transition | null} transition @param {boolean} isActiveKept */
  show(frame, transition, isActiveKept) {
    const { layout, state } = frame;
    const offsets = this.#offsets(frame, isActiveKept);
    const indices = [...new Set(offsets.map((offset) => layout.sectionOf(offset)))];
    const sections = this.sections.show(frame, indices, this.makers.section());
    transition?.remember(this.rows.values(), this.motion);
    const { removed, added, order } = this.rows.show(frame, offsets, sections, this.makers.row(state.columns));
    transition?.plan(frame, this.rows, { added, removed }, this.motion);
    this.sections.arrange();
    for (const view of removed) this.#remove(view, frame, transition);
    this.rows.arrange(order);
    this.sections.removeOthers();
    transition?.play(this.rows, this.motion);
    for (const view of this.rows.values()) view.top = layout.rowTop(view.offset);
  }

  /**
   * Rows that get elements, ascending.
   *
   * @param {Frame} frame
   * @param {boolean} isActiveKept the row with the focus keeps its element even out of view, so that typing into it
   *   continues
   */
  #offsets({ layout, top, viewHeight, active }, isActiveKept) {
    const margin = overscan * layout.heights.row;
    const { first, last } = layout.rowsBetween(top - margin, top + viewHeight + margin);
    const offsets = Array.from({ length: last - first }, (_, index) => first + index);
    if (!isActiveKept || active.offset < 0 || active.offset >= layout.total) return offsets;
    if (active.offset < first) offsets.unshift(active.offset);
    if (active.offset >= last) offsets.push(active.offset);
    return offsets;
  }

  /** @param {RowView} view @param {Frame} frame @param {Transition | null} transition */
  #remove(view, frame, transition) {
    const y = transition?.leavingFrom(view);
    if (y === undefined) {
      view.element.remove();
      return;
    }
    this.canvas.append(view.element);
    view.element.style.top = `${y + frame.top + frame.shift}px`;
    this.motion.leave(view.element);
  }
}
