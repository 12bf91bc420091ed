// @ts-check
/**
 * The changes of a list between two frames, to be drawn together. Pure: no DOM.
 *
 * Offsets are updated with each message; highlights are kept by row, because the next message may change a row's
 * position.
 */

import { offsetOfRow } from "./row-offset.js";

/** @typedef {import("./types.js").ChangeEvent} ChangeEvent */
/** @typedef {import("./types.js").ListState} ListState */

/**
 * The changes of one row.
 *
 * @typedef {object} Mark
 * @property {boolean} isInserted @property {boolean} isMoved @property {Set<string>} columns whose values changed
 */

/** How many rows are remembered one by one, because a page in the background may get no frame for hours. */
const mostMarks = 2000;

export class PendingChanges {
  /** The state that is on the screen. */
  before;
  #hasPatch = false;
  #hasSnapshot = false;
  /** Whether rows with the same key are the same row. */
  #isComparable = true;
  /** Whether the rows are those of another query, which is shown from its first row on. */
  isOtherQuery = false;
  /** Whether the first rows of a longer list have become the whole list: then the rows themselves have not changed. */
  isExtension = false;
  /** @type {Map<string, Mark>} */
  marks = new Map();

  /**
   * @param {ListState} before
   * @param {number} anchor offset of the row that keeps its position on the screen, -1 for none
   */
  constructor(before, anchor) {
    this.before = before;
    this.firstAnchor = anchor;
    this.anchor = anchor;
    this.anchorRow = before.at(anchor);
  }

  /**
   * Whether moves are animated. Not after a snapshot, whose rows have not moved: the list just did not know their
   * positions.
   */
  get isMoving() {
    if (this.isExtension) return false;
    return (this.isOtherQuery && this.#isComparable) || (this.#hasPatch && !this.#hasSnapshot);
  }

  /** Whether new rows are marked. */
  get isNews() {
    return !this.isOtherQuery && !this.isExtension;
  }

  /** @param {ChangeEvent} event */
  add({ kind, after, changes }) {
    if (kind === "patch") this.#hasPatch = true;
    this.#isComparable &&= sameNames(this.before.key, after.key);
    if (kind === "snapshot") this.#startOver(after);
    else if (this.anchor >= 0) {
      this.anchor = Math.min(changes.newOffset(this.anchor), Math.max(0, after.total - 1));
    }
    if (this.marks.size > mostMarks) return;
    for (const offset of changes.inserted) this.#mark(after, offset, (mark) => (mark.isInserted = true));
    for (const offset of changes.moved) this.#mark(after, offset, (mark) => (mark.isMoved = true));
    for (const { offset, columns } of changes.updated) {
      this.#mark(after, offset, (mark) => columns.forEach((column) => mark.columns.add(column)));
    }
  }

  /** @param {ListState} after */
  #startOver(after) {
    this.#hasSnapshot = true;
    this.marks.clear();
    // Without a patch, only the key can locate the row, if it is among the new rows.
    const offset = this.anchorRow && offsetOfRow(after, this.anchorRow);
    this.anchor = Math.min(offset ?? this.anchor, after.total - 1);
  }

  /** @param {ListState} after @param {number} offset @param {(mark: Mark) => void} change */
  #mark(after, offset, change) {
    const row = after.at(offset);
    if (!row) return;
    const key = after.keyOf(row);
    let mark = this.marks.get(key);
    if (!mark) this.marks.set(key, mark = { isInserted: false, isMoved: false, columns: new Set() });
    change(mark);
  }
}

/** @param {readonly string[]} left @param {readonly string[]} right */
function sameNames(left, right) {
  return left.length === right.length && left.every((name, index) => name === right[index]);
}
