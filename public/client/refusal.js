// @ts-check
/** What becomes of a list when the server answers it with an error. Pure. */

import { FreshetError } from "./errors.js";

/** The query does not compile at the moment: a migration may be under way, and bring back what it took away. */
const ofSchemas = ["no_such_table", "no_such_column", "schema_changed"];
const ofIdentity = ["unauthenticated", "not_allowed"];

/** Milliseconds before the next attempt to subscribe. */
const firstDelay = 500;
const longestDelay = 15_000;

/**
 * - `goesOn`: the subscription is as it was;
 * - `waits`: there is a subscription, and the server sends a snapshot when it can again;
 * - `retries`: there is none any more, and the client asks for another one in a while;
 * - `awaitsToken`: the same, once the server has accepted a token;
 * - `fails`: only another query helps.
 *
 * @typedef {"goesOn" | "waits" | "retries" | "awaitsToken" | "fails"} Outcome
 */

/**
 * @param {FreshetError} error
 * @param {{hasRows: boolean, isTokenRefused: boolean}} list `hasRows`: the query has been answered before, so that
 *   nothing is wrong with it; `isTokenRefused`: the server refused the client's token, and the client tries to get
 *   another
 * @returns {Outcome}
 */
export function outcomeOf({ code, fatal, retryable }, { hasRows, isTokenRefused }) {
  if (!fatal) return code === "schema_changed" ? "waits" : "goesOn";
  if (retryable || (hasRows && ofSchemas.includes(code))) return "retries";
  return isTokenRefused && ofIdentity.includes(code) ? "awaitsToken" : "fails";
}

/**
 * A request that the server cannot read (`orderby`) begins no subscription, so the server calls its error not fatal.
 * Nothing else comes, so here it is.
 *
 * @param {{code: string, message: string, retryable?: boolean, fatal?: boolean}} message
 * @param {boolean} isAnswered whether anything else came since the subscription was asked for
 */
export function errorOf(message, isAnswered) {
  const isRefusal = !isAnswered && !message.retryable && message.code !== "schema_changed";
  return new FreshetError(isRefusal ? { ...message, fatal: true } : message);
}

/** @param {number} failures 1 or more */
export function retryDelay(failures) {
  return Math.min(longestDelay, firstDelay * 2 ** failures);
}
