// @ts-check
/**
 * One live list: a subscription whose window follows what is looked at. It asks for a window when the view nears the
 * edge of the one it has, one request at a time, so that fast scrolling asks for what is in view when the answer
 * comes, not for all that went by.
 */

import { Connection } from "./connection.js";
import { ListModel, MismatchError } from "./list-model.js";

/** @typedef {import("./list-model.js").Outcome} Outcome */
/** @typedef {import("./connection.js").State} State */
/** @typedef {{committed: number, shown: number}} WriteTimes milliseconds since the write was asked for */

const id = "wells";
/** Rows asked for at once: what is in view and as many again on either side, within these. */
const smallestWindow = 120;
const largestWindow = 200;

export class LiveList {
  model = new ListModel();
  #isSubscribed = false;
  #isWindowAsked = false;
  /** Whether what comes before the next snapshot is of no use. */
  #isResyncing = false;
  /**
   * When the `fetch`es that are under way were sent; they are answered in order.
   *
   * @type {number[]}
   */
  #pings = [];
  /** Writes under way, by the id of their message. */
  #writes = new Map();
  #writeCount = 0;
  /** What is in view. */
  #range = { first: 0, last: 0 };

  /**
   * @param {string | URL} url @param {Record<string, any>} query
   * @param {object} handlers
   * @param {(outcome: Outcome, message: Record<string, any>) => void} handlers.changed
   * @param {(state: State, retryIn?: number) => void} handlers.connected
   * @param {(milliseconds: number) => void} handlers.answered a round trip
   * @param {(sentence: string) => void} handlers.failed
   */
  constructor(url, query, handlers) {
    this.query = query;
    this.handlers = handlers;
    this.connection = new Connection(url, {
      opened: () => this.#subscribe(),
      received: (message) => this.#receive(message),
      changed: (state, retryIn) => this.#connected(state, retryIn),
    });
  }

  open() {
    this.connection.open();
  }

  /**
   * To be told of what is in view, at every change of it.
   *
   * @param {{first: number, last: number}} range
   */
  look(range) {
    this.#range = range;
    this.#askForWindow();
  }

  /** Measures a round trip, and finds out whether the connection is alive. */
  ping() {
    this.connection.check();
    if (!this.#isSubscribed || !this.model.isComplete) return;
    if (this.connection.send({ type: "fetch", id, offset: 0, limit: 1 })) this.#pings.push(performance.now());
  }

  /**
   * Writes one statement; resolves when this list shows a state of the database that has it.
   *
   * @param {string} sql @param {Record<string, any>} params @returns {Promise<WriteTimes>}
   */
  write(sql, params) {
    this.#writeCount += 1;
    const write = `write ${this.#writeCount}`;
    return new Promise((resolve, reject) => {
      const started = performance.now();
      if (!this.connection.send({ type: "transact", id: write, statements: [{ sql, params }] })) {
        reject(new Error("There is no connection now."));
        return;
      }
      this.#writes.set(write, { started, resolve, reject, commit: Infinity, committed: 0 });
    });
  }

  #subscribe() {
    const { model } = this;
    const message = { type: "subscribe", id, query: this.query, window: model.window ?? this.#wantedWindow() };
    // What was held before may still be known to the server: then only the difference comes.
    const since = model.isComplete ? { since: model.version } : {};
    this.connection.send({ ...message, ...since });
  }

  /** @param {State} state @param {number} [retryIn] */
  #connected(state, retryIn) {
    this.#isSubscribed = false;
    this.#isWindowAsked = false;
    this.#isResyncing = false;
    this.#pings = [];
    const broken = new Error("The connection broke; it may have been written.");
    for (const write of this.#writes.values()) write.reject(broken);
    this.#writes.clear();
    this.handlers.connected(state, retryIn);
  }

  /** @param {Record<string, any>} message */
  #receive(message) {
    switch (message.type) {
      case "snapshot":
      case "rows":
      case "patch": return this.#apply(message);
      case "committed": return this.#committed(message);
      case "error": return this.#failed(message);
      default: return undefined;
    }
  }

  /** @param {Record<string, any>} message */
  #apply(message) {
    if (message.id !== id) return;
    if (message.type === "snapshot") this.#isResyncing = false;
    if (this.#isResyncing) return;
    if (message.type === "rows" && message.window) this.#isWindowAsked = false;
    else if (message.type === "rows" && this.model.isComplete) return this.#ponged();
    let outcome;
    try {
      outcome = this.model.apply(message);
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error;
      // A client whose own check failed asks for everything anew.
      this.model.isComplete = false;
      this.#isResyncing = true;
      this.connection.send({ type: "resync", id });
      return;
    }
    if (!this.#isSubscribed) {
      this.#isSubscribed = true;
      this.handlers.connected("live");
    }
    this.handlers.changed(outcome, message);
    this.#settleWrites();
    this.#askForWindow();
  }

  #ponged() {
    const sent = this.#pings.shift();
    if (sent !== undefined) this.handlers.answered(performance.now() - sent);
  }

  /** @param {Record<string, any>} message */
  #committed({ id: name, commit }) {
    const write = this.#writes.get(name);
    if (!write) return;
    write.commit = commit;
    write.committed = performance.now() - write.started;
    this.#settleWrites();
  }

  /** A write is seen as soon as the list's commit has reached it. */
  #settleWrites() {
    for (const [name, write] of this.#writes) {
      if (this.model.commit < write.commit) continue;
      this.#writes.delete(name);
      write.resolve({ committed: write.committed, shown: performance.now() - write.started });
    }
  }

  /** @param {Record<string, any>} error */
  #failed(error) {
    const write = this.#writes.get(error.id);
    if (write) {
      this.#writes.delete(error.id);
      write.reject(new Error(error.message));
      return;
    }
    this.#isWindowAsked = false;
    this.handlers.failed(error.message);
  }

  #wantedWindow() {
    const { first, last } = this.#range;
    const visible = Math.max(1, last - first);
    const limit = Math.min(largestWindow, Math.max(smallestWindow, visible * 3));
    return { offset: Math.max(0, first - Math.floor((limit - visible) / 2)), limit };
  }

  /** Asks for another window when the view comes within half a page of the edge of this one. */
  #askForWindow() {
    const { window, total } = this.model;
    if (!window || !this.model.isComplete || !this.#isSubscribed || this.#isWindowAsked) return;
    const { first, last } = this.#range;
    const margin = Math.floor((last - first) / 2);
    const isEnough = window.offset <= Math.max(0, first - margin)
      && window.offset + window.limit >= Math.min(total, last + margin);
    if (isEnough) return;
    this.#isWindowAsked = this.connection.send({ type: "window", id, ...this.#wantedWindow() });
  }
}
