// @ts-check
/** One connection to a server, shared by any number of live lists. */

import { Connection } from "./connection.js";
import { FreshetError, FreshetErrorEvent } from "./errors.js";
import { LiveList } from "./live-list.js";
import { plainStatement } from "./sql.js";
import { TokenKeeper } from "./token.js";

/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../freshet.js").ListOptions} ListOptions */
/** @typedef {import("../freshet.js").ClientOptions} ClientOptions */
/** @typedef {import("../freshet.js").Statement} Statement */
/** @typedef {import("./live-list.js").Handlers} Handlers */

export class Client extends EventTarget {
  /** @type {Connection} */
  #connection;
  /** @type {TokenKeeper | null} */
  #keeper = null;
  /** @type {Map<string, Handlers>} */
  #lists = new Map();
  /** @type {Map<string, {resolve: (message: any) => void, reject: (error: FreshetError) => void}>} */
  #requests = new Map();
  #count = 0;
  /** @type {Record<string, any> | null} */
  hello = null;
  /** @type {number | null} */
  retryAt = null;

  /** @param {string | URL} url @param {ClientOptions} [options] */
  constructor(url, options = {}) {
    super();
    const { token, WebSocket: Socket = globalThis.WebSocket } = options;
    const address = liveAddress(url);
    this.url = address.href;
    if (!Socket) throw new TypeError("There is no WebSocket here: give one, connect(url, { WebSocket })");
    if (token) this.#keeper = new TokenKeeper(token, (message) => this.#connection.send(message), (error) => this.#fail(error));
    this.#connection = new Connection(async () => {
      await this.#keeper?.prepare();
      return address;
    }, {
      opened: () => {
        this.#keeper?.opened();
        this.#lists.forEach((list) => list.opened());
      },
      received: (message) => this.#receive(message),
      changed: (retryIn) => this.#changed(retryIn),
    }, Socket);
    this.#connection.start();
  }

  get status() {
    return this.#connection.status;
  }

  /** @param {Query} query @param {ListOptions} [options] */
  subscribe(query, options = {}) {
    const id = String(this.#count += 1);
    return new LiveList(query, options, (handlers) => {
      this.#lists.set(id, handlers);
      // After the constructor, so that nothing is missed by who listens from the first line on.
      if (this.status === "live") queueMicrotask(() => this.#lists.get(id)?.opened());
      if (this.status === "closed") queueMicrotask(() => handlers.closed());
      return {
        send: (message) => this.#connection.send({ ...message, id }),
        release: () => {
          if (this.#lists.delete(id)) this.#connection.send({ type: "unsubscribe", id });
        },
      };
    });
  }

  /** @param {Statement | Statement[]} statements */
  async transact(statements) {
    const list = [statements].flat().map(plainStatement);
    const { changes, commit } = await this.#request("transact", { statements: list });
    return { changes, commit };
  }

  async ping() {
    const start = performance.now();
    await this.#request("ping", {});
    return performance.now() - start;
  }

  retry() {
    this.#connection.retry();
  }

  close() {
    this.#connection.close();
    for (const list of this.#lists.values()) list.closed();
    this.#lists.clear();
  }

  /** @param {string} type @param {Record<string, any>} members @returns {Promise<Record<string, any>>} */
  #request(type, members) {
    const id = `${type} ${this.#count += 1}`;
    return new Promise((resolve, reject) => {
      if (this.#connection.send({ type, id, ...members })) this.#requests.set(id, { resolve, reject });
      else reject(new FreshetError({ code: "disconnected", message: "There is no connection now.", retryable: true }));
    });
  }

  /** @param {number} [retryIn] */
  #changed(retryIn) {
    this.retryAt = retryIn === undefined ? null : Date.now() + retryIn;
    if (this.status !== "live") {
      this.#keeper?.lost();
      const message = "The connection broke before the answer came: it may have been done.";
      for (const { reject } of this.#requests.values()) reject(new FreshetError({ code: "disconnected", message }));
      this.#requests.clear();
      this.#lists.forEach((list) => list.lost());
    }
    this.dispatchEvent(new Event("status"));
  }

  /** @param {Record<string, any>} message */
  #receive(message) {
    const list = this.#lists.get(message.id);
    if (list) return list.received(message);
    if (this.#keeper?.received(message)) return undefined;
    if (message.type === "hello") {
      this.hello = message;
      return undefined;
    }
    const request = this.#requests.get(message.id);
    this.#requests.delete(message.id);
    if (message.type !== "error") return request?.resolve(message);
    const error = new FreshetError(/** @type {any} */ (message));
    if (request) request.reject(error);
    else if (message.id === undefined) this.#fail(error);
    return undefined;
  }

  /**
   * What went wrong for no list and no request.
   *
   * @param {FreshetError} error
   */
  #fail(error) {
    this.dispatchEvent(new FreshetErrorEvent(error));
  }
}

/**
 * The address of the socket: that of a server (`http://127.0.0.1:8080/`, or whatever path it is mounted at) with
 * `v1/live` added, in the scheme of sockets.
 *
 * @param {string | URL} url relative ones to the page
 */
export function liveAddress(url) {
  const result = new URL(url, globalThis.document?.baseURI);
  result.protocol = result.protocol.replace(/^http/, "ws");
  if (!result.pathname.endsWith("/v1/live")) {
    // A file of a folder, as a page is, stands beside `v1`.
    const folder = /\.[a-z]+$/.test(result.pathname) ? result.pathname.replace(/[^/]*$/, "") : result.pathname;
    result.pathname = `${folder.replace(/\/$/, "")}/v1/live`;
  }
  result.hash = "";
  return result;
}
