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
 * This file is the element: attributes, properties, events. The drawing is in element/list-view.js, the keys in
 * element/navigation.js, the source of rows in element/source.js. docs/javascript.md says how to use it.
 */

export { connect, sql } from "./freshet.js";

import { ListView } from "./element/list-view.js";
import { Navigation } from "./element/navigation.js";
import { Measure, Parts } from "./element/parts.js";
import { adoptStyle } from "./element/style.js";
import { Surroundings, texts } from "./element/surroundings.js";
import { TemplatedElement } from "./element/templated-element.js";
import { windowAround } from "./element/wanted-window.js";

/** @typedef {import("./element/types.js").ChangeEvent} ChangeEvent */
/** @typedef {import("./element/row-view.js").RowView} RowView */

export class LiveListElement extends TemplatedElement {
  static observedAttributes = ["src", "query", "token", "label", "noindex"];
  /** The texts. Change them for other languages before the first list is made. */
  static texts = texts;

  #parts = new Parts();
  #navigation = new Navigation(this.#parts.scroller, (row) => this.#activate(row), () => {
    this.#surroundings.sayAwaited();
    this.dispatchEvent(new CustomEvent("awaited"));
  });
  #view = new ListView(this.#parts.scroller, this.#parts.canvas, this.recipes, {
    hasFocus: () => this.#navigation.hasFocus,
    keepFocus: (draw) => this.#navigation.keepFocus(draw),
    drawn: () => this.#drawn(),
  });
  #surroundings = new Surroundings(this, this.#parts, (section) => this.scrollToSection(section),
    () => this.recipes.template('template[slot="empty"]'), () => this.source.situation,
    () => this.recipes.template('template[slot="totals"]'), (element) => this.#view.stage.motion.tint(element, "changed"));
  #measure = new Measure(this, this.#parts, () => this.#measured());
  #range = { first: 0, last: 0 };

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
    if (this.source.list) this.#view.reattached();
    else this.openSoon();
  }

  /** `moveBefore` does not remove the element from the document, so the list stays open. */
  connectedMoveCallback() {
    adoptStyle(this.getRootNode());
  }

  /** @param {string} name @param {string | null} old @param {string | null} value */
  attributeChangedCallback(name, old, value) {
    if (old === value) return;
    if (name === "label") this.#parts.scroller.setAttribute("aria-label", value ?? "");
    else if (name === "noindex") this.showSituation();
    else this.followAttribute(name, value);
  }

  // The shown state.

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
   * Whether the rows are only the first ones of a longer list: then the last section may have more rows too, and their
   * number is unknown.
   */
  get partial() {
    return this.#view.isPartial;
  }

  set partial(isPartial) {
    if (isPartial === this.#view.isPartial) return;
    this.#view.isPartial = isPartial;
    this.showSituation();
    this.redrawSoon();
  }

  // The visible state.

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
   * The row that an element is or is in; null if it is not in a row.
   *
   * @param {Element | null} element
   */
  rowAt(element) {
    const view = this.#navigation.rowOf(element);
    return view ? this.#describe(view) : null;
  }

  // Methods.

  /** @param {FocusOptions} [_options] ignored: the active row gets the focus and comes into view */
  focus(_options) {
    this.#navigation.enter();
  }

  /** @param {number} section */
  scrollToSection(section) {
    this.#view.scrollTo(() => this.#view.layout.sectionTop(section));
  }

  /** @param {number} offset of the row to show at the top */
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
   * @returns {Promise<boolean>} whether the row exists
   */
  async scrollToKey(key) {
    const { list } = this;
    const located = await list?.locate(key);
    if (!located || located.offset === null || list !== this.list) return false;
    this.scrollToOffset(located.offset);
    return true;
  }

  /** @protected @param {import("./element/layout.js").Range} range */
  windowFor(range) {
    return windowAround(range);
  }

  /** @protected */
  get expected() {
    return this.#view.expected;
  }

  /** @protected */
  get inView() {
    return this.#range;
  }

  /** @protected */
  opened() {
    this.#measure.start();
    if (this.list) this.#view.start(this.list.state);
  }

  /** @protected */
  closed() {
    this.#view.stop();
    this.#surroundings.stop();
    if (!this.isConnected) this.#measure.stop();
  }

  /** @protected */
  redrawSoon() {
    this.#view.drawSoon();
  }

  // Events.

  /** @protected @param {ChangeEvent} event @param {boolean} isOtherQuery */
  changed(event, isOtherQuery) {
    const isLost = this.#view.changed(event, isOtherQuery);
    if (isLost && this.list) this.#view.active.locate(this.list).then(() => this.#view.drawSoon());
  }

  #drawn() {
    const { range, isPartial } = this.#view;
    // Called after this drawing, because it begins the next one.
    if (!isPartial) queueMicrotask(() => this.#navigation.goOn());
    this.source.look(range);
    this.showSituation();
    this.#surroundings.index.follow(this.#view.layout.sectionAt(this.#view.position.top));
    if (range.first === this.#range.first && range.last === this.#range.last) return;
    this.#range = range;
    this.dispatchEvent(new CustomEvent("range", { detail: { ...range } }));
  }

  #measured() {
    this.#measure.showSizes();
    this.#view.measured(this.#measure.viewHeight, this.#measure.heights);
  }

  /** @protected */
  showSituation() {
    const { rowsAbove, isPartial } = this.#view;
    const { isOutdated, isAsking } = this.source;
    this.#surroundings.show(this.list?.state ?? null, this.status, this.failure, { rowsAbove, isPartial, isOutdated, isAsking });
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
