// @ts-check
/**
 * A list's state with changes laid over it that the server does not know of, or has not shown yet. Pure: a function of the
 * server's state and the changes, in O(changes × log rows + sections).
 *
 * Three sequences of rows: those of the server, the *rest* without the rows that go or stand elsewhere, and those that are
 * shown, with rows put into the rest.
 */

import { ListState, sequenceOf } from "./list-state.js";
import { placeOf } from "./optimistic-place.js";
import { starts } from "./patch-steps.js";
import { RowSequence } from "./row-sequence.js";

/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Section} Section */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("./ordering.js").Ordering} Ordering */
/** @typedef {import("./optimistic-place.js").Place} Place */
/** @typedef {import("./optimistic-place.js").Rest} Rest */
/**
 * What is to become of one row.
 *
 * @typedef {object} Effect
 * @property {string} key @property {Row | null} row as it is to be; null: it goes, or nothing is known of it here
 * @property {boolean} isGone whether it goes
 * @property {number | null} offset in the server's state; null where that has no such row, or it is not known where
 */
/**
 * A row that is put in.
 *
 * @typedef {object} Placed
 * @property {string} key @property {number | null} source its offset in the server's state
 * @property {Row} row @property {Place} place @property {number} offset where it is shown
 */

export class Overlay {
  /** What the server has. */
  base;
  /**
   * What is shown.
   *
   * @type {ListState}
   */
  state;
  /**
   * Offsets in the base of rows that are not shown where they are there, ascending.
   *
   * @type {number[]}
   */
  gone = [];
  /**
   * Ascending.
   *
   * @type {Placed[]}
   */
  placed = [];
  /**
   * Keys of rows that may be shown at the wrong place.
   *
   * @type {Set<string>}
   */
  misplaced = new Set();
  /**
   * For each section that is shown, its index in the base; -1 for one that is not there.
   *
   * @type {number[]}
   */
  sources = [];
  #ordering;

  /** @param {ListState} base complete where there are effects @param {Effect[]} effects @param {Ordering} ordering @param {string} suffix of the version */
  constructor(base, effects, ordering, suffix) {
    this.base = base;
    this.effects = effects;
    this.#ordering = ordering;
    if (effects.length === 0) {
      this.state = base;
      this.sources = base.sections.map((_, index) => index);
      return;
    }
    let sequence = sequenceOf(base);
    const arriving = [];
    for (const { key, row, offset, isGone } of effects) {
      const old = offset === null ? undefined : base.at(offset);
      const isSamePlace = old && row ? ordering.isSamePlace(old, row) : false;
      if (isSamePlace === undefined) this.misplaced.add(key);
      if (isSamePlace === false) {
        if (offset !== null && (isGone || row)) this.gone.push(offset);
        if (row) arriving.push({ key, row, source: offset });
      } else if (row && old !== row) {
        sequence = sequence.replacing(/** @type {number} */ (offset), 1, RowSequence.of([row]));
      }
    }
    this.gone.sort((left, right) => left - right);
    for (let index = this.gone.length - 1; index >= 0; index -= 1) sequence = sequence.replacing(this.gone[index], 1);
    const rest = this.#rest(sequence);
    this.placed = this.#places(arriving, rest, ordering);
    this.state = this.#shown(rest, suffix);
  }

