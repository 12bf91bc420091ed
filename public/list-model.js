// @ts-check
/**
 * The client's half of protocol 3.3: sections with counts, and the rows of the window by offset. Pure: no DOM, no
 * clock, no connection.
 *
 * A patch is taken in by intervals. What it removes are intervals of old offsets, what it inserts are intervals of new
 * ones; the rows in between keep their order, so one walk along the held rows gives each of them its new offset. The
 * cost is O(changes × log changes + held rows + sections), whatever the size of the result.
 */

import { countRows, bareSection, MismatchError, PatchSteps } from "./patch-steps.js";

export { MismatchError };

/** @typedef {string | number | null} SectionName */
/** @typedef {{name: SectionName, indexTitle: string, count: number}} Section */
/** @typedef {{offset: number, limit: number}} Window */
/** @typedef {any[]} Row values in the order of `columns` */
/** @typedef {[number, number]} Path `[section, item]` */
/** @typedef {Record<string, any>} Message a message of the server, as parsed */

/**
 * What a message did to the list.
 *
 * @typedef {object} Outcome
 * @property {"snapshot" | "rows" | "patch"} kind after a snapshot everything before is worth nothing; rows bring
 *   contents and change nothing
 * @property {number[]} inserted new offsets, inside the window, of rows that were not in the result before
 * @property {number[]} moved new offsets, inside the window, of rows that stood elsewhere
 * @property {{offset: number, columns: string[]}[]} changed rows whose contents changed, moved ones too
 * @property {(offset: number) => number} newOffset where a row of before is now; for one that is gone or was moved,
 *   where the next row that is neither is now
 */

export class ListModel {
  /** @type {string[]} */
  columns = [];
  /** @type {string[]} */
  key = [];
  /** @type {Section[]} */
  sections = [];
  total = 0;
  /**
   * The window the rows are those of; null when everything is held.
   *
   * @type {Window | null}
   */
  window = null;
  /** @type {string | null} */
  version = null;
  /** The last database state seen; -1 before the first. */
  commit = -1;
  /** @type {Record<string, any>} */
  alongside = {};
  /** Whether every row of the window is here. */
  isComplete = false;

  /**
   * Held rows by offset, ascending.
   *
   * @type {Map<number, Row>}
   */
  #rows = new Map();

  /** @param {number} offset @returns {Row | undefined} the row, if its contents are held */
  row(offset) {
    return this.#rows.get(offset);
  }

  /** Held rows with their offsets, ascending. */
  rows() {
    return this.#rows.entries();
  }

  /** @param {Row} row @param {string} column */
  value(row, column) {
    return row[this.columns.indexOf(column)];
  }

  /** Rows whose contents are held. */
  get heldCount() {
    return this.#rows.size;
  }

  /**
   * What identifies a row, as one string.
   *
   * @param {Row} row
   */
  keyOf(row) {
    return JSON.stringify(this.key.map((column) => this.value(row, column)));
  }

  /** @param {number} offset @returns {Path | null} null beyond the end */
  pathOf(offset) {
    let item = offset;
    for (let section = 0; section < this.sections.length; section += 1) {
      if (item < this.sections[section].count) return [section, item];
      item -= this.sections[section].count;
    }
    return null;
  }

  /**
   * Takes in a `snapshot`, `rows` or `patch` message.
   *
   * @param {Message} message
   * @returns {Outcome}
   * @throws {MismatchError} when it does not fit: what is held is worth nothing from then on, until a snapshot comes
   */
  apply(message) {
    switch (message.type) {
      case "snapshot": return this.#applySnapshot(message);
      case "rows": return this.#applyRows(message);
      case "patch": return this.#applyPatch(message);
      default: throw new MismatchError(`${message.type} changes no list`);
    }
  }

