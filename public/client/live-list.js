// @ts-check
/** A query that is followed: its newest state, and the requests that it allows. */

import { apply } from "./apply.js";
import { ChangeEvent } from "./change-event.js";
import { FreshetError, FreshetErrorEvent } from "./errors.js";
import { OptimisticWrites } from "./optimistic-writes.js";
import { MismatchError } from "./patch-steps.js";
import { OverlaidModel } from "./overlaid-model.js";
import { errorOf, outcomeOf, retryDelay } from "./refusal.js";
import { RequestQueue } from "./request-queue.js";
import { plainQuery, plainTransaction } from "./sql.js";
import { statesOf } from "./states.js";

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
/** @typedef {import("./overlaid-model.js").Shown} Shown */
/** @typedef {import("./types.js").Channel} Channel */
/** @typedef {import("./types.js").Handlers} Handlers */

export class LiveList extends EventTarget {
  #list;
  #writes;
  /**
   * A snapshot that arrives in parts, while the former complete state is still shown.
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
  /** Whether a new snapshot was requested: other messages are ignored until it comes. */
  #isResyncing = false;
  #failures = 0;
  /** Whether the server refused the last subscription, so that it has none. */
  #isRefused = false;
  /** Whether the last `subscribe` was answered. */
  #isAnswered = false;
  #awaitsToken = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  /** @type {FreshetError | null} */
  error = null;

