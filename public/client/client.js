// @ts-check
/** One connection to a server, shared by any number of live lists. */

import { rowOf } from "./apply.js";
import { ChangeFeed } from "./change-feed.js";
import { ClientRequests } from "./client-requests.js";
import { Connection } from "./connection.js";
import { FreshetError, FreshetErrorEvent } from "./errors.js";
import { LiveList } from "./live-list.js";
import { refusalAt } from "./refused-connection.js";
import { plainTransaction } from "./sql.js";
import { TokenKeeper } from "./token.js";
import { decoded } from "./values.js";
import { WriteQueue } from "./write-queue.js";

/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../freshet.js").ListOptions} ListOptions */
/** @typedef {import("../freshet.js").ClientOptions} ClientOptions */
/** @typedef {import("../freshet.js").Transaction} Transaction */
/** @typedef {import("./types.js").Handlers} Handlers */

export class Client extends EventTarget {
  /** @type {Connection} */
  #connection;
  /** @type {TokenKeeper | null} */
  #keeper = null;
  /** @type {Map<string, Handlers>} */
  #lists = new Map();
  #requests = new ClientRequests((message) => this.#connection.send(message), () => this.error?.message);
  #writes = new WriteQueue((message) => this.#connection.send(message));
  /** Whether the client has authenticated on this connection. */
  #isKnown = false;
  #count = 0;
  /** @type {Record<string, any> | null} */
  hello = null;
  /** @type {number | null} */
  retryAt = null;
  /** @type {FreshetError | null} */
  error = null;

