// @ts-check
/** The patch between two states that are shown, in the shape of the server's own: protocol 3.3. Pure. */

import { OffsetSet } from "./offset-set.js";
import { identity } from "./values.js";

/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").IndexPath} IndexPath */
/** @typedef {import("../freshet.js").Section} Section */
/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {import("./optimistic-overlay.js").OptimisticOverlay} OptimisticOverlay */
/** @typedef {import("./base-correspondence.js").BaseCorrespondence} BaseCorrespondence */
/**
 * @typedef {{old: number | null, now: number | null}} Touched offsets before and after; null: that state lacks the row
 */
/** @typedef {{from: IndexPath, to: IndexPath}} Change */

/**
 * Only rows that the server's patch or one of the overlays touches can differ; all others are in the same order, in the
 * same sections. Rows are identified by their server positions, and by their keys if only one state has them. A touched
 * row is updated in place if it stands between the same rows as before. O(touched rows × log + sections + window).
 *
 * @param {OptimisticOverlay} before @param {OptimisticOverlay} after @param {BaseCorrespondence} correspondence between
 * their bases
 * @returns {Message | null} null if the names and order of sections do not identify them
 */
export function patchBetween(before, after, correspondence) {
  const [old, now] = [before.state, after.state];
  const sections = sectionMatch(old.sections, now.sections);
  if (!sections) return null;
  const touched = touchedRows(before, after, correspondence);
  const olds = new OffsetSet(offsetsOf(touched, "old"));
  const nows = new OffsetSet(offsetsOf(touched, "now"));
  const isNew = new Set(sections.inserted);
  /** Former offsets of touched rows that are in both states, by their new offsets. */
  const origins = new Map();
  /** Rows whose contents are in the patch anyway. */
  const given = new Set();
  const [deleted, inserted, moves, staying] = [/** @type {IndexPath[]} */ ([]), /** @type {any[]} */ ([]), /** @type {Change[]} */ ([]), /** @type {Change[]} */ ([])];
  for (const { old: oldOffset, now: newOffset } of touched) {
    const [from, to] = [oldOffset === null ? null : old.pathOf(oldOffset), newOffset === null ? null : now.pathOf(newOffset)];
    const isInDeleted = from !== null && !sections.newIndex.has(from[0]);
    const isInInserted = to !== null && isNew.has(to[0]);
    if (from && to && oldOffset !== null && newOffset !== null && !isInDeleted && !isInInserted) {
      origins.set(newOffset, oldOffset);
      const isBetweenTheSame = olds.rankOf(oldOffset) === nows.rankOf(newOffset);
      const stays = sections.newIndex.get(from[0]) === to[0] && isBetweenTheSame;
      (stays ? staying : moves).push({ from, to });
      continue;
    }
    // Rows of deleted and inserted sections are in no list: only the other side's position of such a row is an
    // insertion or deletion.
    if (from && !isInDeleted) deleted.push(from);
    if (newOffset === null) continue;
    origins.set(newOffset, null);
    const row = now.at(newOffset);
    if (to && !isInInserted) inserted.push(row ? [...to, valuesOf(row, now)] : to);
    if (row && (!isInInserted || !now.window)) given.add(newOffset);
  }
  /** @type {any[]} */
  const updated = [];
  // In one slot, a row stays in place if it follows all rows that stay before it.
  let last = /** @type {IndexPath} */ ([-1, -1]);
  for (const change of staying.sort((left, right) => compare(left.from, right.from))) {
    if (compare(change.to, last) < 0) {
      moves.push(change);
      continue;
    }
    last = change.to;
    const [one, other] = [old.row(change.from), now.row(change.to)];
    if (!one || !other) continue;
    const changes = changesOf(one, other);
    const isOtherwisePending = old.pendingOf(one)?.isPlaced !== now.pendingOf(other)?.isPlaced;
    if (isOtherwisePending || Object.keys(changes).length > 0) updated.push([change.from, change.to, changes]);
  }
  return {
    type: "patch", from: old.version, to: now.version, commit: now.commit, total: now.total,
    deleted: deleted.sort(compare).reverse(), sectionsDeleted: sections.deleted.reverse(),
    sectionsInserted: sections.inserted.map((index) => [index, insertedSection(now, index)]),
    inserted: inserted.sort(compare), updated: updated.sort((left, right) => compare(left[1], right[1])),
    moved: moves.sort((left, right) => compare(left.to, right.to)).map(({ from, to }) => [from, to, changesOf(old.row(from), now.row(to))]),
    ...(now.window && { window: now.window, filled: filled(old, now, given, (offset) => origins.get(offset) ?? (origins.has(offset) ? null : olds.offsetOf(nows.rankOf(offset)))) }),
    ...(now.totals !== old.totals && { totals: now.totals }),
    ...sectionTotals(old, now, sections.newIndex),
    ...(now.alongside !== old.alongside && { alongside: now.alongside }),
  };
}

