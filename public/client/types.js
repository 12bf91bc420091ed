// @ts-check
/** The interface between a list and its client. */

/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Committed} Committed */
/**
 * A list's way to the server.
 *
 * @typedef {object} Channel
 * @property {(message: Message) => boolean} send @property {() => void} release @property {() => boolean}
 * isTokenRefused
 * @property {(members: Message, sent: () => void) => Promise<Committed>} write of a transaction, which waits for the
 * connection
 * @property {() => string | undefined} epoch of the server
 */
/**
 * @typedef {{opened(): void, lost(): void, closed(): void, authenticated(): void, received(message: Message): void}}
 * Handlers
 */

export {};