  /** @param {Message} message */
  #applySnapshot(message) {
    this.columns = message.columns;
    this.key = message.key;
    this.sections = message.sections.map(bareSection);
    this.total = countRows(this.sections);
    this.window = message.window ?? null;
    this.version = message.version;
    this.commit = message.commit;
    this.alongside = message.alongside ?? {};
    this.isComplete = message.complete;
    this.#rows = new Map();
    this.#place(message);
    this.#check(message.total);
    return unmoved("snapshot");
  }

  /**
   * The continuation of a snapshot, or the answer to `window` or `fetch`.
   *
   * @param {Message} message
   */
  #applyRows(message) {
    if (message.version !== this.version) throw new MismatchError("rows of another version");
    if (message.window) {
      this.window = message.window;
      this.#rows = new Map([...this.#rows].filter(([offset]) => this.#isVisible(offset)));
    }
    this.isComplete = this.isComplete || message.complete;
    this.#place(message);
    return unmoved("rows");
  }

  /**
   * Puts in the rows of a message, as far as the window wants them.
   *
   * @param {Message} message
   */
  #place(message) {
    message.rows.forEach((/** @type {any} */ row, /** @type {number} */ index) => {
      const offset = message.offset + index;
      if (this.#isVisible(offset)) this.#rows.set(offset, this.#asArray(row));
    });
    this.#rows = new Map([...this.#rows].sort(([left], [right]) => left - right));
  }

  /**
   * @param {Message} patch
   * @returns {Outcome}
   */
  #applyPatch(patch) {
    if (!this.isComplete) throw new MismatchError("a patch before the snapshot was complete");
    if (patch.from !== this.version) throw new MismatchError("a patch from another version");
    const steps = new PatchSteps(patch, this.sections);
    const { rows, carried } = steps.carry(this.#rows);
    const changed = this.#putIn(patch, steps, rows, carried);
    this.sections = steps.sections;
    this.total = countRows(this.sections);
    this.window = patch.window ?? this.window;
    for (const [offset, row] of patch.filled ?? []) rows.set(offset, this.#asArray(row));
    const visible = [...rows].filter(([offset]) => this.#isVisible(offset));
    this.#rows = new Map(visible.sort(([left], [right]) => left - right));
    this.version = patch.to;
    this.commit = patch.commit;
    Object.assign(this.alongside, patch.alongside);
    this.#check(patch.total);
    const isHeld = (/** @type {number} */ offset) => this.#rows.has(offset);
    const moved = new Set((patch.moved ?? []).map((/** @type {any} */ move) => steps.newOffsetOf(move[1])));
    return {
      kind: "patch",
      inserted: steps.arrivals(this.window).filter((offset) => isHeld(offset) && !moved.has(offset)),
      moved: [...moved].filter(isHeld),
      changed: changed.filter(({ offset }) => isHeld(offset)),
      newOffset: (/** @type {number} */ offset) => steps.newOffset(offset),
    };
  }

  /**
   * Steps 3 to 5: what was inserted, what was carried to another place, and what changed in either and in rows that
   * stayed.
   *
   * @param {Message} patch @param {PatchSteps} steps @param {Map<number, Row>} rows @param {Map<number, Row>} carried
   */
  #putIn(patch, steps, rows, carried) {
    for (const [index, info] of patch.sectionsInserted ?? []) {
      const start = steps.newOffsetOf([index, 0]);
      (info.rows ?? []).forEach((/** @type {any} */ row, /** @type {number} */ item) => {
        rows.set(start + item, this.#asArray(row));
      });
    }
    for (const [section, item, row] of patch.inserted ?? []) {
      if (row !== undefined) rows.set(steps.newOffsetOf([section, item]), this.#asArray(row));
    }
    for (const [from, to] of patch.moved ?? []) {
      const row = carried.get(steps.oldOffsetOf(from));
      if (row !== undefined) rows.set(steps.newOffsetOf(to), row);
    }
    return [...(patch.moved ?? []), ...(patch.updated ?? [])]
      .map(([, to, changes]) => ({ offset: steps.newOffsetOf(to), columns: Object.keys(changes ?? {}), changes }))
      .filter(({ columns }) => columns.length > 0)
      .map(({ offset, columns, changes }) => {
        const row = rows.get(offset);
        if (row === undefined) throw new MismatchError("changes of a row that is not held");
        rows.set(offset, this.columns.map((column, index) => (column in changes ? changes[column] : row[index])));
        return { offset, columns };
      });
  }

  /** @param {Row | Record<string, any>} row in either shape of the protocol */
  #asArray(row) {
    return Array.isArray(row) ? row : this.columns.map((column) => row[column]);
  }

  /** @param {number} offset */
  #isVisible(offset) {
    if (offset >= this.total) return false;
    return !this.window || (offset >= this.window.offset && offset < this.window.offset + this.window.limit);
  }

  /** @param {number} total as the server counts */
  #check(total) {
    if (total !== this.total) throw new MismatchError(`${this.total} rows where the server has ${total}`);
  }
}

/**
 * What messages do that are no patches.
 *
 * @param {"snapshot" | "rows"} kind
 * @returns {Outcome}
 */
function unmoved(kind) {
  return { kind, inserted: [], moved: [], changed: [], newOffset: (offset) => offset };
}
