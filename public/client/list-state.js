// @ts-check
/**
 * One state of a live list: sections with counts, and the rows whose contents are held. Immutable: each message makes
 * another state (`apply.js`), which shares unchanged sections and rows with this one.
 */

import { starts } from "./patch-steps.js";
import { RowSequence } from "./row-sequence.js";
import { identity } from "./values.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Section} Section */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").IndexPath} IndexPath */

/**
 * @typedef {object} Members
 * @property {readonly string[]} columns @property {readonly string[]} key @property {readonly Section[]} sections
 * @property {Window | null} window @property {string | null} version @property {number} commit
 * @property {Readonly<Record<string, SQLValue>>} totals @property {Readonly<Record<string, SQLValue>>} alongside
 * @property {boolean} isComplete
 * @property {Order} [order] @property {Pending} [pending]
 */

/** @typedef {import("../freshet.js").ListState["order"]} Order as messages carry it; empty: the server does not say */

/**
 * @typedef {ReadonlyMap<string, {isPlaced: boolean}>} Pending the rows, by key, with changes that the server has not
 * shown yet
 */

/** @type {Pending} */
const nothing = new Map();

/** @type {Order} */
const unsaid = {};

/** @type {(state: ListState) => RowSequence} */
let rows;
/** @type {(state: ListState, key: string) => number | null} */
let offsetOf;

export class ListState {
  #rows;
  #pending;
  /** @type {number[] | undefined} */
  #starts;
  /** @type {Map<string, number> | undefined} */
  #offsets;

  static {
    rows = (state) => state.#rows;
    offsetOf = (state, key) => state.#offsetOfKey(key);
  }

  /** @param {Members} members @param {RowSequence} sequence with as many rows as all sections together */
  constructor(members, sequence) {
    this.columns = members.columns;
    this.key = members.key;
    this.sections = members.sections;
    this.window = members.window;
    this.version = members.version;
    this.commit = members.commit;
    this.totals = members.totals;
    this.alongside = members.alongside;
    this.isComplete = members.isComplete;
    this.order = members.order ?? unsaid;
    this.#pending = members.pending ?? nothing;
    this.#rows = sequence;
    Object.freeze(this);
  }

  get total() {
    return this.#rows.length;
  }

  get heldCount() {
    return this.#rows.held;
  }

  /** @param {number} offset @returns {Row | undefined} */
  at(offset) {
    return this.#rows.at(offset);
  }

  /** @param {IndexPath} path @returns {Row | undefined} */
  row(path) {
    const offset = this.offsetOf(path);
    return offset === null ? undefined : this.at(offset);
  }

  /** @returns {IterableIterator<[number, Row]>} */
  entries() {
    return this.#rows.entries();
  }

  /** @param {SQLValue | SQLValue[]} key @returns {IndexPath | null} */
  path(key) {
    const offset = this.#offsetOfKey(identity(Array.isArray(key) ? key : [key]));
    return offset === null ? null : this.pathOf(offset);
  }

  /** @param {string} key @returns {number | null} */
  #offsetOfKey(key) {
    if (!this.#offsets) {
      this.#offsets = new Map();
      for (const [offset, row] of this.entries()) this.#offsets.set(this.keyOf(row), offset);
    }
    return this.#offsets.get(key) ?? null;
  }

  /** @param {Row} row */
  pendingOf(row) {
    return this.#pending.size === 0 ? null : this.#pending.get(this.keyOf(row)) ?? null;
  }

  /** @param {Row} row */
  keyOf(row) {
    return identity(this.key.map((column) => row[column]));
  }

  /** @param {number} offset @returns {IndexPath | null} */
  pathOf(offset) {
    if (!(offset >= 0 && offset < this.total)) return null;
    const boundaries = this.#boundaries();
    let low = 0;
    let high = this.sections.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (boundaries[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return [low, offset - boundaries[low]];
  }

  /** @param {IndexPath} path @returns {number | null} */
  offsetOf([section, item]) {
    const count = this.sections[section]?.count ?? 0;
    return item >= 0 && item < count ? this.#boundaries()[section] + item : null;
  }

  #boundaries() {
    this.#starts ??= starts(this.sections);
    return this.#starts;
  }
}

/** The rows of a state as a sequence, from which the next state is made. */
export const sequenceOf = rows;

/** The offset of the row with a key, as `keyOf` gives it; null if no held row has it. */
export const offsetOfKey = offsetOf;

/** The state before any message has come. */
export const emptyState = new ListState(
  { columns: [], key: [], sections: [], window: null, version: null, commit: -1, totals: {}, alongside: {}, isComplete: false },
  RowSequence.hole(0));
