// @ts-check
/**
 * The row that keys act on: it stays the same row when that moves, and becomes the next row when that is deleted. Pure:
 * no DOM.
 *
 * Its contents need not be held: its offset is then followed through patches, and its key is known if it was held
 * before.
 */

import { offsetOfRow } from "./row-offset.js";

/** @typedef {import("./types.js").ChangeEvent} ChangeEvent */
/** @typedef {import("./types.js").ListState} ListState */
/** @typedef {import("./types.js").Path} Path */
/** @typedef {import("./types.js").Message} Message */

export class ActiveRow {
  /** -1 for none. */
  offset = -1;
  /** @type {string | null} */
  key = null;
  /**
   * Its values when they were last seen.
   *
   * @type {import("./types.js").Row | undefined}
   */
  row;

  /** @param {ListState} state @param {number} offset */
  set(state, offset) {
    this.offset = Math.max(-1, Math.min(offset, state.total - 1));
    this.#forget();
    this.recognise(state);
  }

  /** @param {ListState} state @param {number | null} offset */
  #isFoundAt(state, offset) {
    const row = offset === null ? undefined : state.at(offset);
    if (!row || offset === null || state.keyOf(row) !== this.key) return false;
    this.offset = offset;
    this.row = row;
    return true;
  }

  #forget() {
    this.key = null;
    this.row = undefined;
  }

  /**
   * Learns the key as soon as the row's contents have come.
   *
   * @param {ListState} state
   */
  recognise(state) {
    if (this.key !== null || this.offset < 0) return;
    this.row = state.at(this.offset);
    if (this.row) this.key = state.keyOf(this.row);
  }

  /**
   * @param {ChangeEvent} event
   * @returns {boolean} whether only the server knows its position now
   */
  follow({ kind, patch, before, after, changes }) {
    if (this.offset < 0) return false;
    if (this.key !== null && this.#isFoundAt(after, changes.newOffset(this.offset))) return false;
    if (this.row && this.#isFoundAt(after, offsetOfRow(after, this.row))) return false;
    const isLost = kind === "snapshot" && this.key !== null && after.total > 0;
    const old = before.pathOf(this.offset);
    const moved = patch && old && destination(patch, old);
    if (patch && old && !moved && isDeleted(patch, old)) this.#forget();
    this.offset = (moved && after.offsetOf(moved)) ?? Math.min(changes.newOffset(this.offset), after.total - 1);
    this.recognise(after);
    return isLost;
  }

  /**
   * Asks the server for the row's position: after a snapshot only the server knows it, unless the row is near the view.
   *
   * @param {import("./types.js").LiveList} list
   */
  async locate(list) {
    const { key, row } = this;
    if (!row) return;
    // Without an answer, the last known offset stays.
    const located = await list.locate(list.state.key.map((column) => row[column])).catch(() => null);
    if (!located || this.key !== key) return;
    if (located.offset === null) this.set(list.state, this.offset);
    else this.offset = located.offset;
  }
}

/** @param {Message} patch @param {Path} path @returns {Path | null} the new path of a moved row */
function destination(patch, [section, item]) {
  const move = (patch.moved ?? []).find((/** @type {any} */ [from]) => from[0] === section && from[1] === item);
  return move ? move[1] : null;
}

/** @param {Message} patch @param {Path} path */
function isDeleted(patch, [section, item]) {
  return (patch.sectionsDeleted ?? []).includes(section)
    || (patch.deleted ?? []).some((/** @type {Path} */ path) => path[0] === section && path[1] === item);
}
