// @ts-check
/** Values as JSON carries them, and as programs use them: protocol 3.1. Pure. */

/** @typedef {import("../freshet.js").SQLValue} SQLValue */

/**
 * A value of a message: integers beyond 2^53 become a `bigint`, BLOBs a `Uint8Array`.
 *
 * @param {any} value @returns {SQLValue}
 */
export function decoded(value) {
  if (typeof value !== "object" || value === null) return value;
  if ("$int" in value) return BigInt(value.$int);
  if ("$blob" in value) return Uint8Array.from(atob(value.$blob), (character) => character.charCodeAt(0));
  return value;
}

/**
 * Values by name: a row, changes of a row, totals.
 *
 * @param {Record<string, any> | undefined} members @returns {Record<string, SQLValue>}
 */
export function decodedMembers(members) {
  return Object.fromEntries(Object.entries(members ?? {}).map(([name, value]) => [name, decoded(value)]));
}

/**
 * A message as text, with `bigint`s and `Uint8Array`s written as the protocol requires.
 *
 * @param {any} message
 */
export function encoded(message) {
  return JSON.stringify(message, (_, value) => {
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : { $int: String(value) };
    return value instanceof Uint8Array ? { $blob: base64(value) } : value;
  });
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  // Converted in parts, because a call takes a limited number of arguments.
  let text = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(text);
}

/**
 * A text that identifies values: 1, "1" and a BLOB have different ones.
 *
 * @param {SQLValue[]} values
 */
export function identity(values) {
  return encoded(values);
}
