// @ts-check
/**
 * The part of the list in view, and its difference from the position of the scroll bar. Pure: no DOM.
 *
 * Writing `scrollTop` stops a wheel's or a finger's scrolling half-way. So during scrolling, rows that are inserted or
 * deleted above the view change only `top`, and everything is drawn lower than its place by `shift`. The bar is
 * corrected when scrolling is over, or when an end of the list comes near. Lists that are too tall for the bar are
 * scrolled pixel by pixel in the same way.
 */

/** @typedef {import("./layout.js").ListLayout} ListLayout */

/**
 * View heights: a scroll over more than these at once is a jump, as by dragging the scroll bar, and not made by a wheel
 * or finger.
 */
const longestScroll = 4;

export class ScrollPosition {
  /** Top of the view in the whole list. */
  top = 0;
  /** The last position of the scroll bar. */
  scrollTop = 0;

  /** The difference between a position in the list and that on the scrolled canvas. */
  get shift() {
    return this.scrollTop - this.top;
  }

  /**
   * Takes the position to which the user has scrolled.
   *
   * @param {number} scrollTop @param {ListLayout} layout @param {number} viewHeight
   */
  scrolled(scrollTop, layout, viewHeight) {
    // If lists bounce at their ends, the bar goes beyond them.
    const position = Math.min(Math.max(0, scrollTop), layout.lastScrollTop(viewHeight));
    const distance = position - this.scrollTop;
    if (distance === 0) return;
    this.scrollTop = position;
    if (Math.abs(distance) <= longestScroll * viewHeight) this.moveTo(this.top + distance, layout, viewHeight);
    else this.moveTo(layout.topFor(position, viewHeight), layout, viewHeight);
  }

  /**
   * Brings another position into view, or the same rows at their new position.
   *
   * @param {number} top @param {ListLayout} layout @param {number} viewHeight
   */
  moveTo(top, layout, viewHeight) {
    this.top = Math.min(Math.max(0, top), layout.lastTop(viewHeight));
  }

  /**
   * Whether the bar must be corrected even during scrolling: too little of it is left to reach the end of the list.
   *
   * @param {ListLayout} layout @param {number} viewHeight
   */
  isPressing(layout, viewHeight) {
    const last = layout.lastScrollTop(viewHeight);
    const isNearEnd = (/** @type {number} */ position) => position < viewHeight || position > last - viewHeight;
    const right = layout.scrollTopFor(this.top, viewHeight);
    return Math.abs(right - this.scrollTop) >= 1 && (isNearEnd(right) || isNearEnd(this.scrollTop));
  }
}
