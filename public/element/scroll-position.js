// @ts-check
/**
 * What part of the list is in view, and how that differs from what the scroll bar says. Pure: no DOM.
 *
 * Writing `scrollTop` stops a wheel's or a finger's scrolling half-way. So during scrolling, rows that come or go
 * above the view change `top` alone, and everything is drawn `shift` lower than where it belongs; the bar is put right
 * when scrolling is over, or when an end of the list comes near. Lists that are taller than the bar can say are
 * scrolled pixel by pixel in the same way.
 */

/** @typedef {import("./layout.js").ListLayout} ListLayout */

/** A scroll bar that is dragged jumps; more views than these at once are no wheel's or finger's doing. */
const longestScroll = 4;

export class ScrollPosition {
  /** Top of the view in the whole list. */
  top = 0;
  /** The last position of the scroll bar. */
  scrollTop = 0;

  /** The difference between a place in the list and the one on the scrolled canvas. */
  get shift() {
    return this.scrollTop - this.top;
  }

  /**
   * Takes in where the user has scrolled to.
   *
   * @param {number} scrollTop @param {ListLayout} layout @param {number} viewHeight
   */
  scrolled(scrollTop, layout, viewHeight) {
    // Where lists bounce at their ends, the bar goes beyond them.
    const position = Math.min(Math.max(0, scrollTop), layout.lastScrollTop(viewHeight));
    const distance = position - this.scrollTop;
    if (distance === 0) return;
    this.scrollTop = position;
    if (Math.abs(distance) <= longestScroll * viewHeight) this.moveTo(this.top + distance, layout, viewHeight);
    else this.moveTo(layout.topFor(position, viewHeight), layout, viewHeight);
  }

  /**
   * Other rows are to be in view, or the same ones stand elsewhere.
   *
   * @param {number} top @param {ListLayout} layout @param {number} viewHeight
   */
  moveTo(top, layout, viewHeight) {
    this.top = Math.min(Math.max(0, top), layout.lastTop(viewHeight));
  }

  /**
   * Whether the bar has to be put right even during scrolling: too little of it is left to reach the end of the list.
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
