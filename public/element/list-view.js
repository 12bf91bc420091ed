// @ts-check
/**
 * The list on the screen. Only the rows in view, and a few around them, have elements.
 *
 * Everything is drawn at most once a frame. `#pending` has the changes since the last frame. The screen shows `#drawn`,
 * laid out by `#layout`; only `draw` goes from there to the newest state.
 */

import { ActiveRow } from "./active-row.js";
import { ListLayout } from "./layout.js";
import { PendingChanges } from "./pending-changes.js";
import { ScrollPosition } from "./scroll-position.js";
import { Stage } from "./stage.js";
import { Transition } from "./transition.js";

/** @typedef {import("./types.js").ListState} ListState */
/** @typedef {import("./types.js").ChangeEvent} ChangeEvent */
/** @typedef {import("./layout.js").Range} Range */
/** @typedef {import("./layout.js").Heights} Heights */

/**
 * The contents of the screen.
 *
 * @typedef {object} Frame
 * @property {ListState} state @property {ListLayout} layout @property {boolean} hasHeaders
 * @property {number} top of the view in the list @property {number} viewHeight
 * @property {number} shift see ScrollPosition
 * @property {number} rowsAbove the first row, which count in the rows' numbers @property {boolean} isPartial whether
 * the last section has more rows
 * @property {ActiveRow} active @property {PendingChanges | null} change changes since the last frame
 */

/** Milliseconds without a scroll event after which scrolling is over. */
const scrollPause = 150;

export class ListView {
  active = new ActiveRow();
  position = new ScrollPosition();
  /** Rows of the grid that the page put above the list's own: column headers. */
  rowsAbove = 0;
  /** Whether there are more rows after the last one. */
  isPartial = false;
  /** @type {Range} */
  range = { first: 0, last: 0 };
  /** @type {PendingChanges | null} */
  #pending = null;
  /** @type {ListState | null} */
  #drawn = null;
  /** @type {ListState | null} */
  #state = null;
  /** @type {Heights} */
  #heights = { row: 36, header: 32 };
  #layout = new ListLayout([], this.#heights);
  #viewHeight = 0;
  #frame = 0;
  #lastScroll = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settling;
  /** Whether to correct the scroll bar even during scrolling. */
  #isJumping = false;

  /**
   * @param {HTMLElement} scroller @param {HTMLElement} canvas
   * @param {import("./stage.js").Makers} makers
   * @param {object} host
   * @param {() => boolean} host.hasFocus whether the focus is in one of the rows
   * @param {(draw: () => void) => void} host.keepFocus draws, and then restores the focus
   * @param {() => void} host.drawn called after each drawing
   */
  constructor(scroller, canvas, makers, host) {
    this.scroller = scroller;
    this.canvas = canvas;
    this.host = host;
    this.stage = new Stage(canvas, makers);
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  get layout() {
    return this.#layout;
  }

  get rows() {
    return this.stage.rows;
  }

  get state() {
    return this.#state;
  }

  /** Rows that fit into the view. */
  get page() {
    return Math.floor((this.#viewHeight - this.#headerHeight) / this.#heights.row);
  }

  /** The rows that will be in view in a list that is not loaded yet. */
  get expected() {
    return { first: 0, last: Math.max(20, this.page) };
  }

  /** The first row that is in view as a whole, below the header. */
  get firstWhole() {
    const { top } = this.position;
    const { first } = this.#layout.rowsBetween(top + this.#headerHeight, top + this.#viewHeight);
    const isCut = this.#layout.rowTop(first) < top + this.#headerHeight;
    return Math.min(isCut ? first + 1 : first, this.#layout.total - 1);
  }

  /**
   * Takes the available height, and the heights of rows and headers.
   *
   * @param {number} viewHeight @param {Heights} heights
   */
  measured(viewHeight, heights) {
    const wasHidden = this.#viewHeight === 0;
    if (viewHeight === 0) {
      // A hidden list has no heights.
      this.#viewHeight = 0;
      return;
    }
    if (wasHidden) this.#forgetBar();
    const isOther = heights.row !== this.#heights.row || heights.header !== this.#heights.header;
    if (viewHeight === this.#viewHeight && !isOther) return;
    this.#heights = heights;
    this.#viewHeight = viewHeight;
    this.draw();
  }

  /**
   * Shows another list, from its first row on.
   *
   * @param {ListState} state
   */
  start(state) {
    this.#pending = null;
    this.active = new ActiveRow();
    this.#state = state;
    this.position.top = 0;
    this.#isJumping = true;
    this.drawSoon();
  }

  /**
   * Called when a message has changed the list.
   *
   * @param {ChangeEvent} event @param {boolean} isOtherQuery
   * @returns {boolean} whether the active row's position is unknown
   */
  changed(event, isOtherQuery) {
    this.#pending ??= this.#newPending(event.before);
    this.#pending.add(event);
    this.#pending.isOtherQuery ||= isOtherQuery;
    // A partial list never grows by itself, so more rows mean that the whole list has come.
    this.#pending.isExtension ||= this.isPartial && event.after.total > event.before.total;
    this.#state = event.after;
    this.drawSoon();
    return this.active.follow(event);
  }

  /**
   * Begins to collect changes. At the very top new rows come into view; elsewhere the first row below the header keeps
   * its position.
   *
   * @param {ListState} before
   */
  #newPending(before) {
    const { top } = this.position;
    const isAtTop = top <= 0 || this.#layout.total === 0;
    const anchor = isAtTop ? -1 : this.#layout.rowsBetween(top + this.#headerHeight, top + this.#viewHeight).first;
    return new PendingChanges(before, Math.min(anchor, this.#layout.total - 1));
  }

  get #headerHeight() {
    return this.#layout.heights.header;
  }

  #scrolled() {
    if (Math.abs(this.scroller.scrollTop - this.position.scrollTop) < 0.5) return;
    this.#lastScroll = performance.now();
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.draw(), scrollPause + 10);
    this.drawSoon();
  }

  drawSoon() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.draw());
  }

  /** Restores the scroll position, which elements lose when they are moved in the document. */
  reattached() {
    this.#forgetBar();
    this.drawSoon();
  }

  #forgetBar() {
    this.position.scrollTop = this.scroller.scrollTop;
    this.#isJumping = true;
  }

