// @ts-check
/** One query, followed: its newest state, and what may be asked of it. */

import { apply } from "./apply.js";
import { FreshetError, FreshetErrorEvent } from "./errors.js";
import { emptyState } from "./list-state.js";
import { MismatchError } from "./patch-steps.js";
import { RequestQueue } from "./request-queue.js";
import { plainQuery } from "./sql.js";

/** @typedef {import("./list-state.js").ListState} ListState */
/** @typedef {import("../freshet.js").IndexPath} IndexPath */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Changes} Changes */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../freshet.js").ListOptions} ListOptions */
/** @typedef {import("../freshet.js").ListStatus} ListStatus */
/** @typedef {{send(message: Message): boolean, release(): void}} Channel a list's way to the server */
/** @typedef {{opened(): void, lost(): void, closed(): void, received(message: Message): void}} Handlers */

/** The event `change`. */
export class ChangeEvent extends Event {
  /** @param {Message} message @param {ListState} before @param {ListState} after @param {Changes} changes */
  constructor(message, before, after, changes) {
    super("change");
    /** @type {"snapshot" | "rows" | "patch"} */
    this.kind = message.type;
    this.patch = message.type === "patch" ? message : null;
    this.before = before;
    this.after = after;
    this.changes = changes;
  }
}

export class LiveList extends EventTarget {
  #state = emptyState;
  /**
   * A snapshot that comes in parts, while a complete state is still shown.
   *
   * @type {ListState | null}
   */
  #incoming = null;
  /** @type {ListStatus} */
  #status = "connecting";
  /** @type {Query} */
  #query;
  #options;
  #requests;
  #channel;
  /** Whether nothing counts before the next snapshot: another one was asked for. */
  #isResyncing = false;
  #failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  /** @type {FreshetError | null} */
  error = null;

