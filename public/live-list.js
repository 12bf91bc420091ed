// @ts-check
/**
 * `<live-list>`: give it a source, a query and a row template; it draws a live, sectioned list of any length.
 *
 * ```html
 * <live-list src="v1/live" query='{"from": "well", "sectionBy": "county", "orderBy": ["name"]}' label="Wells">
 *   <template><b data-text="name"></b> <span data-text="depth"></span></template>
 * </live-list>
 * ```
 *
 * This file is the element: attributes, properties, events. What it draws is in element/list-view.js, what keys do in
 * element/navigation.js, where rows come from in element/source.js. docs/javascript.md says how to use it.
 */

export { connect, sql } from "./freshet.js";

import { ListView } from "./element/list-view.js";
import { Navigation } from "./element/navigation.js";
import { Measure, Parts } from "./element/parts.js";
import { isSameQuery, Source } from "./element/source.js";
import { adoptStyle } from "./element/style.js";
import { Surroundings, texts } from "./element/surroundings.js";
import { TemplatedElement } from "./element/templated-element.js";

/** @typedef {import("./element/types.js").Client} Client */
/** @typedef {import("./element/types.js").ChangeEvent} ChangeEvent */
/** @typedef {import("./element/types.js").Query} Query */
/** @typedef {import("./element/row-view.js").RowView} RowView */

export class LiveListElement extends TemplatedElement {
  static observedAttributes = ["src", "query", "token", "label", "noindex"];
  /** To be changed for other languages, before the first list is made. */
  static texts = texts;

