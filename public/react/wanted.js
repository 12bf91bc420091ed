// @ts-check
/** The query and options that a component wants to follow, and their comparison. Pure. */

import { plainQuery } from "../client/sql.js";
import { encoded } from "../client/values.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../freshet.js").ListOptions} ListOptions */

/**
 * @typedef {object} Wanted
 * @property {Client} client @property {Query} query @property {ListOptions} options
 * @property {string} queryKey the query as text @property {string} key the query and the options as text
 */

/**
 * Components write queries as object literals, so they are compared by their contents.
 *
 * @param {Client} client @param {Query} query @param {ListOptions} options @returns {Wanted}
 * @throws {TypeError} for values that SQLite does not have
 */
export function wantedOf(client, query, { window, minInterval }) {
  const queryKey = encoded(plainQuery(query));
  const key = encoded([queryKey, window ? [window.offset, window.limit] : null, minInterval ?? 0]);
  return { client, query, options: { ...(window && { window }), ...(minInterval && { minInterval }) }, queryKey, key };
}

/** @param {Wanted | null} left @param {Wanted | null} right */
export function isSame(left, right) {
  return left === right || (left !== null && right !== null && left.client === right.client && left.key === right.key);
}

/**
 * Whether the list of one can become that of the other: only the query and window of a list can change.
 *
 * @param {Wanted} left @param {Wanted} right
 */
export function canBecome(left, right) {
  return left.client === right.client && left.options.minInterval === right.options.minInterval
    && Boolean(left.options.window) === Boolean(right.options.window);
}
