// @ts-check
/**
 * The subscription of an element, through its own connection or a shared one, with a window that follows the view.
 */

import { encoded } from "../client/values.js";
import { connect } from "../freshet.js";
import { isEnough } from "./wanted-window.js";

/** @typedef {import("./types.js").Client} Client */
/** @typedef {import("./types.js").LiveList} LiveList */
/** @typedef {import("./types.js").Query} Query */
/** @typedef {import("./types.js").ChangeEvent} ChangeEvent */
/** @typedef {import("./wanted-window.js").Window} Window */
/** @typedef {import("./layout.js").Range} Range */

export class Source {
  /** @type {LiveList | null} */
  list = null;
  /**
   * The client of the subscription.
   *
   * @type {Client | null}
   */
  client = null;
  /**
   * A connection that ends with the subscription.
   *
   * @type {Client | null}
   */
  #own = null;
  /** @type {Window | null} */
  #asked = null;
  /**
   * The window of a requery that is not answered yet.
   *
   * @type {Window | null}
   */
  #requeried = null;
  /** @type {AbortController | null} */
  #listening = null;
  #hasRows = false;
  /** Whether the rows do not belong to the last query, which is not answered yet or was refused. */
  isOutdated = false;

  /** Whether the answer to a new query is outstanding. */
  get isAsking() {
    return this.#requeried !== null;
  }

  /**
   * @param {object} handlers
   * @param {(event: ChangeEvent, isOtherQuery: boolean) => void} handlers.changed
   * @param {() => void} handlers.answered called when the rows are those of the last query
   * @param {() => void} handlers.status
   * @param {(error: Error) => void} handlers.failed
   * @param {(range: Range) => Window} windowFor the rows to hold while a range is in view
   */
  constructor(handlers, windowFor) {
    this.handlers = handlers;
    this.windowFor = windowFor;
  }

  /** The facts that determine whether the rows may be out of date. @returns {import("./staleness.js").Situation} */
  get situation() {
    const { list, client } = this;
    return {
      status: list?.status ?? "closed", error: list?.error ?? null, hasRows: (list?.total ?? 0) > 0,
      connection: client?.status ?? "closed", retryAt: client?.retryAt ?? null, refusal: client?.error ?? null,
    };
  }

  /**
   * @param {Client | {src: string | null, token: string | null}} source a connection, or the address and token to open
   * one
   * @param {Query} query @param {Range} range the rows in view @param {import("../freshet.js").ListOptions} options
   */
  open(source, query, range, options) {
    this.close();
    if ("src" in source) this.#own = connected(source);
    const client = this.#own ?? /** @type {Client} */ (source);
    const listening = new AbortController();
    this.#listening = listening;
    const list = client.subscribe(query, { ...options, window: this.windowFor(range) });
    this.list = list;
    this.client = client;
    const { signal } = listening;
    client.addEventListener("status", () => this.handlers.status(), { signal });
    client.addEventListener("error", () => this.handlers.status(), { signal });
    list.addEventListener("change", (event) => this.#changed(event), { signal });
    list.addEventListener("status", () => this.handlers.status(), { signal });
    list.addEventListener("error", (event) => this.handlers.failed(event.error), { signal });
  }

  close() {
    this.#listening?.abort();
    this.list?.close();
    this.#own?.close();
    this.#listening = null;
    this.list = null;
    this.client = null;
    this.#own = null;
    this.#asked = null;
    this.#requeried = null;
    this.#hasRows = false;
    this.isOutdated = false;
  }

  /** @param {ChangeEvent} event */
  #changed(event) {
    const isFirst = !this.#hasRows && event.after.isComplete;
    this.#hasRows ||= isFirst;
    this.handlers.changed(event, this.#answersRequery(event));
    if (isFirst && !this.isOutdated) this.handlers.answered();
  }

  /**
   * Changes to another query, whose rows are shown from the first one on.
   *
   * @param {Query} query @param {Range} range the rows in view
   */
  async requery(query, range) {
    const { list } = this;
    if (!list) return;
    const window = this.windowFor({ first: 0, last: range.last - range.first });
    this.#requeried = window;
    this.isOutdated = true;
    const failure = await list.requery(query, { window }).then(() => null, (error) => error);
    const isNewest = this.#requeried === window;
    if (isNewest) this.#requeried = null;
    if (failure !== null) return this.#failed(list, failure);
    if (!isNewest) return;
    this.isOutdated = false;
    this.handlers.answered();
  }

  /**
   * Whether an event is the answer to a requery. A patch of the old query may come before it, but does not move the
   * window.
   *
   * @param {ChangeEvent} event
   */
  #answersRequery({ kind, after }) {
    const wanted = this.#requeried;
    return kind !== "rows" && wanted !== null
      && after.window?.offset === wanted.offset && after.window.limit === wanted.limit;
  }

  /**
   * Requests other rows when the view comes near the edge of the held ones.
   *
   * @param {Range} range the rows in view
   */
  look(range) {
    const { list } = this;
    const window = list?.state.window;
    if (!list || !window || !list.state.isComplete) return;
    const { total } = list.state;
    if (isEnough(window, range, total)) return;
    if (this.#asked && isEnough(this.#asked, range, total)) return;
    const asked = this.windowFor(range);
    this.#asked = asked;
    list.setWindow(asked).then(
      () => this.#answered(asked),
      (error) => {
        this.#answered(asked);
        this.#failed(list, error);
      });
  }

  /** @param {Window} asked */
  #answered(asked) {
    if (this.#asked === asked) this.#asked = null;
  }

  /** @param {LiveList} list @param {any} error */
  #failed(list, error) {
    if (this.list === list) this.handlers.failed(error);
  }
}

/** @param {{src: string | null, token: string | null}} place an address relative to the page */
function connected({ src, token }) {
  return connect(new URL(src ?? "v1/live", document.baseURI), { token: token ?? undefined });
}

/**
 * Whether two queries are the same.
 *
 * @param {Query | null} left @param {Query | null} right
 */
export function isSameQuery(left, right) {
  return left === right || encoded(left) === encoded(right);
}