/**
 * Whether a patch changes no rows or sections. Contents may still come with another window.
 *
 * @param {Message} patch
 */
export function isStill(patch) {
  return patch.type === "patch" && ["deleted", "sectionsDeleted", "sectionsInserted", "inserted", "moved", "updated"].every((member) => patch[member].length === 0);
}

/**
 * The totals that differ, of sections that both states have; nothing if none differ.
 *
 * @param {ListState} old @param {ListState} now @param {Map<number, number>} newIndex
 */
function sectionTotals(old, now, newIndex) {
  const changed = [...newIndex].filter(([before, after]) => old.sections[before].totals !== now.sections[after].totals)
    .map(([, after]) => [after, now.sections[after].totals ?? {}]);
  return changed.length > 0 && { sectionTotals: changed };
}

/** @param {number[]} left @param {number[]} right paths */
function compare(left, right) {
  return left[0] - right[0] || left[1] - right[1];
}

/** @param {Touched[]} touched @param {"old" | "now"} side */
function offsetsOf(touched, side) {
  return /** @type {number[]} */ (touched.map((row) => row[side]).filter((offset) => offset !== null));
}

/**
 * Matches the sections of two states by their names; null if two sections have the same name, or the remaining ones are
 * in another order.
 *
 * @param {readonly Section[]} old @param {readonly Section[]} now
 */
function sectionMatch(old, now) {
  const nameOf = (/** @type {Section} */ { name, indexTitle }) => identity([name, indexTitle]);
  const indexes = new Map(now.map((section, index) => [nameOf(section), index]));
  if (indexes.size < now.length || new Set(old.map(nameOf)).size < old.length) return null;
  /** @type {Map<number, number>} */
  const newIndex = new Map();
  const deleted = [];
  let last = -1;
  for (const [index, section] of old.entries()) {
    const match = indexes.get(nameOf(section));
    if (match === undefined) deleted.push(index);
    else if (match < last) return null;
    else newIndex.set(index, last = match);
  }
  const kept = new Set(newIndex.values());
  return { newIndex, deleted, inserted: [...now.keys()].filter((index) => !kept.has(index)) };
}

/**
 * The rows that may differ between two shown states.
 *
 * @param {OptimisticOverlay} before @param {OptimisticOverlay} after @param {BaseCorrespondence} correspondence
 * @returns {Touched[]}
 */
function touchedRows(before, after, correspondence) {
  /** @type {Touched[]} */
  const rows = [];
  /** @type {Map<string, Touched>} */
  const known = new Map();
  const add = (/** @type {number | null} */ old, /** @type {number | null} */ now, /** @type {string | null} */ key) => {
    if (old === null && now === null) return;
    const row = key === null ? undefined : known.get(key);
    if (row && (row.old === null || old === null) && (row.now === null || now === null)) {
      Object.assign(row, { old: row.old ?? old, now: row.now ?? now });
      return;
    }
    rows.push({ old, now });
    if (key !== null) known.set(key, rows[rows.length - 1]);
  };
  const keyAt = (/** @type {ListState} */ base, /** @type {number} */ offset) => {
    const row = base.at(offset);
    return row ? base.keyOf(row) : null;
  };
  const both = new Set(correspondence.changed);
  for (const { offset } of before.effects) if (offset !== null && !correspondence.deleted.has(offset)) both.add(offset);
  for (const { offset } of after.effects) {
    const old = offset === null ? null : correspondence.oldOffset(offset);
    if (old !== null) both.add(old);
  }
  for (const old of both) {
    const now = correspondence.newOffset(old);
    add(before.shownOffset(old), now === null ? null : after.shownOffset(now), null);
  }
  // A row that only one state has may have come with another section, or was inserted.
  for (const old of correspondence.deleted) add(before.shownOffset(old), null, keyAt(before.base, old));
  for (const { key, offset } of before.inserted) add(offset, null, key);
  for (const now of correspondence.inserted) add(null, after.shownOffset(now), keyAt(after.base, now));
  for (const { key, offset } of after.inserted) add(null, offset, key);
  return rows;
}

/** @param {Row | undefined} old @param {Row | undefined} now @returns {Row} empty if one of them is not held */
function changesOf(old, now) {
  if (!old || !now) return {};
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
 * Contents of the window's rows that were not held before and are nowhere else in the patch.
 *
 * @param {ListState} old @param {ListState} now @param {Set<number>} given @param {(offset: number) => number | null}
 *   originOf
 */
function filled(old, now, given, originOf) {
  const { offset: first, limit } = /** @type {import("../freshet.js").Window} */ (now.window);
  const result = [];
  for (let offset = first; offset < Math.min(first + limit, now.total); offset += 1) {
    const row = now.at(offset);
    if (!row || given.has(offset)) continue;
    const origin = originOf(offset);
    if (origin === null || old.at(origin) === undefined) result.push([offset, valuesOf(row, now)]);
  }
  return result;
}
