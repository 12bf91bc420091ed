// @ts-check
/** The patch between two states that are shown, in the shape of the server's own: protocol 3.3. Pure. */

import { countBelow, countWhere } from "./optimistic-overlay.js";
import { sectionPairs, touchedRows } from "./optimistic-rows.js";
import { identity } from "./values.js";

/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").IndexPath} IndexPath */
/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {import("./optimistic-overlay.js").Overlay} Overlay */
/** @typedef {import("./optimistic-rows.js").Touched} Touched */
/** @typedef {import("./optimistic-rows.js").Correspondence} Correspondence */

/**
 * In O(changes × log changes + sections + window).
 *
 * @param {Overlay} before @param {Overlay} after
 * @param {Correspondence} correspondence of their bases
 * @param {Set<string>} [marked] keys of rows that are updated whether or not their values differ
 * @returns {Message}
 */
export function difference(before, after, correspondence, marked = new Set()) {
  const [old, now] = [before.state, after.state];
  const touched = touchedRows(before, after, correspondence);
  const sections = sectionPairs(before, after, correspondence.patch);
  const kept = new Set(sections.values());
  const { moves, stays, goes, comes } = sorted(touched, old, now, sections);
  const given = new Set();
  const inserted = [];
  for (const offset of comes) {
    const path = pathIn(now, offset);
    if (!kept.has(path[0])) continue;
    const row = now.at(offset);
    if (row) given.add(offset);
    inserted.push(row ? [...path, valuesOf(row, now)] : path);
  }
  const updated = [];
  for (const { old: from, now: to } of stays) {
    const row = now.at(to);
    const changes = changesOf(old.at(from), row);
    if (!row || !changes) continue;
    const isMarked = marked.has(now.keyOf(row));
    if (isMarked || Object.keys(changes).length > 0) updated.push([pathIn(old, from), pathIn(now, to), changes]);
  }
  return {
    type: "patch", from: old.version, to: now.version, commit: now.commit, total: now.total,
    deleted: goes.map((offset) => pathIn(old, offset)).filter(([section]) => sections.has(section)).reverse(),
    sectionsDeleted: [...old.sections.keys()].filter((index) => !sections.has(index)).reverse(),
    sectionsInserted: [...now.sections.keys()].filter((index) => !kept.has(index)).map((index) => [index, insertedSection(now, index)]),
    inserted, updated,
    moved: moves.map((row) => [pathIn(old, row.old), pathIn(now, row.now), changesOf(old.at(row.old), now.at(row.now)) ?? {}]),
    ...(now.window && { window: now.window, filled: filled(old, now, touched, [...stays, ...moves], given) }),
    ...(now.alongside !== old.alongside && { alongside: now.alongside }),
  };
}

/** @param {ListState} state @param {number} offset */
function pathIn(state, offset) {
  return /** @type {IndexPath} */ (state.pathOf(offset));
}

/**
 * Whether a patch says nothing about rows and sections; contents may still come with another window.
 *
 * @param {Message} patch
 */
export function isStill(patch) {
  return patch.type === "patch" && ["deleted", "sectionsDeleted", "sectionsInserted", "inserted", "moved", "updated"].every((member) => patch[member].length === 0);
}

/**
 * What becomes of the rows: offsets before, offsets after, or both.
 *
 * @param {Touched[]} touched @param {ListState} old @param {ListState} now @param {Map<number, number>} sections
 */
function sorted(touched, old, now, sections) {
  const olds = ascending(touched.map((row) => row.old));
  const nows = ascending(touched.map((row) => row.now));
  const kept = new Set(sections.values());
  const [goes, comes] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  /** @type {{old: number, now: number}[]} */
  const both = [];
  for (const { old: from, now: to } of touched) {
    if (from !== null && to !== null && sections.has(pathIn(old, from)[0]) && kept.has(pathIn(now, to)[0])) {
      both.push({ old: from, now: to });
      continue;
    }
    if (from !== null) goes.push(from);
    if (to !== null) comes.push(to);
  }
  both.sort((left, right) => left.old - right.old);
  // Between the same rows that are not touched, and in the same section: it may have stayed where it was.
  const mayStay = both.filter((row) => sections.get(pathIn(old, row.old)[0]) === pathIn(now, row.now)[0]
    && row.old - countBelow(olds, row.old) === row.now - countBelow(nows, row.now));
  const stays = longestAscending(mayStay);
  const staying = new Set(stays);
  const moves = both.filter((row) => !staying.has(row)).sort((left, right) => left.now - right.now);
  return { moves, stays, goes: ascending(goes), comes: ascending(comes) };
}

/** @param {(number | null)[]} offsets */
function ascending(offsets) {
  return /** @type {number[]} */ (offsets.filter((offset) => offset !== null)).sort((left, right) => left - right);
}

/**
 * The most rows whose order is the same before and after.
 *
 * @param {{old: number, now: number}[]} rows in the order of before
 */
function longestAscending(rows) {
  /**
   * The row at which a run of each length ends lowest.
   *
   * @type {number[]}
   */
  const ends = [];
  /** @type {number[]} */
  const previous = [];
  rows.forEach(({ now }, index) => {
    const length = countWhere(ends, (end) => rows[end].now < now);
    previous[index] = ends[length - 1] ?? -1;
    ends[length] = index;
  });
  const result = [];
  for (let index = ends[ends.length - 1] ?? -1; index >= 0; index = previous[index]) result.push(rows[index]);
  return result.reverse();
}

/** @param {Row | undefined} old @param {Row | undefined} now @returns {Row | null} null where one of them is not held */
function changesOf(old, now) {
  if (!old || !now) return null;
  const changed = Object.keys(now).filter((column) => old[column] !== now[column] && identity([old[column]]) !== identity([now[column]]));
  return Object.fromEntries(changed.map((column) => [column, now[column]]));
}

/** @param {Row} row @param {ListState} state */
function valuesOf(row, { columns }) {
  return columns.map((column) => row[column]);
}

/** @param {ListState} state @param {number} index */
function insertedSection(state, index) {
  const section = state.sections[index];
  const start = /** @type {number} */ (state.offsetOf([index, 0]));
  if (state.window) return { ...section };
  return { ...section, rows: Array.from({ length: section.count }, (_, item) => valuesOf(/** @type {Row} */ (state.at(start + item)), state)) };
}

/**
 * Contents of the window's rows that were not held before, and came with nothing else.
 *
 * @param {ListState} old @param {ListState} now @param {Touched[]} touched
 * @param {{old: number, now: number}[]} carried those of them whose contents are taken along @param {Set<number>} given
 */
function filled(old, now, touched, carried, given) {
  const { offset: first, limit } = /** @type {import("../freshet.js").Window} */ (now.window);
  const before = new Map(touched.map((row) => [row.now, /** @type {number | null} */ (null)]));
  for (const row of carried) before.set(row.now, row.old);
  const nows = ascending(touched.map((row) => row.now));
  // How many rows that are not touched are before each of those that are.
  const ranks = ascending(touched.map((row) => row.old)).map((each, index) => each - index);
  const untouched = (/** @type {number} */ rank) => rank + countWhere(ranks, (before) => before <= rank);
  const result = [];
  for (let offset = first; offset < Math.min(first + limit, now.total); offset += 1) {
    const row = now.at(offset);
    if (!row || given.has(offset)) continue;
    const from = before.has(offset) ? before.get(offset) ?? null : untouched(offset - countBelow(nows, offset));
    if (from === null || old.at(from) === undefined) result.push([offset, valuesOf(row, now)]);
  }
  return result;
}
