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
  /** The status that was announced last. */
  #status = "closed";
  /**
   * Options of the next list that begins, except its window, which the element chooses.
   *
   * @type {import("../freshet.js").ListOptions}
   */
  listOptions = {};
  /**
   * The reason why no rows are shown.
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
      // The event is not called `change`, because form controls in rows send that.
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
   * @param {import("./layout.js").Range} _range the rows in view @returns {import("./types.js").Window}
   */
  windowFor(_range) {
    throw new Error("An element that follows a query says which rows it holds.");
  }

  /**
   * @protected @returns {import("./layout.js").Range} the rows that will be in view in a list that is not loaded yet
   */
  get expected() {
    return { first: 0, last: 0 };
  }

  /** @protected @returns {import("./layout.js").Range} the rows in view */
  get inView() {
    return this.expected;
  }

  /** @protected A list begins. */
  opened() {}

  /** @protected The list has ended. */
  closed() {}

  /** @protected @param {ChangeEvent} _event @param {boolean} _isOtherQuery */
  changed(_event, _isOtherQuery) {}

  /** @protected Called when the status or the query has changed, or the answer to a query is outstanding. */
  showSituation() {}

  // The element's life.

  /**
   * Sets properties again that a page has set before the element was defined, because these hide the accessors of the
   * class.
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
   * Handles an attribute that determines the query or its source.
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
   * The query. After a change, the shown rows move to those of the new query.
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
    // Before rows have come there is no result to requery from.
    const isShown = ["live", "reconnecting", "waiting"].includes(this.status);
    if (query && isShown && !this.#isOpeningSoon) this.source.requery(query, this.inView);
    else this.openSoon();
    this.showSituation();
  }

  /** @param {string | null} text */
  #readQuery(text) {
    try {
      // The property is not used here: a page may have set it before the setter existed, which hides the setter.
      this.#ask(text === null ? null : JSON.parse(text));
    } catch (error) {
      this.failed(new Error(`The attribute "query" is no JSON: ${/** @type {Error} */ (error).message}`));
    }
  }

  /** @protected */
  openSoon() {
    if (this.#isOpeningSoon) return;
    this.#isOpeningSoon = true;
    // The list opens in a microtask, so that all attributes and properties that are set together count.
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
    // While rows are shown, the page decides how to report the error.
    if (!this.list?.state.total && this.status !== "waiting") this.failure = String(error?.message ?? error);
    this.showSituation();
    this.dispatchEvent(new ErrorEvent("error", { error, message: String(error?.message ?? error) }));
  }
}
