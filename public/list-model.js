// @ts-check
/**
 * The client's half of protocol 3.3: sections with counts, and the rows of the window by offset. Pure: no DOM, no
 * clock, no connection.
 *
 * A patch is taken in by intervals. What it removes are intervals of old offsets, what it inserts are intervals of new
 * ones; the rows in between keep their order, so one walk along the held rows gives each of them its new offset. The
 * cost is O(changes × log changes + held rows + sections), whatever the size of the result.
 */

/** @typedef {string | number | null} SectionName */
/** @typedef {{name: SectionName, indexTitle: string, count: number}} Section */
/** @typedef {{offset: number, limit: number}} Window */
/** @typedef {any[]} Row values in the order of `columns` */
/** @typedef {[number, number]} Path `[section, item]` */
/** @typedef {{start: number, count: number}} Interval */
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

/** Thrown when a message does not fit to what the client holds: the answer to it is `resync`. */
export class MismatchError extends Error {}

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

/** Coordinates of one patch: old and new sections, what goes, what comes, and who is where afterwards. */
class PatchSteps {
  /**
   * The sections of afterwards.
   *
   * @type {Section[]}
   */
  sections;
  /** First offsets of the sections before and after, with the total as the last. */
  #oldStarts;
  #newStarts;
  /**
   * Ascending, apart from one another.
   *
   * @type {Interval[]}
   */
  #removals;
  /** @type {Interval[]} */
  #insertions;

  /** @param {Message} patch @param {Section[]} before */
  constructor(patch, before) {
    this.#oldStarts = starts(before);
    const gone = [...(patch.deleted ?? []), ...(patch.moved ?? []).map((/** @type {any} */ move) => move[0])];
    const come = [...(patch.inserted ?? []), ...(patch.moved ?? []).map((/** @type {any} */ move) => move[1])];
    this.sections = sectionsAfter(patch, before, gone, come);
    this.#newStarts = starts(this.sections);
    this.#removals = ordered([
      ...gone.map((path) => ({ start: this.oldOffsetOf(path), count: 1 })),
      ...(patch.sectionsDeleted ?? []).map((/** @type {number} */ index) => this.#extent(this.#oldStarts, index)),
    ]);
    this.#insertions = ordered([
      ...come.map((path) => ({ start: this.newOffsetOf(path), count: 1 })),
      ...(patch.sectionsInserted ?? []).map((/** @type {[number]} */ [index]) => this.#extent(this.#newStarts, index)),
    ]);
  }

  /** @param {Path} path in old coordinates */
  oldOffsetOf([section, item]) {
    if (!(section in this.#oldStarts)) throw new MismatchError(`no section ${section}`);
    return this.#oldStarts[section] + item;
  }

  /** @param {Path | number[]} path in new coordinates */
  newOffsetOf([section, item]) {
    if (!(section in this.#newStarts)) throw new MismatchError(`no section ${section}`);
    return this.#newStarts[section] + item;
  }

  /** @param {number} offset of a row before */
  newOffset(offset) {
    let rank = offset;
    for (const { start, count } of this.#removals) {
      if (start >= offset) break;
      rank -= Math.min(count, offset - start);
    }
    for (const { start, count } of this.#insertions) {
      if (start > rank) break;
      rank += count;
    }
    return rank;
  }

  /**
   * Sorts held rows into those that stay, by their new offsets, and those that are taken out, by their old ones.
   *
   * @param {Map<number, Row>} held ascending
   */
  carry(held) {
    const rows = new Map();
    const carried = new Map();
    let removal = 0;
    let removed = 0;
    let insertion = 0;
    let inserted = 0;
    for (const [offset, row] of held) {
      while (removal < this.#removals.length && end(this.#removals[removal]) <= offset) {
        removed += this.#removals[removal].count;
        removal += 1;
      }
      if (removal < this.#removals.length && this.#removals[removal].start <= offset) {
        carried.set(offset, row);
        continue;
      }
      const rank = offset - removed;
      while (insertion < this.#insertions.length && this.#insertions[insertion].start <= rank + inserted) {
        inserted += this.#insertions[insertion].count;
        insertion += 1;
      }
      rows.set(rank + inserted, row);
    }
    return { rows, carried };
  }

  /**
   * New offsets of what was put in, moved rows too, as far as the window goes.
   *
   * @param {Window | null} window
   */
  arrivals(window) {
    const first = window ? window.offset : 0;
    const last = window ? window.offset + window.limit : Infinity;
    const offsets = [];
    for (const interval of this.#insertions) {
      for (let offset = Math.max(interval.start, first); offset < Math.min(end(interval), last); offset += 1) {
        offsets.push(offset);
      }
    }
    return offsets;
  }

  /** @param {number[]} boundaries @param {number} index */
  #extent(boundaries, index) {
    if (!(index + 1 in boundaries)) throw new MismatchError(`no section ${index}`);
    return { start: boundaries[index], count: boundaries[index + 1] - boundaries[index] };
  }
}

/**
 * @param {Message} patch @param {Section[]} before
 * @param {number[][]} gone old paths @param {number[][]} come new paths
 * @returns {Section[]}
 */
function sectionsAfter(patch, before, gone, come) {
  const after = before.map((section) => ({ ...section }));
  const at = (/** @type {number} */ index) => {
    if (!(index in after)) throw new MismatchError(`no section ${index}`);
    return after[index];
  };
  for (const [section] of gone) at(section).count -= 1;
  for (const index of patch.sectionsDeleted ?? []) {
    at(index);
    after.splice(index, 1);
  }
  for (const [index, section] of patch.sectionsInserted ?? []) after.splice(index, 0, bareSection(section));
  for (const [section] of come) at(section).count += 1;
  return after;
}

/**
 * A section without its rows.
 *
 * @param {Section} section
 * @returns {Section}
 */
function bareSection({ name, indexTitle, count }) {
  return { name, indexTitle, count };
}

/** @param {Section[]} sections */
function starts(sections) {
  const result = [0];
  for (const { count } of sections) result.push(result[result.length - 1] + count);
  return result;
}

/** @param {Section[]} sections */
function countRows(sections) {
  return sections.reduce((sum, { count }) => sum + count, 0);
}

/** @param {Interval[]} intervals */
function ordered(intervals) {
  return intervals.sort((left, right) => left.start - right.start || left.count - right.count);
}

/** @param {Interval} interval */
function end({ start, count }) {
  return start + count;
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
