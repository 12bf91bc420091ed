// @ts-check
/** The part of a list that a component shows at one moment. Immutable: a new object means that it changed. */

import { emptyState } from "../client/list-state.js";

/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("../freshet.js").ListState} ListState */
/** @typedef {import("../freshet.js").ListStatus} ListStatus */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("./wanted.js").Wanted} Wanted */

/**
 * @typedef {object} View
 * @property {LiveList | null} list @property {ListState} state @property {ListStatus | null} status
 * @property {Error | null} error
 * @property {Wanted | null} answered the query that the rows or the error answer
 * @property {boolean} isRefused whether the error is the answer
 */

/** @type {View} */
export const emptyView = Object.freeze({
  list: null, state: /** @type {ListState} */ (/** @type {unknown} */ (emptyState)), status: null, error: null, answered: null, isRefused: false,
});

/** @param {View} left @param {View} right */
export function isSameView(left, right) {
  return left.list === right.list && left.state === right.state && left.status === right.status && left.error === right.error
    && left.answered === right.answered && left.isRefused === right.isRefused;
}

/**
 * The present view of a list.
 *
 * @param {LiveList} list @param {Wanted} wanted @returns {View}
 */
export function viewOf(list, wanted) {
  const { state, status, error } = list;
  const isRefused = status === "failed";
  return { list, state, status, error, answered: state.isComplete || isRefused ? wanted : null, isRefused };
}

/**
 * The held rows of a state as an array, made once on demand: most components use it, but those with long lists do not.
 *
 * @type {WeakMap<ListState, readonly Row[]>}
 */
const held = new WeakMap();

/** @param {ListState} state */
function rowsOf(state) {
  const rows = held.get(state) ?? Object.freeze(Array.from(state.entries(), ([, row]) => row));
  held.set(state, rows);
  return rows;
}

/**
 * The hook's result.
 *
 * @param {View} view @param {Wanted | null} wanted @param {boolean} isPending
 */
export function resultOf({ list, state, status, error }, wanted, isPending) {
  return {
    state,
    get rows() {
      return rowsOf(state);
    },
    sections: state.sections,
    total: state.total,
    totals: state.totals,
    alongside: state.alongside,
    status: status ?? (wanted ? /** @type {const} */ ("connecting") : /** @type {const} */ ("closed")),
    error,
    isPending,
    list,
  };
}
