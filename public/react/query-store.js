// @ts-check
/**
 * Follows one component's query, and is its store for `useSyncExternalStore`. Does not depend on React.
 *
 * - `#shown` is the list on the screen. A new query or window goes to the same list (`requery`, `setWindow`), so that
 *   rows in both results keep their identity, and the old rows stay until the new ones have come.
 * - `#coming` replaces it once complete, if a list cannot make the change: another client, or a window where there was
 *   none.
 * - Changes are announced in a microtask, so that several events of one server message cause one rendering.
 */

import { claimEarlyList } from "./early-lists.js";
import { emptyView, isSameView } from "./view.js";
import { canBecome, isSame } from "./wanted.js";

/** @typedef {import("./wanted.js").Wanted} Wanted */
/** @typedef {import("./view.js").View} View */
/** @typedef {import("../freshet.js").LiveList} LiveList */

/**
 * @typedef {object} Followed
 * @property {LiveList} list @property {AbortController} listening
 * @property {Wanted} begun the query it was opened for
 * @property {Wanted | null} accepted the query that its rows answer
 * @property {number} requeries how many are unanswered
 */

export class QueryStore {
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {View} */
  #view;
  #first;
  /** @type {Followed | null} */
  #shown = null;
  /** @type {Followed | null} */
  #coming = null;
  /** @type {Wanted | null} */
  #wanted = null;
  /** @type {Wanted | null} */
  #answered;
  /**
   * The error that keeps the wanted query from being shown.
   *
   * @type {Error | null}
   */
  #refusal = null;
  #isRetained = false;
  #isAnnounced = false;

  /** @param {View} [view] shown until a list is followed */
  constructor(view = emptyView) {
    this.#view = view;
    this.#first = view;
    this.#answered = view.answered;
  }

  subscribe = (/** @type {() => void} */ listener) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  getSnapshot = () => this.#view;

  /** As above, for the whole of a hydration. */
  getServerSnapshot = () => this.#first;

  /**
   * Called when the component is mounted. The returned function unmounts it. StrictMode and Fast Refresh mount it again
   * at once, and the list stays.
   */
  retain() {
    this.#isRetained = true;
    return () => {
      this.#isRetained = false;
      queueMicrotask(() => {
        if (!this.#isRetained) this.#release();
      });
    };
  }

  /**
   * @param {Wanted | null} wanted @param {boolean} hasWaited whether an early list may be waiting for the component
   */
  follow(wanted, hasWaited) {
    if (isSame(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#refusal = null;
    this.#end(this.#coming);
    this.#coming = null;
    if (!wanted) this.#stop();
    else if (this.#shown && this.#canLead(this.#shown, wanted)) this.#lead(this.#shown, wanted);
    else this.#open(wanted, hasWaited);
    this.#announce();
  }

  /** @param {Followed} followed @param {Wanted} wanted */
  #canLead({ list, begun }, wanted) {
    // Before a result has come there is nothing to requery from.
    return canBecome(begun, wanted) && list.state.version !== null && list.status !== "closed";
  }

  /** @param {Followed} followed @param {Wanted} wanted */
  #lead(followed, wanted) {
    const { list, accepted, requeries } = followed;
    const { query, queryKey, options: { window } } = wanted;
    const isOtherQuery = accepted?.queryKey !== queryKey || requeries > 0 || list.status === "failed";
    if (isOtherQuery) followed.requeries += 1;
    // The component may have wanted another kind of list in between, and now wants the shown one again.
    const answer = isOtherQuery ? list.requery(query, window && { window }) : window ? list.setWindow(window) : Promise.resolve();
    const done = (/** @type {Error | null} */ refusal) => {
      if (isOtherQuery) followed.requeries -= 1;
      if (!refusal) followed.accepted = wanted;
      if (this.#wanted !== wanted || this.#shown !== followed) return;
      this.#refusal = refusal;
      this.#answered = wanted;
      this.#announce();
    };
    answer.then(() => done(null), done);
  }

  /** @param {Wanted} wanted @param {boolean} hasWaited */
  #open(wanted, hasWaited) {
    const list = (hasWaited ? claimEarlyList(wanted) : null) ?? wanted.client.subscribe(wanted.query, wanted.options);
    /** @type {Followed} */
    const followed = { list, listening: new AbortController(), begun: wanted, accepted: null, requeries: 0 };
    const { signal } = followed.listening;
    const events = /** @type {EventTarget} */ (list);
    for (const type of ["change", "status", "error"]) events.addEventListener(type, () => this.#changed(followed), { signal });
    if (this.#view.state.version === null || list.state.version !== null) this.#show(followed);
    else this.#coming = followed;
    this.#changed(followed);
  }

  /** @param {Followed} followed */
  #changed(followed) {
    const { list, begun } = followed;
    const isFailed = list.status === "failed";
    if (list.state.isComplete && !followed.accepted) {
      followed.accepted = begun;
      if (this.#wanted === begun) this.#answered = begun;
    }
    if (followed === this.#coming) {
      if (list.state.isComplete) this.#show(followed);
      else if (isFailed) this.#refuse(followed);
    } else if (isFailed) {
      this.#answered = this.#wanted;
    }
    this.#announce();
  }

  /** @param {Followed} followed */
  #show(followed) {
    if (this.#shown !== followed) this.#end(this.#shown);
    this.#shown = followed;
    if (this.#coming === followed) this.#coming = null;
  }

  /**
   * Records a refusal. The shown rows stay.
   *
   * @param {Followed} followed
   */
  #refuse(followed) {
    this.#refusal = followed.list.error;
    this.#answered = followed.begun;
    this.#coming = null;
    this.#end(followed);
  }

  /** @param {Followed | null} followed */
  #end(followed) {
    followed?.listening.abort();
    followed?.list.close();
  }

  /** Ends all lists. */
  #stop() {
    this.#end(this.#shown);
    this.#shown = null;
    this.#answered = null;
    this.#view = emptyView;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Called when the component is unmounted. If it is mounted again, its rows show until newer ones have come. */
  #release() {
    this.#end(this.#shown);
    this.#end(this.#coming);
    this.#shown = null;
    this.#coming = null;
    this.#wanted = null;
  }

  #announce() {
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    queueMicrotask(() => {
      this.#isAnnounced = false;
      const view = this.#seen();
      if (isSameView(view, this.#view)) return;
      this.#view = view;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** @returns {View} */
  #seen() {
    const answered = this.#answered;
    // Rows from before a release, or of a claimed list, stay shown until the next list's rows have come.
    if (!this.#shown) return { ...this.#view, answered, error: this.#refusal, isRefused: this.#refusal !== null };
    const { list } = this.#shown;
    const { state, status } = list;
    return { list, state, status, error: this.#refusal ?? list.error, answered, isRefused: this.#refusal !== null || status === "failed" };
  }
}
