// @ts-check
/** Removes some rows, and inserts others at their sorted position and in their section. Pure. */

import { sequenceOf } from "./list-state.js";
import { RowSequence } from "./row-sequence.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {import("./ordering.js").Ordering} Ordering */
/**
 * The position of a row.
 *
 * @typedef {object} Place
 * @property {number} section @property {number} offset
 * @property {SQLValue} [name] of a section that does not exist yet
 * @property {boolean} isHeld whether its contents are shown: it is not among rows whose contents are unknown
 * @property {boolean} isExact whether its position is certain
 * @property {boolean} isBeforeHeld for a row that is not held: whether it precedes the held rows
 */

/** The held rows have no holes. */
export class OptimisticPlacing {
  /**
   * The inserted rows, by number, and their present offsets.
   *
   * @type {{number: number, offset: number}[]}
   */
  placed = [];
  #base;
  #ordering;
  #sequence;
  /** Each section of the base, and how many rows it has now. */
  #sections;
  /** Offsets of the rows with contents. */
  #held;
  /**
   * Whether rows that enter the window have no contents either: only structure is wanted, or rows beyond the end.
   */
  #holdsNothing;

  /** @param {ListState} base @param {Ordering} ordering */
  constructor(base, ordering) {
    this.#base = base;
    this.#ordering = ordering;
    this.#sequence = sequenceOf(base);
    this.#sections = base.sections.map((section) => ({ section, count: section.count }));
    const { offset, limit } = base.window ?? { offset: 0, limit: Infinity };
    this.#held = { first: Math.min(offset, base.total), last: Math.min(offset + limit, base.total) };
    this.#holdsNothing = limit === 0 || offset > base.total;
  }

  /** The rows, and the sections that have not become empty. */
  finished() {
    const { isSectioned } = this.#ordering;
    const all = this.#sections;
    const isOne = isSectioned === null ? all.length === 1 && all[0].section.name === "" : !isSectioned;
    const sections = all.filter(({ count }) => isOne || count > 0)
      .map(({ section, count }) => (section.count === count ? section : { ...section, count }));
    return { sequence: this.#sequence, sections, window: this.#window() };
  }

  /** @returns {Window | null} */
  #window() {
    const { window, total } = this.#base;
    if (!window) return null;
    const { first, last } = this.#held;
    const isToEnd = last === this.#sequence.length;
    const offset = window.offset > total ? window.offset + this.#sequence.length - total : first;
    return { offset, limit: this.#holdsNothing ? window.limit : isToEnd ? Math.max(window.limit, last - first) : last - first };
  }

  /**
   * Removes a row. Precondition: no row was inserted yet.
   *
   * @param {number} offset of an existing row
   */
  remove(offset) {
    let [section, end] = [0, this.#sections[0].count];
    while (end <= offset) end += this.#sections[section += 1].count;
    this.#sections[section].count -= 1;
    this.#sequence = this.#sequence.replacing(offset, 1);
    const { first, last } = this.#held;
    this.#held = { first: offset < first ? first - 1 : first, last: offset < last ? last - 1 : last };
  }

  /** @param {number} offset of an existing row @param {Row} row */
  replace(offset, row) {
    this.#sequence = this.#sequence.replacing(offset, 1, RowSequence.of([row]));
  }

  /**
   * @param {Row} row @param {number} number
   * @returns {boolean} whether its position is certain
   */
  insert(row, number) {
    const { section, offset, name, isHeld, isExact, isBeforeHeld } = this.place(row);
    if (name !== undefined) this.#sections.splice(section, 0, { section: { name, indexTitle: initialOf(name), count: 0 }, count: 0 });
    this.#sections[section].count += 1;
    this.#sequence = this.#sequence.replacing(offset, 0, isHeld ? RowSequence.of([row]) : RowSequence.hole(1));
    for (const each of this.placed) if (each.offset >= offset) each.offset += 1;
    this.placed.push({ number, offset });
    if (isHeld || isBeforeHeld) this.#held.last += 1;
    if (!isHeld && isBeforeHeld) this.#held.first += 1;
    return isExact;
  }

  /**
   * Beyond the first or last held row, and in a section without held rows, the position is unknown: the row counts
   * there, without contents.
   *
   * @param {Row} row @returns {Place}
   */
  place(row) {
    const { section, name, isKnown } = this.#sectionFor(row);
    let start = 0;
    for (let index = 0; index < section; index += 1) start += this.#sections[index].count;
    const end = start + (name === undefined ? this.#sections[section].count : 0);
    const { first: firstHeld, last: lastHeld } = this.#held;
    const first = Math.min(Math.max(firstHeld, start), end);
    const last = Math.min(Math.max(lastHeld, start), end);
    if (first === last && start < end) {
      return { section, name, offset: end, isHeld: false, isExact: false, isBeforeHeld: end <= firstHeld };
    }
    const rank = isKnown ? this.#rankOf(row, first, last) : undefined;
    const offset = rank ?? last;
    const isFirst = offset === first && offset > start;
    const isLast = offset === last && offset < end;
    if (isFirst || isLast) return { section, name, offset, isHeld: false, isExact: false, isBeforeHeld: isFirst };
    const isHeld = !this.#holdsNothing && offset >= firstHeld && offset <= lastHeld;
    return { section, name, offset, isHeld, isExact: rank !== undefined, isBeforeHeld: offset < firstHeld };
  }

  /**
   * The first of some held rows that this one precedes; undefined if the order is unknown.
   *
   * @param {Row} row @param {number} first @param {number} last
   */
  #rankOf(row, first, last) {
    let [low, high] = [first, last];
    // If there are no rows to compare with, this checks whether the order is known.
    if (this.#ordering.compare(row, row) === undefined) return undefined;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#sequence.at(middle);
      const order = other && this.#ordering.compare(other, row);
      if (order === undefined) return undefined;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * The section that a row belongs to, or that it makes.
   *
   * @param {Row} row @returns {{section: number, name?: SQLValue, isKnown: boolean}}
   */
  #sectionFor(row) {
    const { section: term, isSectioned, sortsSections } = this.#ordering;
    const sections = this.#sections;
    const name = term?.value(row);
    if (!term || name === undefined) {
      return { section: Math.max(sections.length - 1, 0), ...(sections.length === 0 && { name: null }), isKnown: isSectioned === false };
    }
    const index = sections.findIndex(({ section }) => term.compare(section.name, name) === 0);
    if (index >= 0) return { section: index, isKnown: true };
    const following = sortsSections ? sections.findIndex(({ section }) => term.compare(section.name, name) > 0) : -1;
    return { section: following < 0 ? sections.length : following, name, isKnown: sortsSections };
  }
}

/**
 * The index title of a section that the server has not named yet.
 *
 * @param {SQLValue} name
 */
function initialOf(name) {
  return name === null || name instanceof Uint8Array ? "" : [...String(name)].slice(0, 1).join("").toUpperCase();
}
