// @ts-check
/** Every change of a database's rows, by any program: protocol 4.1. */

import { FreshetError } from "./errors.js";
import { errorOf } from "./refusal.js";
import { decodedMembers } from "./values.js";

/** @typedef {import("../freshet.js").DatabaseChange} DatabaseChange */
/** @typedef {import("../freshet.js").ChangesOptions} ChangesOptions */
/** @typedef {import("./types.js").Handlers} Handlers */
/** @typedef {{ send: (message: Record<string, any>) => boolean, release: () => void }} Registration */

/** How many messages may wait for the loop. Beyond that, the feed unsubscribes until they are taken. */
const mostWaiting = 1_000;

export class ChangeFeed {
  /** @type {string | null} */
  position = null;
  /** The position from which the server continues: after everything that waits here. @type {string | undefined} */
  #since;
  /** @type {DatabaseChange[]} */
  #waiting = [];
  /**
   * @type {{ resolve: (result: IteratorResult<DatabaseChange, void>) => void, reject: (error: FreshetError) => void } |
   * null}
   */
  #reader = null;
  /** @type {FreshetError | null} */
  #failure = null;
  #isClosed = false;
  /** Whether the last `changes` was answered. */
  #isAnswered = false;
  /** @type {Registration | null} */
  #registration = null;

  /**
   * @param {ChangesOptions} options
   * @param {(handlers: Handlers) => Registration} register
   */
  constructor({ since, ...request }, register) {
    this.request = request;
    this.#since = since;
    this.register = register;
    this.#begin();
  }

  close() {
    this.#end();
    this.#reader?.resolve({ value: undefined, done: true });
    this.#reader = null;
  }

  /** @returns {AsyncGenerator<DatabaseChange, void, void>} */
  async *[Symbol.asyncIterator]() {
    try {
      while (true) {
        const { value, done } = await this.#next();
        if (done) return;
        this.position = value.position;
        yield value;
      }
    } finally {
      this.close();
    }
  }

  /** @returns {Promise<IteratorResult<DatabaseChange, void>>} */
  #next() {
    const value = this.#waiting.shift();
    if (value) {
      if (!this.#waiting.length && !this.#registration && !this.#isClosed) this.#begin();
      return Promise.resolve({ value, done: false });
    }
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#isClosed) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => { this.#reader = { resolve, reject }; });
  }

  #begin() {
    const ask = () => {
      this.#isAnswered = false;
      this.#registration?.send({ type: "changes", ...this.request, since: this.#since });
    };
    /** @type {Handlers} */
    const handlers = {
      opened: ask, authenticated: () => {}, lost: () => {},
      received: (message) => this.#received(message),
      closed: () => this.#fail(new FreshetError({ code: "closed", message: "The client was closed." })),
    };
    this.#registration = this.register(handlers);
  }

  #end() {
    this.#isClosed = true;
    this.#registration?.release();
    this.#registration = null;
  }

  /** @param {FreshetError} error */
  #fail(error) {
    if (this.#isClosed) return;
    this.#end();
    this.#failure = error;
    this.#reader?.reject(error);
    this.#reader = null;
  }

  /** @param {Record<string, any>} message */
  #received(message) {
    if (message.type === "error") {
      const error = errorOf(/** @type {any} */ (message), this.#isAnswered);
      if (error.fatal) this.#fail(error);
      return;
    }
    if (message.type !== "changes" && message.type !== "gap") return;
    this.#isAnswered = true;
    this.#since = message.position;
    const change = decodedChange(message);
    if (this.#reader) {
      this.#reader.resolve({ value: change, done: false });
      this.#reader = null;
    } else {
      this.#waiting.push(change);
      if (this.#waiting.length < mostWaiting) return;
      this.#registration?.release();
      this.#registration = null;
    }
  }
}

/** @param {Record<string, any>} message @returns {DatabaseChange} */
function decodedChange({ position, commit, commits, changes, reason }) {
  if (reason !== undefined) return { position, gap: reason, changes: [] };
  if (!changes) return { position, changes: [] };
  const rows = changes.map((/** @type {any} */ { table, op, ...images }) => {
    /** @type {any} */
    const change = { table, op };
    for (const [name, members] of Object.entries(images)) change[name] = decodedMembers(members);
    return change;
  });
  return { position, commit, commits, changes: rows };
}