  /** @param {string | URL} url @param {ClientOptions} [options] */
  constructor(url, options = {}) {
    super();
    const { database, token, WebSocket: Socket = globalThis.WebSocket } = options;
    const address = liveAddress(url, database);
    this.url = address.href;
    if (!Socket) throw new TypeError("There is no WebSocket here: give one, connect(url, { WebSocket })");
    if (token) this.#keeper = new TokenKeeper(token, (message) => this.#connection.send(message), (error) => this.#unauthenticated(error), () => this.#authenticated());
    this.#connection = new Connection(async () => {
      await this.#prepare();
      return address;
    }, {
      opened: () => {
        this.#keeper?.opened();
        this.#lists.forEach((list) => list.opened());
        this.#requests.opened();
      },
      received: (message) => this.#receive(message),
      changed: (retryIn) => this.#changed(retryIn),
      unopened: () => this.#askForRefusal(address),
    }, Socket);
    this.#connection.start();
  }

  get status() {
    return this.#connection.status;
  }

  /** @param {Query} query @param {ListOptions} [options] */
  subscribe(query, options = {}) {
    return new LiveList(query, options, (handlers) => {
      const registration = this.#register(handlers);
      return {
        ...registration,
        write: async (members, sent) => committed(await this.#writes.add(members, sent)),
        epoch: () => this.hello?.epoch,
        isTokenRefused: () => this.#keeper?.isRefused ?? false,
      };
    });
  }

  /** @param {import("../freshet.js").ChangesOptions} [options] */
  changes(options = {}) {
    return new ChangeFeed(options, (handlers) => this.#register(handlers));
  }

  /** @param {Handlers} handlers */
  #register(handlers) {
    const id = String(this.#count += 1);
    this.#lists.set(id, handlers);
    // The list begins after this call, so that listeners added right after it miss nothing.
    if (this.status === "live") queueMicrotask(() => this.#lists.get(id)?.opened());
    if (this.status === "closed") queueMicrotask(() => handlers.closed());
    return {
      /** @param {Record<string, any>} message */
      send: (message) => this.#connection.send({ ...message, id }),
      release: () => {
        if (this.#lists.delete(id)) this.#connection.send({ type: "unsubscribe", id });
      },
    };
  }

  /** @param {Transaction} transaction */
  async transact(transaction) {
    return committed(await this.#requests.ask("transact", plainTransaction(transaction)));
  }

  async ping() {
    let start = 0;
    await this.#requests.ask("ping", {}, () => (start = performance.now()));
    return performance.now() - start;
  }

  retry() {
    this.#connection.retry();
  }

  close() {
    this.#connection.close();
    this.#requests.close();
    this.#writes.close();
    for (const list of this.#lists.values()) list.closed();
    this.#lists.clear();
  }

  /** @param {number} [retryIn] */
  #changed(retryIn) {
    this.retryAt = retryIn === undefined ? null : Date.now() + retryIn;
    if (this.status !== "live") {
      this.#keeper?.lost();
      this.#requests.lost();
      this.#isKnown = false;
      this.#writes.lost();
      this.#lists.forEach((list) => list.lost());
    }
    if (this.status === "refused") this.#requests.refused();
    if (this.status !== "refused" && this.error?.code === "refused") this.error = null;
    this.dispatchEvent(new Event("status"));
  }

  /** @param {URL} address */
  async #askForRefusal(address) {
    // If the server accepted connections before, it is more likely restarting behind a proxy that answers.
    const refusal = this.hello ? null : await refusalAt(address);
    const isNews = this.error === null && refusal !== null && this.status === "reconnecting";
    if (isNews) this.error = refusal;
    this.#connection.setRefused(refusal !== null);
    if (isNews && refusal) this.#fail(refusal);
  }

  /** @param {Record<string, any>} message */
  #receive(message) {
    const list = this.#lists.get(message.id);
    if (list) return list.received(message);
    if (this.#keeper?.received(message)) return undefined;
    if (message.type === "hello") {
      this.hello = message;
      return this.#goOnWriting();
    }
    if (this.#writes.received(message) || this.#requests.received(message) || message.type !== "error") return undefined;
    const error = new FreshetError(/** @type {any} */ (message));
    if (message.id === undefined && error.code === "unauthenticated") this.#unauthenticated(error);
    else if (message.id === undefined) this.#fail(error);
    return undefined;
  }

  async #prepare() {
    try {
      await this.#keeper?.prepare();
    } catch (error) {
      this.error ??= new FreshetError({ code: "unauthenticated", message: "There is no token.", retryable: true });
      throw error;
    }
  }

  /** @param {FreshetError} error */
  #unauthenticated(error) {
    this.error = error;
    this.#fail(error);
  }

  /** Sends writes, but only once the server knows the client and has said whether it remembers earlier writes. */
  #goOnWriting() {
    if (!this.hello || (this.#keeper && !this.#isKnown)) return;
    this.#writes.opened(this.hello.epoch, this.hello.limits?.transactionMemory > 0);
  }

  #authenticated() {
    this.#isKnown = true;
    this.#goOnWriting();
    if (!this.error) return;
    this.error = null;
    this.#lists.forEach((list) => list.authenticated());
    this.dispatchEvent(new Event("status"));
  }

  /**
   * Reports an error that belongs to no list and no request.
   *
   * @param {FreshetError} error
   */
  #fail(error) {
    this.dispatchEvent(new FreshetErrorEvent(error));
  }
}

/** @param {Record<string, any>} message @returns {import("../freshet.js").Committed} */
function committed({ changes, commit, results }) {
  return { changes, commit, results: (results ?? []).map(decodedResult) };
}

/**
 * The result of one statement, with the rows that it returned.
 *
 * @param {Record<string, any>} result @returns {import("../freshet.js").StatementResult}
 */
function decodedResult({ changes, lastInsertRowid, columns = [], rows = [] }) {
  return { changes, lastInsertRowid: decoded(lastInsertRowid), columns, rows: rows.map((/** @type {any[]} */ row) => rowOf(row, columns)) };
}

/**
 * The address of the socket: the server's address (`http://127.0.0.1:8080/`, or any path that it is mounted at) with
 * `v1/live` appended, and with the scheme `ws` or `wss`.
 *
 * @param {string | URL} url relative addresses are relative to the page
 * @param {string} [database] the name of one of the server's databases
 */
export function liveAddress(url, database) {
  const result = new URL(url, globalThis.document?.baseURI);
  result.protocol = result.protocol.replace(/^http/, "ws");
  if (!result.pathname.endsWith("/v1/live")) {
    // If the path is a file, such as a page, `v1` is in the same folder.
    const folder = /\.[a-z]+$/.test(result.pathname) ? result.pathname.replace(/[^/]*$/, "") : result.pathname;
    result.pathname = `${folder.replace(/\/$/, "")}/v1/live`;
  }
  if (database !== undefined) result.pathname = result.pathname.replace(/v1\/live$/, `db/${encodeURIComponent(database)}/v1/live`);
  result.hash = "";
  return result;
}
