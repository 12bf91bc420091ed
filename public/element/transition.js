// @ts-check
/**
 * Animates from one frame to the next: rows slide to their new places, inserted and deleted rows fade, and changed
 * cells are colored. Without it the list is the same.
 */

import { cellsOf } from "./recipe.js";
import { offsetOfRow } from "./row-offset.js";

/** @typedef {import("./list-view.js").Frame} Frame */
/** @typedef {import("./row-view.js").RowView} RowView */
/** @typedef {import("./row-set.js").RowSet} RowSet */
/** @typedef {import("./motion.js").Motion} Motion */
/** @typedef {import("./layout.js").ListLayout} ListLayout */
/** @typedef {import("./pending-changes.js").PendingChanges} PendingChanges */

export class Transition {
  /**
   * Positions at which rows are visible, in pixels below the top of the view.
   *
   * @type {Map<RowView, number>}
   */
  #seen = new Map();
  /** @type {RowView[]} */
  #entering = [];
  /**
   * Distances that rows slide to their places.
   *
   * @type {Map<RowView, number>}
   */
  #sliding = new Map();
  /**
   * Positions at which removed rows fade.
   *
   * @type {Map<RowView, number>}
   */
  #leaving = new Map();
  #isMoving = false;

  /**
   * @param {PendingChanges} change @param {ListLayout} layout the layout of the last frame
   * @param {number} top of the view in that layout @param {number} viewHeight
   */
  constructor(change, layout, top, viewHeight) {
    this.change = change;
    this.layout = layout;
    this.top = top;
    this.viewHeight = viewHeight;
  }

  /**
   * To be called before anything is moved.
   *
   * @param {Iterable<RowView>} views @param {Motion} motion
   */
  remember(views, motion) {
    for (const view of views) this.#seen.set(view, view.top - this.top + motion.remaining(view.element));
  }

  /**
   * To be called when the new places are known and the removed rows are still in the document. Either all movements are
   * shown or none: see Motion.
   *
   * @param {Frame} frame @param {RowSet} rows
   * @param {{added: RowView[], removed: RowView[]}} changes @param {Motion} motion
   */
  plan(frame, rows, { added, removed }, motion) {
    const isNew = new Set(added);
    for (const view of rows.values()) {
      const y = frame.layout.rowTop(view.offset) - frame.top;
      const isSeen = this.#isInView(y);
      const from = !isNew.has(view) ? this.#seen.get(view) : isSeen ? this.#unseen(view) : undefined;
      if (from === undefined) {
        if (isSeen && this.#isEntering(view, frame)) this.#entering.push(view);
      } else if (Math.abs(from - y) >= 1 && (isSeen || this.#isInView(from))) {
        this.#sliding.set(view, this.#limited(from - y));
      }
    }
    for (const view of removed) {
      const y = this.#seen.get(view);
      if (y !== undefined && view.isShown && this.#isInView(y)) this.#leaving.set(view, y);
    }
    const count = this.#entering.length + this.#sliding.size + this.#leaving.size;
    this.#isMoving = this.change.isMoving && count > 0 && motion.affords(count);
  }

  /**
   * Where a removed row fades; undefined if it disappears at once.
   *
   * @param {RowView} view
   */
  leavingFrom(view) {
    return this.#isMoving ? this.#leaving.get(view) : undefined;
  }

  /** @param {RowSet} rows @param {Motion} motion */
  play(rows, motion) {
    for (const view of rows.values()) {
      const distance = this.#isMoving ? this.#sliding.get(view) : undefined;
      if (distance === undefined) motion.stop(view.element);
      else motion.slide(view.element, distance);
    }
    if (this.#isMoving) for (const view of this.#entering) motion.enter(view.element);
    if (this.change.isNews) this.#colour(rows, motion);
  }

  /**
   * The former position of a row that had no element.
   *
   * @param {RowView} view
   */
  #unseen({ row }) {
    const offset = row && this.change.isMoving ? offsetOfRow(this.change.before, row) : null;
    return offset === null ? undefined : this.layout.rowTop(offset) - this.top;
  }

  /** @param {RowView} view @param {Frame} frame */
  #isEntering({ row }, { state }) {
    if (!row) return false;
    return this.change.isOtherQuery || Boolean(this.change.marks.get(state.keyOf(row))?.isInserted);
  }

  /** @param {RowSet} rows @param {Motion} motion */
  #colour(rows, motion) {
    for (const [key, { isInserted, isMoved, columns }] of this.change.marks) {
      const view = rows.get(key);
      if (!view) continue;
      if (isInserted || isMoved) motion.tint(view.element, isInserted ? "inserted" : "moved");
      else for (const column of columns) for (const cell of cellsOf(view.element, column)) motion.tint(cell, "changed");
    }
  }

  /** @param {number} y */
  #isInView(y) {
    return y > -this.layout.heights.row && y < this.viewHeight;
  }

  /**
   * Limits the distance of a slide, so that a row from far away does not fly through the whole list.
   *
   * @param {number} distance
   */
  #limited(distance) {
    return Math.max(-this.viewHeight, Math.min(this.viewHeight, distance));
  }
}
