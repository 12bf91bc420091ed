// @ts-check
/** The page's identity at the server: a token that the user typed, kept while the tab is open. */

import { databaseAddress } from "./place.js";

const name = "freshet-token";

/** @returns {string | null} */
export function currentToken() {
  try {
    return sessionStorage.getItem(name);
  } catch {
    // Storage may be forbidden; the page then works without a token.
    return null;
  }
}

/**
 * The token's claims about its bearer. Only the server can verify them.
 *
 * @returns {Record<string, any> | null} null: there is no token
 */
export function currentClaims() {
  const token = currentToken();
  if (token === null) return null;
  try {
    const bytes = Uint8Array.from(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === "object" && claims !== null ? claims : {};
  } catch {
    return {};
  }
}

/**
 * @param {string | null} token null forgets it. Reloads the page, because every connection was made with the old token
 */
export function useToken(token) {
  if (token) sessionStorage.setItem(name, token);
  else sessionStorage.removeItem(name);
  location.reload();
}

/** Options for `connect`. */
export function connectOptions() {
  const token = currentToken();
  return token ? { token } : {};
}

/**
 * An HTTP request to the server, with the token when there is one.
 *
 * @param {string} address relative to the database's @param {RequestInit} [options]
 */
export function request(address, options = {}) {
  const token = currentToken();
  return fetch(new URL(address, databaseAddress), token ? { ...options, headers: { ...options.headers, Authorization: `Bearer ${token}` } } : options);
}