  /** @param {Query} query @param {ListOptions} options @param {(handlers: Handlers) => Channel} attach */
  constructor(query, options, attach) {
    super();
    this.#query = query;
    this.#options = options;
    plainQuery(query); // Throws the query's errors to the caller.
    this.#channel = attach({
      opened: () => this.#subscribe(),
      lost: () => this.#lost(),
      closed: () => this.close(),
      authenticated: () => {
        if (this.#awaitsToken) this.#subscribe();
      },
      received: (message) => this.#receive(message),
    });
    this.#requests = new RequestQueue(this.#channel);
    this.#list = new OverlaidModel(options.sources);
    this.#writes = new OptimisticWrites(this.#list, this.#channel, {
      show: (shown) => this.#show(shown),
      isCaughtUp: () => (this.#isOver ? Promise.resolve() : this.#requests.rows({ offset: 0, limit: 0 }, () => [])),
      dispatch: (event) => this.dispatchEvent(event),
    });
  }

  get state() {
    return this.#list.state;
  }

  get pending() {
    return this.#list.changes.map(({ change, status }) => ({ change, status }));
  }

  get status() {
    return this.#status;
  }

  get query() {
    return this.#query;
  }

  get progress() {
    const { heldCount: loaded, total, window } = this.#incoming ?? this.#list.base;
    return { loaded, total: window ? Math.max(0, Math.min(window.limit, total - window.offset)) : total };
  }

  get sections() {
    return this.state.sections;
  }

  get total() {
    return this.state.total;
  }

  get window() {
    return this.state.window;
  }

  get totals() {
    return this.state.totals;
  }

  get alongside() {
    return this.state.alongside;
  }

  /** @param {IndexPath} path */
  row(path) {
    return this.state.row(path);
  }

  /** @param {number} offset */
  at(offset) {
    return this.state.at(offset);
  }

  /** @param {SQLValue | SQLValue[]} key */
  path(key) {
    return this.state.path(key);
  }

  /** @param {Window} window @returns {Promise<ListState>} */
  setWindow({ offset, limit }) {
    const wanted = { offset: Math.max(0, Math.floor(offset)), limit: Math.max(0, Math.ceil(limit)) };
    return this.#requests.window(this.#list.baseWindow(wanted)).then(() => this.state);
  }

  /** @param {Window} window @returns {Promise<Row[]>} */
  fetch(window) {
    return this.#requests.rows(this.#list.baseWindow(window), () => this.#list.base.columns);
  }

  /** @param {SQLValue | SQLValue[]} key */
  async locate(key) {
    const found = await this.#requests.place(key);
    // The client's own changes shift the offsets of shown rows.
    const offset = found.offset === null || this.state === this.#list.base ? found.offset : this.#list.shownOffset(found.offset);
    return offset === found.offset ? found : { path: offset === null ? null : this.state.pathOf(offset), offset };
  }

  /**
   * @param {import("../freshet.js").OptimisticChange} change @param {import("../freshet.js").Transaction} transaction
   */
  async optimistically(change, transaction) {
    return this.#writes.write(change, plainTransaction(transaction));
  }

  /** @param {Query} query @param {{window?: Window}} [options] @returns {Promise<ListState>} */
  async requery(query, options = {}) {
    const { window } = options;
    // If the server has no result to patch from at the moment, the list subscribes again.
    const isOver = this.#isRefused || this.#status === "waiting";
    if (isOver) this.#requests.pause();
    const answer = this.#requests.another({ query: plainQuery(query), ...(window && { window }) }, () => {
      this.#query = query;
      if (window) this.#options = { ...this.#options, window };
    });
    if (isOver && !this.#isRefused) this.#channel.send({ type: "unsubscribe" });
    if (isOver) this.#subscribe();
    await answer;
    return this.state;
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
  [Symbol.asyncIterator]() {
    return statesOf(this);
  }

  #subscribe() {
    clearTimeout(this.#retry);
    if (this.#status === "closed") return;
    this.#isRefused = false;
    this.#isAnswered = false;
    this.#awaitsToken = false;
    const { base } = this.#list;
    const { minInterval } = this.#options;
    const another = this.#requests.begin();
    const query = another ?? plainQuery(this.#query);
    // The server may still know the held version: then it sends only the difference. That works only with the same
    // query.
    const since = base.isComplete && !another ? base.version : null;
    const window = since ? base.window : this.#requests.wantedWindow ?? base.window ?? this.#options.window;
    // The status `waiting` lasts until rows come.
    if (this.#status !== "waiting") this.#become(base.isComplete ? "reconnecting" : "loading");
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

  get #isOver() {
    return this.#status === "closed" || this.#status === "failed";
  }

  get #isLoading() {
    return this.#incoming !== null || !this.#list.base.isComplete;
  }

  /** @param {Message} message */
  #take(message) {
    this.#isAnswered = true;
    if (message.type === "snapshot") this.#isResyncing = false;
    if (this.#isResyncing) return;
    const before = this.#list.base;
    let next;
    try {
      next = apply(this.#incoming ?? before, message);
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error;
      return this.resync();
    }
    // Complete rows stay shown until their replacement is complete.
    if (!next.state.isComplete && before.isComplete && message.type !== "rows") this.#incoming = next.state;
    else if (!next.state.isComplete && this.#incoming) this.#incoming = next.state;
    else this.#goOn(message, next);
    this.#requests.taken(message, !this.#isLoading);
    if (this.#isLoading) this.dispatchEvent(new Event("progress"));
    else this.#settled();
  }

  /** @param {Message} message @param {{state: ListState, changes: Changes}} next */
  #goOn(message, { state, changes }) {
    const whole = this.#incoming ? { type: "snapshot" } : message;
    this.#incoming = null;
    this.#writes.reached(state.commit);
    this.#show(this.#list.take(whole, state, changes));
  }

  /** @param {Shown | null} shown */
  #show(shown) {
    if (shown) this.dispatchEvent(new ChangeEvent(shown.message, shown.before, shown.state, shown.changes));
  }

  /** Called when the state is complete. */
  #settled() {
    this.#failures = 0;
    this.error = null;
    this.#requests.resume();
    this.#become("live");
  }

  /** @param {Message} message */
  #refused(message) {
    const error = errorOf(/** @type {any} */ (message), this.#isAnswered);
    const outcome = outcomeOf(error, { hasRows: this.#list.base.isComplete, isTokenRefused: this.#channel.isTokenRefused() });
    // An error that the server sends by itself answers no request, but may refuse a requery.
    const mayAnswer = outcome === "goesOn" || (outcome === "waits" && this.#requests.isRequerying);
    if (mayAnswer && this.#requests.refuse(error)) return;
    this.error = error;
    this.#suffer(outcome, error);
    this.dispatchEvent(new FreshetErrorEvent(error));
  }

  /** @param {import("./refusal.js").Outcome} outcome @param {FreshetError} error */
  #suffer(outcome, error) {
    this.#isRefused = error.fatal;
    if (error.fatal) this.#requests.pause();
    if (outcome === "goesOn") return;
    if (outcome === "fails") {
      this.#requests.reject(error);
      this.#become("failed");
      this.#writes.giveUp();
      return;
    }
    this.#awaitsToken = outcome === "awaitsToken";
    if (outcome === "retries") this.#retry = setTimeout(() => this.#subscribe(), retryDelay(this.#failures += 1));
    this.#become("waiting");
  }

  /** @param {ListStatus} status */
  #become(status) {
    if (status === this.#status) return;
    this.#status = status;
    this.dispatchEvent(new Event("status"));
  }
}
