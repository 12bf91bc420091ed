// @ts-check
/** How a list continues when the server answers it with an error. Pure. */

import { FreshetError } from "./errors.js";

/** Codes of queries that do not compile at the moment: a running migration may bring the table or column back. */
const ofSchemas = ["no_such_table", "no_such_column", "schema_changed"];
const ofIdentity = ["unauthenticated", "not_allowed"];

/** Milliseconds before the first new attempt to subscribe. */
const firstDelay = 500;
const longestDelay = 15_000;

/**
 * - `goesOn`: the subscription is as it was;
 * - `waits`: there is a subscription, and the server sends a snapshot when it can again;
 * - `retries`: there is none any more, and the client subscribes again later;
 * - `awaitsToken`: the same, once the server has accepted a token;
 * - `fails`: only another query helps.
 *
 * @typedef {"goesOn" | "waits" | "retries" | "awaitsToken" | "fails"} Outcome
 */

/**
 * @param {FreshetError} error
 * @param {{hasRows: boolean, isTokenRefused: boolean}} list `hasRows`: the query was answered before, so it is valid;
 *   `isTokenRefused`: the server refused the client's token, and the client tries to get another
 * @returns {Outcome}
 */
export function outcomeOf({ code, fatal, retryable }, { hasRows, isTokenRefused }) {
  if (!fatal) return code === "schema_changed" ? "waits" : "goesOn";
  if (retryable || (hasRows && ofSchemas.includes(code))) return "retries";
  return isTokenRefused && ofIdentity.includes(code) ? "awaitsToken" : "fails";
}

/**
 * A request that the server cannot read (`orderby`) begins no subscription, so the server calls its error not fatal.
 * No other message will follow, so the client treats it as fatal.
 *
 * @param {{code: string, message: string, retryable?: boolean, fatal?: boolean}} message
 * @param {boolean} isAnswered whether another message came since the subscription was requested
 */
export function errorOf(message, isAnswered) {
  const isRefusal = !isAnswered && !message.retryable && message.code !== "schema_changed";
  return new FreshetError(isRefusal ? { ...message, fatal: true } : message);
}

/** @param {number} failures 1 or more */
export function retryDelay(failures) {
  return Math.min(longestDelay, firstDelay * 2 ** failures);
}