  /** Stops drawing; the rows stay. */
  stop() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#settling);
    this.#frame = 0;
  }

  /**
   * Scrolls a position to the top of the view.
   *
   * @param {() => number} topOf the position in the whole list, called after the newest state is laid out
   */
  scrollTo(topOf) {
    this.#catchUp();
    this.position.moveTo(topOf(), this.#layout, this.#viewHeight);
    this.#isJumping = true;
    this.draw();
  }

  /**
   * Scrolls no further than needed for a row to be in view, below the header.
   *
   * @param {number} offset
   */
  reveal(offset) {
    this.#catchUp();
    const { row, header } = this.#layout.heights;
    const top = this.#layout.rowTop(offset);
    if (top - header < this.position.top) this.scrollTo(() => top - header);
    else if (top + row > this.position.top + this.#viewHeight) this.scrollTo(() => top + row - this.#viewHeight);
    else this.draw();
  }

  /** Draws what was received, and takes in the scroll position. */
  #catchUp() {
    if (this.#pending || this.#drawn !== this.#state) this.draw();
    else this.position.scrolled(this.scroller.scrollTop, this.#layout, this.#viewHeight);
  }

  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const state = this.#state;
    if (!state || this.#viewHeight === 0) return;
    this.position.scrolled(this.scroller.scrollTop, this.#layout, this.#viewHeight);
    const transition = this.#pending && this.#drawn
      ? new Transition(this.#pending, this.#layout, this.position.top, this.#viewHeight) : null;
    this.#lay(state);
    this.#putBarRight();
    const frame = {
      state, layout: this.#layout, hasHeaders: this.#layout.heights.header > 0,
      top: this.position.top, shift: this.position.shift, viewHeight: this.#viewHeight,
      rowsAbove: this.rowsAbove, isPartial: this.isPartial, active: this.active, change: this.#pending,
    };
    this.#pending = null;
    this.#drawn = state;
    this.active.recognise(state);
    this.host.keepFocus(() => this.stage.show(frame, transition, this.host.hasFocus()));
    this.range = this.#layout.rowsBetween(frame.top, frame.top + this.#viewHeight);
    this.host.drawn();
  }

  /**
   * Lays the newest state out, with the view staying on the rows it shows.
   *
   * @param {ListState} state
   */
  #lay(state) {
    const heights = hasHeaders(state) ? this.#heights : { ...this.#heights, header: 0 };
    const old = this.#layout;
    const isOther = heights.row !== old.heights.row || heights.header !== old.heights.header;
    const change = this.#pending;
    if (!isOther && !change && state === this.#drawn) return;
    const { top } = this.position;
    const oldAnchor = change ? change.firstAnchor : top > 0 ? old.rowsBetween(top + old.heights.header, top).first : -1;
    const anchor = change ? change.anchor : oldAnchor;
    this.#layout = new ListLayout(state.sections, heights);
    const height = `${this.#layout.scrollHeight}px`;
    if (this.canvas.style.height !== height) this.canvas.style.height = height;
    let newTop = top;
    if (change?.isOtherQuery) newTop = 0;
    else if (anchor >= 0) newTop += this.#layout.rowTop(anchor) - old.rowTop(oldAnchor);
    this.position.moveTo(newTop, this.#layout, this.#viewHeight);
  }

  /** Corrects the scroll bar. Not during scrolling, see ScrollPosition. */
  #putBarRight() {
    const { position } = this;
    const right = this.#layout.scrollTopFor(position.top, this.#viewHeight);
    const isScrolling = performance.now() - this.#lastScroll < scrollPause;
    const isDue = this.#isJumping || !isScrolling || position.isPressing(this.#layout, this.#viewHeight);
    this.#isJumping = false;
    if (!isDue || Math.abs(right - position.scrollTop) < 1) return;
    this.scroller.scrollTop = right;
    // Browsers round the position.
    position.scrollTop = this.scroller.scrollTop;
  }
}

/** @param {ListState} state a list without sections is one that has no name */
export function hasHeaders({ sections }) {
  return sections.length !== 1 || sections[0].name !== "";
}