  #parts = new Parts();
  #navigation = new Navigation(this.#parts.scroller, (row) => this.#activate(row));
  #view = new ListView(this.#parts.scroller, this.#parts.canvas, this.recipes, {
    hasFocus: () => this.#navigation.hasFocus,
    keepFocus: (draw) => this.#navigation.keepFocus(draw),
    drawn: () => this.#drawn(),
  });
  #surroundings = new Surroundings(this, this.#parts, (section) => this.scrollToSection(section),
    () => this.recipes.template('template[slot="empty"]'), () => this.#source.situation,
    () => this.recipes.template('template[slot="totals"]'), (element) => this.#view.stage.motion.tint(element, "changed"));
  #measure = new Measure(this, this.#parts, () => this.#measured());
  #source = new Source({
    changed: (event, isOtherQuery) => this.#changed(event, isOtherQuery),
    answered: () => this.#answered(),
    status: () => this.#statusChanged(),
    failed: (error) => this.#failed(error),
  });
  /** @type {Client | null} */
  #client = null;
  /**
   * Options of the next list that begins, except its window, which follows the view.
   *
   * @type {import("./freshet.js").ListOptions}
   */
  listOptions = {};
  /** @type {Query | null} */
  #query = null;
  #isOpeningSoon = false;
  /** As it was announced last. */
  #status = "closed";
  #range = { first: 0, last: 0 };
  /** @type {string | null} */
  #failure = null;

  constructor() {
    super();
    this.#navigation.view = this.#view;
  }

  // The element's life.

  connectedCallback() {
    this.upgrade("client", "query", "header", "partial", "renderRow", "renderSection", "rowTemplate", "sectionTemplate");
    adoptStyle(this.getRootNode());
    // A copied list contains copies of another element's parts.
    this.#parts.removeCopies(this);
    this.append(...this.#parts.all);
    this.#measure.start();
    if (this.#source.list) this.#view.reattached();
    else this.#openSoon();
  }

  disconnectedCallback() {
    // An element that is moved within the document keeps its list.
    queueMicrotask(() => {
      if (!this.isConnected) this.#close();
    });
  }

  /** `moveBefore` takes nothing out of the document. */
  connectedMoveCallback() {
    adoptStyle(this.getRootNode());
  }

  /** @param {string} name @param {string | null} old @param {string | null} value */
  attributeChangedCallback(name, old, value) {
    if (old === value) return;
    if (name === "query") this.#readQuery(value);
    else if (name === "label") this.#parts.scroller.setAttribute("aria-label", value ?? "");
    else if (name === "noindex") this.#showSurroundings();
    else if (!this.#client) this.#openSoon();
  }

  // The shown state.

  /** The connection to use; without one the list opens its own, to `src`. */
  get client() {
    return this.#client;
  }

  set client(client) {
    if (client === this.#client) return;
    this.#client = client;
    this.#openSoon();
  }

  /**
   * What is asked. Changing it leads from the rows that are shown to those of the new query.
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

  /** @param {Query | null} query */
  #ask(query) {
    if (isSameQuery(query, this.#query)) return;
    this.#query = query;
    // While nothing has come yet there is nothing to lead from.
    const isShown = ["live", "reconnecting", "waiting"].includes(this.status);
    if (query && isShown && !this.#isOpeningSoon) this.#source.requery(query, this.#range);
    else this.#openSoon();
    this.#showSurroundings();
  }

  /** @param {string | null} text */
  #readQuery(text) {
    try {
      // Not by the property: a page may have set that before there was a setter.
      this.#ask(text === null ? null : JSON.parse(text));
    } catch (error) {
      this.#failed(new Error(`The attribute "query" is no JSON: ${/** @type {Error} */ (error).message}`));
    }
  }

  /**
   * A row of column headers, which the page fills and listens to; it stays above the rows and scrolls sideways with
   * them.
   */
  get header() {
    return this.#parts.head;
  }

  set header(header) {
    this.#parts.setHead(header);
    this.#view.rowsAbove = header ? 1 : 0;
    if (this.isConnected) this.#measure.start();
    this.#measured();
  }

  /**
   * Whether the rows are only the first ones of a longer list: then the last section has more too, and their number is
   * not known.
   */
  get partial() {
    return this.#view.isPartial;
  }

  set partial(isPartial) {
    if (isPartial === this.#view.isPartial) return;
    this.#view.isPartial = isPartial;
    this.#showSurroundings();
    this.redrawSoon();
  }

  // The visible state.

  /** The subscription, while the element is in a document and has a query. */
  get list() {
    return this.#source.list;
  }

  get status() {
    return this.#source.list?.status ?? "closed";
  }

  /** Offsets of the rows in view, `last` excluded. */
  get visibleRange() {
    return { ...this.#range };
  }

  /** The row that keys act on. */
  get activeRow() {
    const { offset, key } = this.#view.active;
    return offset < 0 ? null : { offset, key };
  }

  /**
   * The row that an element is, or is in; null for anything else.
   *
   * @param {Element | null} element
   */
  rowAt(element) {
    const view = this.#navigation.rowOf(element);
    return view ? this.#describe(view) : null;
  }

  // Methods.

  /** @param {FocusOptions} [_options] not asked: the active row gets the focus, and comes into view */
  focus(_options) {
    this.#navigation.enter();
  }

  /** @param {number} section */
  scrollToSection(section) {
    this.#view.scrollTo(() => this.#view.layout.sectionTop(section));
  }

  /** @param {number} offset of a row that is to stand at the top */
  scrollToOffset(offset) {
    this.#view.scrollTo(() => this.#view.layout.rowTop(offset) - this.#view.layout.heights.header);
  }

  /**
   * Makes a row the active one: it comes into view, with the focus.
   *
   * @param {number} offset
   */
  focusRow(offset) {
    this.#navigation.goTo(offset);
  }

  /**
   * @param {any} key of a row, as `locate` takes it
   * @returns {Promise<boolean>} whether there is such a row
   */
  async scrollToKey(key) {
    const { list } = this;
    const located = await list?.locate(key);
    if (!located || located.offset === null || list !== this.list) return false;
    this.scrollToOffset(located.offset);
    return true;
  }

  #openSoon() {
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
    this.#measure.start();
    const place = { src: this.getAttribute("src"), token: this.getAttribute("token") };
    try {
      this.#source.open(this.#client ?? place, this.#query, this.#view.expected, this.listOptions);
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#failure = null;
    if (this.list) this.#view.start(this.list.state);
    this.#statusChanged();
  }

  #close() {
    this.#source.close();
    this.#view.stop();
    this.#surroundings.stop();
    if (!this.isConnected) this.#measure.stop();
    this.#statusChanged();
  }

  /** @protected */
  redrawSoon() {
    this.#view.drawSoon();
  }

  // Events.

  /** @param {ChangeEvent} event @param {boolean} isOtherQuery */
  #changed(event, isOtherQuery) {
    this.#failure = null;
    const isLost = this.#view.changed(event, isOtherQuery);
    if (isLost && this.list) this.#view.active.locate(this.list).then(() => this.#view.drawSoon());
    // Not `change`: that is what form controls in rows say.
    this.dispatchEvent(new CustomEvent("update", { detail: event }));
  }

  #answered() {
    this.#showSurroundings();
    this.dispatchEvent(new CustomEvent("answered"));
  }

  #drawn() {
    const { range } = this.#view;
    this.#source.look(range);
    this.#showSurroundings();
    this.#surroundings.index.follow(this.#view.layout.sectionAt(this.#view.position.top));
    if (range.first === this.#range.first && range.last === this.#range.last) return;
    this.#range = range;
    this.dispatchEvent(new CustomEvent("range", { detail: { ...range } }));
  }

  #measured() {
    this.#measure.showSizes();
    this.#view.measured(this.#measure.viewHeight, this.#measure.heights);
  }

  #statusChanged() {
    this.#showSurroundings();
    if (this.#status === this.status) return;
    this.#status = this.status;
    this.dispatchEvent(new CustomEvent("status", { detail: this.status }));
  }

  #showSurroundings() {
    const { rowsAbove, isPartial } = this.#view;
    const { isOutdated, isAsking } = this.#source;
    this.#surroundings.show(this.list?.state ?? null, this.status, this.#failure, { rowsAbove, isPartial, isOutdated, isAsking });
  }

  /** @param {any} error */
  #failed(error) {
    // With rows on the screen it is the page's part to say what did not work.
    if (!this.list?.state.total && this.status !== "waiting") this.#failure = String(error?.message ?? error);
    this.#showSurroundings();
    this.dispatchEvent(new ErrorEvent("error", { error, message: String(error?.message ?? error) }));
  }

  /** @param {RowView} view */
  #describe({ offset, row }) {
    const { state } = this.#view;
    if (!row || !state) return null;
    return { row, key: state.keyOf(row), path: state.pathOf(offset), offset };
  }

  /** @param {RowView} view */
  #activate(view) {
    const detail = this.#describe(view);
    if (detail) this.dispatchEvent(new CustomEvent("activate", { detail, bubbles: true, composed: true }));
  }
}

customElements.define("live-list", LiveListElement);