  /** @param {Query} query @param {ListOptions} options @param {(handlers: Handlers) => Channel} attach */
  constructor(query, options, attach) {
    super();
    this.#query = query;
    this.#options = options;
    plainQuery(query); // What is wrong with it is said to the caller.
    this.#channel = attach({
      opened: () => this.#subscribe(),
      lost: () => this.#lost(),
      closed: () => this.close(),
      received: (message) => this.#receive(message),
    });
    this.#requests = new RequestQueue(this.#channel);
  }

  get state() {
    return this.#state;
  }

  get status() {
    return this.#status;
  }

  get query() {
    return this.#query;
  }

  get progress() {
    const { heldCount: loaded, total, window } = this.#incoming ?? this.#state;
    return { loaded, total: window ? Math.max(0, Math.min(window.limit, total - window.offset)) : total };
  }

  get sections() {
    return this.#state.sections;
  }

  get total() {
    return this.#state.total;
  }

  get window() {
    return this.#state.window;
  }

  get alongside() {
    return this.#state.alongside;
  }

  /** @param {IndexPath} path */
  row(path) {
    return this.#state.row(path);
  }

  /** @param {number} offset */
  at(offset) {
    return this.#state.at(offset);
  }

  /** @param {SQLValue | SQLValue[]} key */
  path(key) {
    return this.#state.path(key);
  }

  /** @param {Window} window @returns {Promise<ListState>} */
  setWindow({ offset, limit }) {
    return this.#requests.window({ offset: Math.max(0, Math.floor(offset)), limit: Math.max(0, Math.ceil(limit)) })
      .then(() => this.#state);
  }

  /** @param {Window} window @returns {Promise<Row[]>} */
  fetch({ offset, limit }) {
    return this.#requests.rows({ offset, limit }, () => this.#state.columns);
  }

  /** @param {SQLValue | SQLValue[]} key */
  locate(key) {
    return this.#requests.place(key);
  }

  /** @param {Query} query @param {{window?: Window}} [options] @returns {Promise<ListState>} */
  async requery(query, options = {}) {
    const { window } = options;
    const answer = this.#requests.another({ query: plainQuery(query), ...(window && { window }) }, () => {
      this.#query = query;
      if (window) this.#options = { ...this.#options, window };
    });
    // There is nothing on the server to lead from.
    if (this.#status === "failed") this.#subscribe();
    await answer;
    return this.#state;
  }

  resync() {
    this.#isResyncing = true;
    this.#incoming = null;
    this.#channel.send({ type: "resync" });
  }

  close() {
    if (this.#status === "closed") return;
    clearTimeout(this.#retry);
    this.#requests.reject(new FreshetError({ code: "closed", message: "The list was closed." }));
    this.#channel.release();
    this.#become("closed");
  }

  /** @returns {AsyncGenerator<ListState, void, void>} */
  async *[Symbol.asyncIterator]() {
    let last = emptyState;
    while (true) {
      if (this.#status === "closed") return;
      if (this.#status === "failed") throw this.error;
      if (this.#state !== last && this.#state.isComplete) {
        last = this.#state;
        yield last;
      } else {
        await this.#nextEvent();
      }
    }
  }

  #nextEvent() {
    return new Promise((resolve) => {
      const controller = new AbortController();
      const done = () => {
        controller.abort();
        resolve(undefined);
      };
      for (const type of ["change", "status"]) this.addEventListener(type, done, { signal: controller.signal });
    });
  }

  #subscribe() {
    clearTimeout(this.#retry);
    if (this.#status === "closed") return;
    const { minInterval } = this.#options;
    const another = this.#requests.begin();
    const query = another ?? plainQuery(this.#query);
    // What is held may still be known to the server: then only the difference comes. Not to another query's.
    const since = this.#state.isComplete && !another ? this.#state.version : null;
    const window = since ? this.#state.window : this.#requests.wantedWindow ?? this.#state.window ?? this.#options.window;
    this.#become(this.#state.isComplete ? "reconnecting" : "loading");
    this.#channel.send({
      type: "subscribe", query, ...(window && { window }), ...(since && { since }), ...(minInterval && { minInterval }),
    });
  }

  #lost() {
    clearTimeout(this.#retry);
    this.#isResyncing = false;
    this.#incoming = null;
    this.#requests.pause();
    if (this.#status !== "closed" && this.#status !== "failed") {
      this.#become(this.#status === "connecting" ? "connecting" : "reconnecting");
    }
  }

  /** @param {Message} message */
  #receive(message) {
    switch (message.type) {
      case "snapshot":
      case "patch": return this.#take(message);
      case "rows": return this.#requests.isFetched(message, this.#isLoading) ? undefined : this.#take(message);
      case "located": return this.#requests.located(message);
      case "error": return this.#refused(message);
      default: return undefined;
    }
  }

  get #isLoading() {
    return this.#incoming !== null || !this.#state.isComplete;
  }

  /** @param {Message} message */
  #take(message) {
    if (message.type === "snapshot") this.#isResyncing = false;
    if (this.#isResyncing) return;
    const before = this.#state;
    let next;
    try {
      next = apply(this.#incoming ?? before, message);
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error;
      return this.resync();
    }
    // What is shown stays whole until what replaces it is.
    if (!next.state.isComplete && before.isComplete && message.type !== "rows") this.#incoming = next.state;
    else if (!next.state.isComplete && this.#incoming) this.#incoming = next.state;
    else this.#show(message, next);
    this.#requests.taken(message, !this.#isLoading);
    if (this.#isLoading) this.dispatchEvent(new Event("progress"));
    else this.#settled();
  }

  /** @param {Message} message @param {{state: ListState, changes: Changes}} next */
  #show(message, { state, changes }) {
    const before = this.#state;
    const kind = this.#incoming ? { type: "snapshot" } : message;
    this.#incoming = null;
    this.#state = state;
    this.dispatchEvent(new ChangeEvent(kind, before, state, changes));
  }

  /** The state is complete. */
  #settled() {
    this.#failures = 0;
    this.error = null;
    this.#requests.resume();
    this.#become("live");
  }

  /** @param {Message} message */
  #refused(message) {
    const error = new FreshetError(/** @type {any} */ (message));
    if (!error.fatal && this.#requests.refuse(error)) return;
    this.error = error;
    if (error.fatal && error.retryable) {
      this.#failures += 1;
      this.#retry = setTimeout(() => this.#subscribe(), Math.min(15_000, 500 * 2 ** this.#failures));
    } else if (error.fatal) {
      this.#requests.reject(error);
      this.#requests.pause();
      this.#become("failed");
    }
    this.dispatchEvent(new FreshetErrorEvent(error));
  }

  /** @param {ListStatus} status */
  #become(status) {
    if (status === this.#status) return;
    this.#status = status;
    this.dispatchEvent(new Event("status"));
  }
}
