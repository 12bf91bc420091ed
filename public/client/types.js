// @ts-check
/** What a list and its client know of one another. */

/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Committed} Committed */
/**
 * A list's way to the server.
 *
 * @typedef {object} Channel
 * @property {(message: Message) => boolean} send @property {() => void} release @property {() => boolean}
 * isTokenRefused
 * @property {(members: Message, sent: () => void) => Promise<Committed>} write of a transaction that waits for the
 * connection
 * @property {() => string | undefined} epoch of the server
 */
/**
 * @typedef {{opened(): void, lost(): void, closed(): void, authenticated(): void, received(message: Message): void}}
 * Handlers
 */

export {};
