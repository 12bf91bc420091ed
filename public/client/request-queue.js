// @ts-check
/**
 * The unanswered requests of one list. The server answers a subscription's requests in their order, so an answer
 * belongs to the first request of its kind. Nothing is lost with a connection: unanswered requests are sent again on
 * the next one.
 */

import { rowOf } from "./apply.js";

/** @typedef {import("./types.js").Channel} Channel */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("./errors.js").FreshetError} FreshetError */
/** @typedef {"window" | "fetch" | "locate" | "requery" | "refused requery"} Kind */

/**
 * @typedef {object} Request
 * @property {Kind} kind @property {Message} members of its message
 * @property {Promise<any>} promise @property {(value?: any) => void} resolve @property {(error: FreshetError) => void}
 * reject
 * @property {() => void} [accepted] called when the server has carried it out
 * @property {boolean} [isBegunWith] the subscription began with the wanted query
 * @property {() => readonly string[]} [columns] @property {any[]} rows received so far
 */

export class RequestQueue {
  /**
   * In the order of their answers.
   *
   * @type {Request[]}
   */
  #sent = [];
  /**
   * The newest request of each kind that allows only one at a time.
   *
   * @type {Map<Kind, Request>}
   */
  #waiting = new Map();
  /** Whether requests wait: until the first state is complete, and while there is no connection. */
  #isPaused = true;
  /** Whether the rows of a window are arriving in parts. */
  #isWindowComing = false;

  /** @param {Channel} channel */
  constructor(channel) {
    this.channel = channel;
  }

  /** The window to subscribe with, if one was requested already. @returns {Window | undefined} */
  get wantedWindow() {
    const request = this.#waiting.get("window") ?? this.#first("window");
    return request && /** @type {Window} */ (request.members);
  }

  /** Whether the next answer is that to a requery. */
  get isRequerying() {
    return this.#sent[0]?.kind === "requery";
  }

  /**
   * Called when the subscription begins again, with the wanted query if there is one.
   *
   * @returns {import("../freshet.js").Query | undefined}
   */
  begin() {
    const [sent, waiting] = [this.#first("requery"), this.#waiting.get("requery")];
    if (sent) sent.isBegunWith = true;
    if (waiting) waiting.isBegunWith = true;
    return (waiting ?? sent)?.members.query;
  }

  /** @param {Window} members */
  window(members) {
    return this.#ask("window", members);
  }

  /** @param {Window} members @param {() => readonly string[]} columns @returns {Promise<any[]>} */
  rows(members, columns) {
    return this.#ask("fetch", members, { columns });
  }

  /** @param {any} key */
  place(key) {
    return this.#ask("locate", { key });
  }

  /** @param {Message} members @param {() => void} accepted */
  another(members, accepted) {
    return this.#ask("requery", members, { accepted });
  }

  /** Called when the connection is lost. */
  pause() {
    this.#isPaused = true;
    this.#isWindowComing = false;
  }

  /** Called when the list is complete, perhaps on a new connection. */
  resume() {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    const again = this.#sent;
    this.#sent = [];
    const waiting = this.#waiting.get("requery");
    this.#waiting.delete("requery");
    for (const request of waiting ? [...again, waiting] : again) {
      if (request.isBegunWith) this.#done(request);
      else if (request.kind !== "refused requery") this.#submit({ ...request, rows: [] });
    }
    this.#next("window");
  }

  /**
   * Whether a `rows` message answers a `fetch`, or shows that a `requery` has been answered.
   *
   * @param {Message} message @param {boolean} isLoading whether rows belong to the list itself
   */
  isFetched(message, isLoading) {
    if (message.window || isLoading) return false;
    const request = this.#first("fetch", "requery", "refused requery");
    if (request?.kind === "fetch") {
      request.rows.push(...message.rows.map((/** @type {any} */ row) => rowOf(row, request.columns?.() ?? [])));
    }
    if (request && message.complete) this.#settle(request, request.rows);
    return true;
  }

  /**
   * Called when a message of the list itself was applied.
   *
   * @param {Message} message @param {boolean} isComplete whether no part of it is missing
   */
  taken(message, isComplete) {
    if (message.type !== "rows") return;
    if (message.window) this.#isWindowComing = true;
    const request = this.#first("window");
    if (!isComplete || !this.#isWindowComing) return;
    this.#isWindowComing = false;
    if (request) this.#settle(request);
  }

  /** @param {Message} message */
  located({ path, offset }) {
    const request = this.#first("locate");
    if (request) this.#settle(request, { path, offset });
  }

  /** @param {FreshetError} error @returns {boolean} whether it answered a request */
  refuse(error) {
    const index = this.#sent.findIndex(({ kind }) => kind !== "refused requery");
    if (index < 0) return false;
    const request = this.#sent[index];
    // Requests that were sent together with it will still be answered.
    if (request.kind === "requery") this.#sent[index] = { ...request, kind: "refused requery" };
    else this.#sent.splice(index, 1);
    request.reject(error);
    if (request.kind !== "requery") this.#next(request.kind);
    return true;
  }

  /** @param {FreshetError} error the error for all requests */
  reject(error) {
    const all = [...this.#sent, ...this.#waiting.values()];
    this.#sent = [];
    this.#waiting.clear();
    for (const request of all) request.reject(error);
  }

  /** @param {Kind[]} kinds */
  #first(...kinds) {
    return this.#sent.find(({ kind }) => kinds.includes(kind));
  }

  /** @param {Kind} kind @param {Message} members @param {Partial<Request>} [others] */
  #ask(kind, members, others = {}) {
    const waiting = this.#waiting.get(kind);
    if (waiting) {
      Object.assign(waiting, { members, isBegunWith: false, ...others });
      return waiting.promise;
    }
    /** @type {any} */
    const request = { kind, members, rows: [], ...others };
    request.promise = new Promise((resolve, reject) => Object.assign(request, { resolve, reject }));
    // An unawaited promise must not be an unhandled rejection.
    request.promise.catch(() => {});
    this.#submit(request);
    return request.promise;
  }

  /** @param {Request} request */
  #submit(request) {
    const isOneAtATime = request.kind === "window" || request.kind === "requery";
    if (isOneAtATime && (this.#isPaused || this.#first(request.kind, "refused requery"))) {
      this.#waiting.set(request.kind, request);
      return;
    }
    this.#sent.push(request);
    if (this.#isPaused) return;
    this.channel.send({ type: request.kind, ...request.members });
    // A patch that was on its way looks like the answer to `requery`. The answer to this `fetch` cannot be mistaken,
    // and comes after it.
    if (request.kind === "requery") this.channel.send({ type: "fetch", offset: 0, limit: 0 });
  }

  /** @param {Request} request @param {any} [value] */
  #settle(request, value) {
    this.#sent.splice(this.#sent.indexOf(request), 1);
    this.#done(request, value);
    this.#next(request.kind === "refused requery" ? "requery" : request.kind);
  }

  /** @param {Request} request @param {any} [value] */
  #done(request, value) {
    if (request.kind === "requery") request.accepted?.();
    request.resolve(value);
  }

  /** @param {Kind} kind */
  #next(kind) {
    const waiting = this.#waiting.get(kind);
    if (!waiting || this.#isPaused) return;
    this.#waiting.delete(kind);
    this.#submit(waiting);
  }
}
