// @ts-check
/**
 * Lists of components that wait for their first rows in a Suspense boundary. React discards the state of such a
 * component, so its list is kept here, by client and query, until the component is mounted and claims it. An unclaimed
 * one is closed: React may render a component and never mount it.
 */

import { viewOf } from "./view.js";

/** @typedef {import("./wanted.js").Wanted} Wanted */

/** Milliseconds that first rows wait for their component, because others in its boundary may take longer. */
const patience = 5000;
/** Milliseconds that an error is kept, so that a boundary can catch it. A new attempt subscribes again. */
const patienceWithErrors = 1000;

class EarlyList {
  /** @type {import("./view.js").View | null} */
  #view = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #listening = new AbortController();

  /** @param {Wanted} wanted @param {(early: EarlyList) => void} forget */
  constructor(wanted, forget) {
    this.wanted = wanted;
    this.forget = forget;
    this.list = wanted.client.subscribe(wanted.query, wanted.options);
    const events = /** @type {EventTarget} */ (this.list);
    /**
     * Resolved with the first rows, or when none will come.
     *
     * @type {Promise<void>}
     */
    this.promise = new Promise((resolve) => {
      const looked = () => {
        if (!this.isSettled) return;
        this.#listening.abort();
        this.touch();
        resolve();
      };
      for (const type of ["change", "status"]) events.addEventListener(type, looked, { signal: this.#listening.signal });
    });
  }

  get isSettled() {
    return this.list.state.version !== null || this.list.status === "failed" || this.list.status === "closed";
  }

  /** The first rows. They do not change until the list is claimed, so that all renders before show the same. */
  get view() {
    return this.#view ??= viewOf(this.list, this.wanted);
  }

  /** Extends the time in which a component may claim the list. */
  touch() {
    clearTimeout(this.#timer);
    if (!this.isSettled) return;
    const isOver = this.list.status === "failed" || this.list.status === "closed";
    this.#timer = setTimeout(() => {
      this.forget(this);
      this.list.close();
    }, isOver ? patienceWithErrors : patience);
    // In Node, the timer must not keep the process alive after rendering a page.
    /** @type {any} */ (this.#timer).unref?.();
  }

  claimed() {
    clearTimeout(this.#timer);
    this.#listening.abort();
    this.forget(this);
    return this.list;
  }
}

/** @type {WeakMap<import("../freshet.js").Client, Map<string, EarlyList>>} */
const lists = new WeakMap();

/**
 * The list that waits for a component; it is opened if missing.
 *
 * @param {Wanted} wanted
 */
export function earlyList(wanted) {
  const known = found(wanted);
  if (known) {
    if (known.list.status !== "failed") known.touch();
    return known;
  }
  const ofClient = lists.get(wanted.client) ?? new Map();
  lists.set(wanted.client, ofClient);
  const early = new EarlyList(wanted, (which) => {
    if (ofClient.get(wanted.key) === which) ofClient.delete(wanted.key);
  });
  ofClient.set(wanted.key, early);
  return early;
}

/**
 * The first rows, if they have come.
 *
 * @param {Wanted} wanted
 */
export function earlyView(wanted) {
  const early = found(wanted);
  return early?.isSettled ? early.view : undefined;
}

/**
 * Hands the list to the caller, who must close it. A list without rows stays here: components wait for it.
 *
 * @param {Wanted} wanted
 */
export function claimEarlyList(wanted) {
  const early = found(wanted);
  return early?.isSettled ? early.claimed() : null;
}

/** @param {Wanted} wanted */
function found({ client, key }) {
  return lists.get(client)?.get(key);
}