  /**
   * The sections of the rest, empty ones as well, and which of its rows are held.
   *
   * @param {RowSequence} sequence @returns {Rest}
   */
  #rest(sequence) {
    const { base } = this;
    const boundaries = starts(base.sections).map((start) => start - countBelow(this.gone, start));
    const { offset, limit } = base.window ?? { offset: 0, limit: Infinity };
    const first = Math.min(offset, base.total);
    const last = Math.min(offset + limit, base.total);
    return {
      sequence, boundaries, sections: base.sections,
      held: { first: first - countBelow(this.gone, first), last: last - countBelow(this.gone, last) },
      // Structure alone is wanted, or rows beyond the end.
      holdsNothing: limit === 0 || offset > base.total,
    };
  }

  /** @param {{key: string, row: Row, source: number | null}[]} arriving @param {Rest} rest @param {Ordering} ordering */
  #places(arriving, rest, ordering) {
    const placed = [];
    for (const { key, row, source } of arriving) {
      const place = placeOf(row, rest, ordering);
      if (!place.isExact) this.misplaced.add(key);
      placed.push({ key, row, source, place, offset: 0 });
    }
    numberSections(placed.map(({ place }) => place).filter(({ name }) => name !== undefined), ordering);
    placed.sort((left, right) => order(left.place, right.place) || (ordering.compare(left.row, right.row) ?? 0));
    placed.forEach((each, index) => (each.offset = each.place.at + index));
    return placed;
  }

  /** @param {Rest} rest @param {string} suffix */
  #shown(rest, suffix) {
    let { sequence } = rest;
    const window = this.#window(rest);
    for (const { offset, row, place } of this.placed) {
      sequence = sequence.replacing(offset, 0, place.isHeld ? RowSequence.of([row]) : RowSequence.hole(1));
    }
    const { base } = this;
    return new ListState({
      columns: base.columns, key: base.key, sections: this.#sections(rest), window,
      version: `${base.version}${suffix}`, commit: base.commit, alongside: base.alongside, isComplete: true, order: base.order,
      pending: new Map(this.effects.map(({ key }) => [key, { isPlaced: !this.misplaced.has(key) }])),
    }, sequence);
  }

  /** @param {Rest} rest @returns {Section[]} */
  #sections({ boundaries, sections }) {
    const counts = new Map();
    /** @type {Map<number, Place>} */
    const made = new Map();
    for (const { place } of this.placed) {
      counts.set(place.section, (counts.get(place.section) ?? 0) + 1);
      if (place.name !== undefined) made.set(place.section, place);
    }
    const { isSectioned } = this.#ordering;
    const isOne = isSectioned === null ? sections.length === 1 && sections[0].name === "" : !isSectioned;
    const positions = [...sections.keys(), ...made.keys()].sort((left, right) => left - right);
    const shown = [];
    for (const position of positions) {
      const own = sections[position];
      const count = (own ? boundaries[position + 1] - boundaries[position] : 0) + (counts.get(position) ?? 0);
      if (count === 0 && !isOne) continue;
      this.sources.push(own ? position : -1);
      if (own) shown.push(own.count === count ? own : { ...own, count });
      else shown.push({ ...newSection(/** @type {any} */ (made.get(position)).name), count });
    }
    return shown;
  }

  /** @param {Rest} rest @returns {Window | null} */
  #window({ sequence, held: { first, last }, holdsNothing }) {
    const { window } = this.base;
    const places = this.placed.map(({ place }) => place);
    if (!window) return null;
    if (holdsNothing) {
      const shift = places.filter(({ at }) => at < window.offset).length - countBelow(this.gone, window.offset);
      return { offset: window.offset + shift, limit: window.limit };
    }
    const before = places.filter(({ at }) => at < first).length + holdTogether(places, first, last);
    const held = last - first + places.filter(({ isHeld }) => isHeld).length;
    const isToEnd = first + before + held === sequence.length + places.length;
    return { offset: first + before, limit: isToEnd ? Math.max(window.limit, held) : held };
  }

  /**
   * Where a row of the base is shown; null where it is not.
   *
   * @param {number} offset @returns {number | null}
   */
  shownOffset(offset) {
    const index = countBelow(this.gone, offset);
    if (this.gone[index] === offset) return this.placed.find(({ source }) => source === offset)?.offset ?? null;
    const rest = offset - index;
    // Those put in at the same place come before it.
    return rest + countWhere(this.placed, ({ place }) => place.at <= rest);
  }

  /**
   * How many rows of the base are before those shown from an offset on.
   *
   * @param {number} offset
   */
  baseOffset(offset) {
    const rest = offset - countWhere(this.placed, (placed) => placed.offset < offset);
    let result = rest;
    for (const gone of this.gone) if (gone <= result) result += 1;
    return result;
  }
}

/** @param {Place} left @param {Place} right */
function order(left, right) {
  return left.section - right.section || left.at - right.at || left.rank - right.rank;
}

/**
 * Rows of one name are of one section; several new ones between two others come in their order.
 *
 * @param {Place[]} places of sections that are not there @param {Ordering} ordering
 */
function numberSections(places, { section }) {
  const compare = section?.compare ?? (() => 0);
  const sorted = places.sort((left, right) => left.section - right.section || compare(left.name ?? null, right.name ?? null));
  let index = 0;
  let last = /** @type {Place | null} */ (null);
  for (const place of sorted) {
    const gap = Math.ceil(place.section);
    const isInGap = last !== null && Math.ceil(last.section) === gap;
    index = isInGap ? index : 0;
    if (last && isInGap && compare(last.name ?? null, place.name ?? null) === 0) place.name = last.name;
    else index += 1;
    place.section = gap - 1 / (1 + index);
    last = place;
  }
}

/**
 * What is held has no holes: a row beyond one that is not held is not held either.
 *
 * @param {Place[]} places @param {number} first @param {number} last of the rest's rows that are held
 * @returns {number} how many at `first` are before all that is held
 */
function holdTogether(places, first, last) {
  const left = places.filter(({ at }) => at === first);
  if (first === last) {
    const start = left.findIndex(({ isHeld }) => isHeld);
    if (start < 0) return left.length;
    endAtHole(left.slice(start));
    return start;
  }
  endAtHole([...left].reverse());
  endAtHole(places.filter(({ at }) => at === last));
  return left.filter(({ isHeld }) => !isHeld).length;
}

/** @param {Place[]} places from what is held on outwards */
function endAtHole(places) {
  let isBroken = false;
  for (const place of places) {
    isBroken ||= !place.isHeld;
    if (isBroken) place.isHeld = false;
  }
}

/** @param {import("../freshet.js").SQLValue} name */
function newSection(name) {
  return { name, indexTitle: name === null || name instanceof Uint8Array ? "" : String(name).slice(0, 1).toUpperCase() };
}

/** @param {number[]} ascending @param {number} bound */
export function countBelow(ascending, bound) {
  return countWhere(ascending, (value) => value < bound);
}

/**
 * How many of the first ones it holds for, and for none after them.
 *
 * @template Value @param {Value[]} list @param {(value: Value) => boolean} holds
 */
export function countWhere(list, holds) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
