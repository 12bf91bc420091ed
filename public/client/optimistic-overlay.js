// @ts-check
/**
 * The server's state with changes laid over it: each row by its key, in its sorted place and section. Pure.
 *
 * If the order is unknown, a changed row keeps its position, and an inserted one is the last of its section.
 *
 * **With a window**, the rows that are held stay one range. Rows that are inserted among them, or next to them if their
 * position is certain, are shown and lengthen the range; removed rows shorten it. A row whose position is beyond the
 * first or last row that is held, or in a section without held rows, cannot be placed: it counts in its section, next
 * to the held rows or at the section's end, and only the server can show its contents. The server's patches continue to
 * track a row that was held when a change was laid over it, even after it has left the window.
 */

import { ListState, offsetOfKey } from "./list-state.js";
import { OffsetSet } from "./offset-set.js";
import { isEqual, isGone, rowAfter } from "./optimistic-change.js";
import { OptimisticPlacing } from "./optimistic-placing.js";
import { Ordering } from "./ordering.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./base-correspondence.js").BaseCorrespondence} BaseCorrespondence */
/** @typedef {import("./optimistic-change.js").Step} Step */
/**
 * The effect of the changes on one row.
 *
 * @typedef {object} Effect
 * @property {string} key
 * @property {number | null} offset in the server's state; null if it has no such row, or its offset is unknown
 * @property {Row | undefined} before as the server last had it, if held
 * @property {Row | null} after the resulting row; null: it is deleted, or nothing is known about it
 * @property {boolean} isGone
 */

export class OptimisticOverlay {
  /** The server's state. */
  base;
  /**
   * The state that is shown.
   *
   * @type {ListState}
   */
  state;
  /**
   * Rows that the server does not have, with the offsets at which they are shown.
   *
   * @type {{key: string, offset: number}[]}
   */
  inserted = [];
  /** Offsets on the server of rows that are hidden or shown elsewhere. */
  #gone = new OffsetSet();
  /** Offsets of shown rows that the server does not have, or has at another position. */
  #placed = new OffsetSet();
  /**
   * Where rows are shown that the server has at another position, by their offsets there.
   *
   * @type {Map<number, number>}
   */
  #moved = new Map();

  /**
   * @param {ListState} base complete where there are effects @param {Effect[]} [effects] @param {Ordering} [ordering]
   * @param {string} [suffix] of the version
   */
  constructor(base, effects = [], ordering = new Ordering({}), suffix = "") {
    this.base = base;
    this.effects = effects;
    this.state = base;
    if (effects.length === 0) return;
    const rows = new OptimisticPlacing(base, ordering);
    /** @type {Map<string, {isPlaced: boolean}>} */
    const pending = new Map();
    const { leaving, arriving, outside } = sorted(effects, base, ordering, (key, offset, row, isPlaced) => {
      pending.set(key, { isPlaced });
      rows.replace(offset, row);
    });
    for (const offset of [...leaving].sort((left, right) => right - left)) rows.remove(offset);
    // Rows outside the window stay where they are, except those that come into it.
    const coming = outside.filter(({ after }) => rows.place(after).isHeld);
    const rest = new OffsetSet(leaving);
    for (const offset of coming.map(({ offset }) => rest.rankOf(offset)).sort((left, right) => right - left)) rows.remove(offset);
    const putIn = [...arriving, ...coming];
    putIn.forEach(({ key, after }, number) => pending.set(key, { isPlaced: rows.insert(after, number) }));
    this.#gone = new OffsetSet([...leaving, ...coming.map(({ offset }) => offset)]);
    this.#placed = new OffsetSet(rows.placed.map(({ offset }) => offset));
    for (const { number, offset } of rows.placed) {
      const { key, offset: source } = putIn[number];
      if (source === null) this.inserted.push({ key, offset });
      else this.#moved.set(source, offset);
    }
    const { sequence, sections, window } = rows.finished();
    const { columns, key, version, commit, totals, alongside, order } = base;
    this.state = new ListState(
      { columns, key, sections, window, version: `${version}${suffix}`, commit, totals, alongside, order, isComplete: true, pending }, sequence);
  }

  /**
   * The offset at which a row of the server is shown; null if it is not.
   *
   * @param {number} offset @returns {number | null}
   */
  shownOffset(offset) {
    return this.#moved.get(offset) ?? (this.#gone.has(offset) ? null : this.#placed.offsetOf(this.#gone.rankOf(offset)));
  }

  /**
   * How many of the server's rows precede those shown from an offset on.
   *
   * @param {number} offset
   */
  baseOffset(offset) {
    return this.#gone.offsetOf(this.#placed.rankOf(offset));
  }

  /**
   * @param {Map<string, Step[]>} steps by key @param {ListState} base
   * @param {OptimisticOverlay} before the overlay of the last state
   * @param {BaseCorrespondence | null} correspondence null: nothing is known about the last state's rows
   * @returns {Effect[]}
   */
  static effects(steps, base, before, correspondence) {
    const known = new Map(before.effects.map((effect) => [effect.key, effect]));
    return [...steps].map(([key, steps]) => {
      const last = known.get(key);
      const offset = find(key, base, last, correspondence);
      const held = offset === null ? undefined : base.at(offset) ?? last?.before;
      const row = rowAfter(steps, held, base.columns);
      // The same object is kept while nothing differs.
      const after = row && row !== held && last?.after && isEqual(row, last.after) ? last.after : row;
      return { key, offset, before: held, after, isGone: isGone(steps) };
    });
  }
}

/** @typedef {{key: string, offset: any, after: Row}} Moving a row that is put in */

/**
 * Sorts the effects: `leaving` offsets, `arriving` rows, and rows `outside` of the window.
 *
 * @param {Effect[]} effects @param {ListState} base @param {Ordering} ordering
 * @param {(key: string, offset: number, row: Row, isPlaced: boolean) => void} stays
 */
function sorted(effects, base, ordering, stays) {
  /** @type {{leaving: number[], arriving: Moving[], outside: Moving[]}} */
  const { leaving, arriving, outside } = { leaving: [], arriving: [], outside: [] };
  for (const { key, offset, after, isGone } of effects) {
    if (isGone && offset !== null) leaving.push(offset);
    if (!after) continue;
    const before = offset === null ? undefined : base.at(offset);
    if (offset === null) arriving.push({ key, offset, after });
    else if (!before) outside.push({ key, offset, after });
    else {
      const isSamePlace = ordering.isSamePlace(before, after);
      if (isSamePlace !== false) stays(key, offset, after, isSamePlace !== undefined);
      else {
        leaving.push(offset);
        arriving.push({ key, offset, after });
      }
    }
  }
  return { leaving, arriving, outside };
}

/**
 * The offset of a row in a base, without reading all of its rows if possible.
 *
 * @param {string} key @param {ListState} base @param {Effect | undefined} last its effect in the last base
 * @param {BaseCorrespondence | null} correspondence @returns {number | null}
 */
function find(key, base, last, correspondence) {
  const isRow = (/** @type {number} */ offset) => {
    const row = base.at(offset);
    return row !== undefined && base.keyOf(row) === key;
  };
  if (!last || !correspondence) return offsetOfKey(base, key);
  const offset = last.offset === null ? null : correspondence.newOffset(last.offset);
  // A row that is not held stays where the patches place it.
  if (offset !== null && (isRow(offset) || !base.at(offset))) return offset;
  if (base.window) return offsetOfKey(base, key);
  for (const inserted of correspondence.inserted) if (isRow(inserted)) return inserted;
  return null;
}
