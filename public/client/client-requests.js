// @ts-check
/**
 * The requests of a client that belong to no list: transactions and pings. Each is sent once, because sending a
 * transaction again could run it twice. Those made before the first connection wait for it; later ones fail at once
 * while there is no connection.
 */

import { longestAttempt } from "./connection.js";
import { FreshetError } from "./errors.js";

/** @typedef {import("../freshet.js").Message} Message */
/**
 * @typedef {object} Request
 * @property {Message} message @property {() => void} sent called when the message was sent
 * @property {(answer: any) => void} resolve @property {(error: FreshetError) => void} reject
 * @property {ReturnType<typeof setTimeout>} [patience] ends its wait for a connection
 */

export class ClientRequests {
  /**
   * Requests without an answer, by the ids of their messages.
   *
   * @type {Map<string, Request>}
   */
  #sent = new Map();
  /**
   * Requests that wait for the first connection, in order.
   *
   * @type {Set<Request>}
   */
  #waiting = new Set();
  /** Whether there was no connection yet. */
  #waitsForFirst = true;
  #count = 0;

  /**
   * @param {(message: Message) => boolean} send false: there is no connection
   * @param {() => string | undefined} reason why there is no connection, as a sentence, if it is known
   */
  constructor(send, reason) {
    this.send = send;
    this.reason = reason;
  }

  /** @param {string} type @param {Message} members @param {() => void} [sent] @returns {Promise<Message>} */
  ask(type, members, sent = () => {}) {
    const message = { type, id: `${type} ${this.#count += 1}`, ...members };
    return new Promise((resolve, reject) => {
      const request = { message, sent, resolve, reject };
      if (this.#waitsForFirst) this.#wait(request);
      else this.#submit(request);
    });
  }

  /** Called when there is a connection. */
  opened() {
    this.#waitsForFirst = false;
    this.#leave((request) => this.#submit(request));
  }

  /** Called when the connection is lost, or an attempt to connect has failed. */
  lost() {
    const message = "The connection broke before the answer came: it may have been done.";
    const all = [...this.#sent.values()];
    this.#sent.clear();
    for (const { reject } of all) reject(new FreshetError({ code: "disconnected", message }));
  }

  /** Fails the requests that wait for the first connection, because the server refuses it. */
  refused() {
    this.#leave((request) => this.#fail(request));
  }

  close() {
    this.#waitsForFirst = false;
    this.lost();
    this.refused();
  }

  /** @param {Message} message @returns {boolean} whether it was the answer to one of these */
  received(message) {
    const request = this.#sent.get(message.id);
    if (!request) return false;
    this.#sent.delete(message.id);
    if (message.type === "error") request.reject(new FreshetError(/** @type {any} */ (message)));
    else request.resolve(message);
    return true;
  }

  /** @param {Request} request */
  #wait(request) {
    this.#waiting.add(request);
    request.patience = setTimeout(() => {
      this.#waiting.delete(request);
      this.#fail(request);
    }, longestAttempt);
  }

  /** @param {(request: Request) => void} end */
  #leave(end) {
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const request of all) {
      clearTimeout(request.patience);
      end(request);
    }
  }

  /** @param {Request} request */
  #submit(request) {
    if (!this.send(request.message)) return this.#fail(request);
    this.#sent.set(request.message.id, request);
    request.sent();
    return undefined;
  }

  /**
   * Fails a request that was not sent.
   *
   * @param {Request} request
   */
  #fail({ reject }) {
    const message = this.reason() ?? "There is no connection now.";
    reject(new FreshetError({ code: "disconnected", message, retryable: true }));
  }
}
