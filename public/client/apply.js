// @ts-check
/**
 * Applies a message to a list: the client's half of protocol 3.3, as a function from state and message to the next
 * state. A patch costs O(changes × log rows + sections), whatever the size of the result.
 */

import { ListState, sequenceOf } from "./list-state.js";
import { MismatchError, PatchSteps, sectionOf } from "./patch-steps.js";
import { RowSequence } from "./row-sequence.js";
import { decoded, decodedMembers } from "./values.js";

/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("../freshet.js").Changes} Changes */

/** @type {Changes} */
export const unmoved = { inserted: [], moved: [], updated: [], newOffset: (offset) => offset };

/**
 * @param {ListState} state @param {Message} message a `snapshot`, `rows` or `patch`
 * @returns {{state: ListState, changes: Changes}}
 * @throws {MismatchError} when it does not fit the state: the list must then request `resync`
 */
export function apply(state, message) {
  switch (message.type) {
    case "snapshot": return { state: snapshot(message), changes: unmoved };
    case "rows": return { state: withRows(state, message), changes: unmoved };
    case "patch": return patched(state, message);
    default: throw new MismatchError(`${message.type} changes no list`);
  }
}

/** @param {Message} message */
function snapshot(message) {
  const { columns, key, version, commit, complete: isComplete, window = null, order, sectionOrder } = message;
  const sections = message.sections.map(sectionOf);
  const total = sections.reduce((/** @type {number} */ sum, /** @type {any} */ { count }) => sum + count, 0);
  const [totals, alongside] = [decodedMembers(message.totals), decodedMembers(message.alongside)];
  const sequence = placed(RowSequence.hole(total), message, columns);
  return checked(new ListState(
    { columns, key, sections, window, version, commit, totals, alongside, isComplete, order: { order, sectionOrder } }, sequence), message.total);
}

/**
 * The continuation of a snapshot, or the answer to `window`.
 *
 * @param {ListState} state @param {Message} message
 */
function withRows(state, message) {
  if (message.version !== state.version) throw new MismatchError("rows of another version");
  const window = message.window ?? state.window;
  const isComplete = message.complete || (state.isComplete && !message.window);
  const rows = within(placed(sequenceOf(state), message, state.columns), window);
  return checked(new ListState({ ...state, window, isComplete }, rows), state.total);
}

/** @param {ListState} state @param {Message} patch */
function patched(state, patch) {
  if (!state.isComplete) throw new MismatchError("a patch before the snapshot was complete");
  if (patch.from !== state.version) throw new MismatchError("a patch from another version");
  const { columns, key } = state;
  const steps = new PatchSteps(patch, state.sections);
  const { rest, carried } = takenOut(sequenceOf(state), steps, patch);
  let sequence = putIn(rest, steps, patch, carried, columns);
  const changed = changesOf(patch, steps);
  for (const { offset, changes } of changed) {
    const row = sequence.at(offset);
    if (row === undefined) throw new MismatchError("changes of a row that is not held");
    sequence = sequence.replacing(offset, 1, RowSequence.of([merged(row, changes)]));
  }
  const window = patch.window ?? state.window;
  for (const [offset, row] of patch.filled ?? []) {
    if (!(offset >= 0 && offset < sequence.length)) throw new MismatchError(`no row at offset ${offset}`);
    sequence = sequence.replacing(offset, 1, RowSequence.of([rowOf(row, columns)]));
  }
  const totals = patch.totals ? { ...state.totals, ...decodedMembers(patch.totals) } : state.totals;
  const alongside = patch.alongside ? { ...state.alongside, ...decodedMembers(patch.alongside) } : state.alongside;
  const { to: version, commit, sectionOrder } = patch;
  // `order` is present only after a requery.
  const order = patch.order ? { order: patch.order, sectionOrder } : state.order;
  const next = checked(new ListState(
    { columns, key, sections: steps.sections, window, version, commit, totals, alongside, isComplete: true, order },
    within(sequence, window)), patch.total);
  return { state: next, changes: summary(next, steps, patch, changed) };
}

/**
 * Steps 1 and 2: removes rows, and keeps those that move by their old offsets.
 *
 * @param {RowSequence} sequence @param {PatchSteps} steps @param {Message} patch
 */
function takenOut(sequence, steps, patch) {
  const carried = new Map();
  for (const [from] of patch.moved ?? []) {
    const offset = steps.oldOffsetOf(from);
    carried.set(offset, sequence.at(offset));
  }
  let rest = sequence;
  for (const { start, count } of [...steps.removals].reverse()) rest = rest.replacing(start, count);
  return { rest, carried };
}

