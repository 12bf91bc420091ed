// @ts-check
/**
 * The base of elements that follow a query: attributes and properties that name the query, and a subscription that
 * lives as long as the element is in a document.
 */

import { isSameQuery, Source } from "./source.js";

/** @typedef {import("./types.js").Client} Client */
/** @typedef {import("./types.js").ChangeEvent} ChangeEvent */
/** @typedef {import("./types.js").Query} Query */

export class FollowingElement extends HTMLElement {
  /** @type {Client | null} */
  #client = null;
  /** @type {Query | null} */
  #query = null;
  #isOpeningSoon = false;
  /** As it was announced last. */
  #status = "closed";
  /**
   * Options of the next list that begins, except its window, which the element chooses.
   *
   * @type {import("../freshet.js").ListOptions}
   */
  listOptions = {};
  /**
   * Why nothing is shown.
   *
   * @protected
   * @type {string | null}
   */
  failure = null;
  /** @protected */
  source = new Source({
    changed: (event, isOtherQuery) => {
      this.failure = null;
      this.changed(event, isOtherQuery);
      // Not `change`: that is what form controls in rows say.
      this.dispatchEvent(new CustomEvent("update", { detail: event }));
    },
    answered: () => {
      this.showSituation();
      this.dispatchEvent(new CustomEvent("answered"));
    },
    status: () => this.#statusChanged(),
    failed: (error) => this.failed(error),
  }, (range) => this.windowFor(range));

  // Subclasses override these.

  /**
   * @protected
   * @param {import("./layout.js").Range} _range what is in view @returns {import("./types.js").Window}
   */
  windowFor(_range) {
    throw new Error("An element that follows a query says which rows it holds.");
  }

  /** @protected @returns {import("./layout.js").Range} what will be in view of a list that is not loaded yet */
  get expected() {
    return { first: 0, last: 0 };
  }

  /** @protected @returns {import("./layout.js").Range} what is in view */
  get inView() {
    return this.expected;
  }

  /** @protected A list begins. */
  opened() {}

  /** @protected The list has ended. */
  closed() {}

  /** @protected @param {ChangeEvent} _event @param {boolean} _isOtherQuery */
  changed(_event, _isOtherQuery) {}

  /** @protected The status, the query or what is asked has changed. */
  showSituation() {}

  // The element's life.

  /**
   * A property that a page has set before the element was defined hides the accessor of the class; this sets it anew.
   *
   * @protected
   * @param {string[]} names
   */
  upgrade(...names) {
    const self = /** @type {any} */ (this);
    for (const name of names.filter((candidate) => Object.hasOwn(self, candidate))) {
      const value = self[name];
      delete self[name];
      self[name] = value;
    }
  }

  disconnectedCallback() {
    // An element that is moved within the document keeps its list.
    queueMicrotask(() => {
      if (!this.isConnected) this.#close();
    });
  }

  /**
   * One of the attributes that say what is followed.
   *
   * @protected
   * @param {string} name @param {string | null} value
   */
  followAttribute(name, value) {
    if (name === "query") this.#readQuery(value);
    else if (!this.#client) this.openSoon();
  }

  // The query and its source.

  /** The connection to use; without one the element opens its own, to `src`. */
  get client() {
    return this.#client;
  }

  set client(client) {
    if (client === this.#client) return;
    this.#client = client;
    this.openSoon();
  }

  /**
   * The query. Changing it leads from the rows that are shown to those of the new query.
   *
   * @returns {Query | null}
   */
  get query() {
    return this.#query;
  }

  /** @param {Query | string | null} query React 19 sets the property where a page has the attribute: JSON */
  set query(query) {
    if (typeof query === "string") this.#readQuery(query);
    else this.#ask(query);
  }

  /** The subscription, while the element is in a document and has a query. */
  get list() {
    return this.source.list;
  }

  get status() {
    return this.source.list?.status ?? "closed";
  }

  /** @param {Query | null} query */
  #ask(query) {
    if (isSameQuery(query, this.#query)) return;
    this.#query = query;
    // While nothing has come yet there is nothing to lead from.
    const isShown = ["live", "reconnecting", "waiting"].includes(this.status);
    if (query && isShown && !this.#isOpeningSoon) this.source.requery(query, this.inView);
    else this.openSoon();
    this.showSituation();
  }

  /** @param {string | null} text */
  #readQuery(text) {
    try {
      // Not by the property: a page may have set that before there was a setter.
      this.#ask(text === null ? null : JSON.parse(text));
    } catch (error) {
      this.failed(new Error(`The attribute "query" is no JSON: ${/** @type {Error} */ (error).message}`));
    }
  }

  /** @protected */
  openSoon() {
    if (this.#isOpeningSoon) return;
    this.#isOpeningSoon = true;
    // Once all attributes and properties that are set together are there.
    queueMicrotask(() => {
      this.#isOpeningSoon = false;
      if (this.isConnected) this.#open();
    });
  }

  #open() {
    this.#close();
    if (!this.#query) return;
    const place = { src: this.getAttribute("src"), token: this.getAttribute("token") };
    try {
      this.source.open(this.#client ?? place, this.#query, this.expected, this.listOptions);
    } catch (error) {
      this.failed(error);
      return;
    }
    this.failure = null;
    this.opened();
    this.#statusChanged();
  }

  #close() {
    this.source.close();
    this.closed();
    this.#statusChanged();
  }

  #statusChanged() {
    this.showSituation();
    if (this.#status === this.status) return;
    this.#status = this.status;
    this.dispatchEvent(new CustomEvent("status", { detail: this.status }));
  }

  /** @protected @param {any} error */
  failed(error) {
    // With rows on the screen it is the page's part to say what did not work.
    if (!this.list?.state.total && this.status !== "waiting") this.failure = String(error?.message ?? error);
    this.showSituation();
    this.dispatchEvent(new ErrorEvent("error", { error, message: String(error?.message ?? error) }));
  }
}