/**
 * Steps 3 and 4: inserts new and moved rows, ascending. A row without contents is a hole.
 *
 * @param {RowSequence} rest @param {PatchSteps} steps @param {Message} patch @param {Map<number, Row>} carried
 * @param {readonly string[]} columns
 */
function putIn(rest, steps, patch, carried, columns) {
  /** @type {Map<number, Row[]>} */
  const contents = new Map();
  for (const [index, { rows }] of patch.sectionsInserted ?? []) {
    if (rows) contents.set(steps.newOffsetOf([index, 0]), rows.map((/** @type {any} */ row) => rowOf(row, columns)));
  }
  for (const [section, item, row] of patch.inserted ?? []) {
    if (row !== undefined) contents.set(steps.newOffsetOf([section, item]), [rowOf(row, columns)]);
  }
  for (const [from, to] of patch.moved ?? []) {
    const row = carried.get(steps.oldOffsetOf(from));
    if (row !== undefined) contents.set(steps.newOffsetOf(to), [row]);
  }
  let sequence = rest;
  for (const { start, count } of steps.insertions) {
    if (start > sequence.length) throw new MismatchError(`no place ${start} for a row`);
    const rows = contents.get(start);
    if (rows && rows.length !== count) throw new MismatchError("a section with another number of rows than it says");
    sequence = sequence.replacing(start, 0, rows ? RowSequence.of(rows) : RowSequence.hole(count));
  }
  return sequence;
}

/**
 * Step 5: the changed values of rows, by new offset.
 *
 * @param {Message} patch @param {PatchSteps} steps @returns {{offset: number, changes: Row}[]}
 */
function changesOf(patch, steps) {
  return [...(patch.moved ?? []), ...(patch.updated ?? [])]
    .filter(([, , changes]) => changes && Object.keys(changes).length > 0)
    .map(([, to, changes]) => ({ offset: steps.newOffsetOf(to), changes: decodedMembers(changes) }));
}

/**
 * @param {ListState} state @param {PatchSteps} steps @param {Message} patch @param {{offset: number, changes: Row}[]}
 * changed
 */
function summary(state, steps, patch, changed) {
  const isHeld = (/** @type {number} */ offset) => state.at(offset) !== undefined;
  const moved = new Set((patch.moved ?? []).map((/** @type {any} */ [, to]) => steps.newOffsetOf(to)));
  return {
    inserted: steps.arrivals(state.window).filter((offset) => isHeld(offset) && !moved.has(offset)),
    moved: [...moved].filter(isHeld),
    updated: changed.filter(({ offset }) => isHeld(offset))
      .map(({ offset, changes }) => ({ offset, columns: Object.keys(changes) })),
    newOffset: (/** @type {number} */ offset) => steps.newOffset(offset),
  };
}

/**
 * Puts the rows of a message into the sequence.
 *
 * @param {RowSequence} sequence @param {Message} message @param {readonly string[]} columns
 */
function placed(sequence, { rows, offset }, columns) {
  if (rows.length === 0) return sequence;
  if (!(offset >= 0 && offset + rows.length <= sequence.length)) throw new MismatchError("rows beyond the end");
  const contents = rows.map((/** @type {any} */ row) => rowOf(row, columns));
  return sequence.replacing(offset, rows.length, RowSequence.of(contents));
}

/** @param {RowSequence} sequence @param {Window | null} window */
function within(sequence, window) {
  return window ? sequence.keeping(window.offset, window.offset + window.limit) : sequence;
}

/**
 * A row of a message, which is an array or an object: protocol 3.1, `shape`.
 *
 * @param {any} values @param {readonly string[]} columns @returns {Row}
 */
export function rowOf(values, columns) {
  if (!Array.isArray(values)) return decodedMembers(values);
  return Object.fromEntries(columns.map((column, index) => [column, decoded(values[index])]));
}

/** @param {Row} row @param {Row} changes @returns {Row} */
function merged(row, changes) {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [
    column, Object.hasOwn(changes, column) ? changes[column] : value]));
}

/**
 * Checks the numbers of all rows and of held rows against the server's. A difference means that the client's state is
 * wrong.
 *
 * @param {ListState} state @param {number} total as the server counts
 */
function checked(state, total) {
  if (total !== state.total) throw new MismatchError(`${state.total} rows where the server has ${total}`);
  const { offset, limit } = state.window ?? { offset: 0, limit: total };
  const wanted = Math.max(0, Math.min(limit, total - offset));
  if (state.isComplete && state.heldCount !== wanted) {
    throw new MismatchError(`${state.heldCount} rows held where ${wanted} are wanted`);
  }
  return state;
}
