// @ts-check
/**
 * How changes are made visible. If the user prefers reduced motion, colors show and nothing moves.
 *
 * Movement is limited: the eye cannot follow hundreds of movements a second, and drawing them would cost frames that
 * scrolling needs. Each element has at most one animation of a kind; a newer one continues from where the older one is.
 */

const gently = "cubic-bezier(0.2, 0.7, 0.2, 1)";
const slideDuration = 320;

/** How many rows may begin to move at once, and in each second of many changes. */
const mostMovements = { atOnce: 200, perSecond: 100 };
/** How many cells and rows may be colored at a time. */
const mostTints = 120;
/**
 * With more colored elements than this, colors fade in steps, because each change of a color repaints its row.
 */
const smoothTints = 16;

/**
 * Allows `atOnce` movements at once, and `perSecond` in each second. While more are wanted, none are allowed: seeing
 * half of so many movements would not make them easier to follow.
 */
export class Ration {
  #left;
  #last = 0;

  /** @param {{atOnce: number, perSecond: number}} limits */
  constructor({ atOnce, perSecond }) {
    this.atOnce = atOnce;
    this.perSecond = perSecond;
    this.#left = atOnce;
  }

  /**
   * Takes all of the movements or none.
   *
   * @param {number} count @param {number} now in milliseconds
   */
  take(count, now) {
    this.#left = Math.min(this.atOnce, this.#left + ((now - this.#last) / 1000) * this.perSecond);
    this.#last = now;
    const isGranted = count <= this.#left;
    this.#left = isGranted ? this.#left - count : 0;
    return isGranted;
  }
}

export class Motion {
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #ration = new Ration(mostMovements);
  /** @type {WeakMap<Element, {animation: Animation, distance: number}>} */
  #slides = new WeakMap();
  /** @type {Map<Element, Animation>} */
  #tints = new Map();

  /**
   * Whether this many rows may move now.
   *
   * @param {number} count
   */
  affords(count) {
    return !this.#still.matches && this.#ration.take(count, performance.now());
  }

  /**
   * The distance that an element still has to slide to its place.
   *
   * @param {Element} element
   */
  remaining(element) {
    const slide = this.#slides.get(element);
    const progress = slide?.animation.effect?.getComputedTiming().progress;
    return slide && progress !== null && progress !== undefined ? slide.distance * (1 - progress) : 0;
  }

  /**
   * Slides an element from its old position to its new one.
   *
   * @param {Element} element @param {number} distance old minus new top
   */
  slide(element, distance) {
    this.stop(element);
    if (Math.abs(distance) < 1) return;
    const keyframes = [{ transform: `translateY(${distance}px)` }, { transform: "none" }];
    const animation = element.animate(keyframes, { duration: slideDuration, easing: gently });
    this.#slides.set(element, { animation, distance });
    animation.onfinish = () => this.#slides.delete(element);
  }

  /**
   * Ends a slide: the element is at its place at once.
   *
   * @param {Element} element
   */
  stop(element) {
    this.#slides.get(element)?.animation.cancel();
    this.#slides.delete(element);
  }

  /**
   * Fades in an inserted row.
   *
   * @param {Element} element
   */
  enter(element) {
    this.stop(element);
    element.animate(
      [{ opacity: 0, transform: "translateX(-14px)" }, { opacity: 1, transform: "none" }],
      { duration: slideDuration, easing: gently });
  }

  /**
   * Fades out an element, and then removes it from the document.
   *
   * @param {HTMLElement} element
   */
  leave(element) {
    this.stop(element);
    element.classList.add("live-leaving");
    element.setAttribute("aria-hidden", "true");
    element.inert = true;
    const animation = element.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 260, easing: "ease-out" });
    animation.onfinish = animation.oncancel = () => element.remove();
  }

  /**
   * Colours an element for a while.
   *
   * @param {Element} element @param {"changed" | "inserted" | "moved"} reason
   */
  tint(element, reason) {
    this.#tints.get(element)?.cancel();
    if (this.#tints.size >= mostTints) return;
    const easing = this.#still.matches ? "steps(1, end)" : this.#tints.size >= smoothTints ? "steps(8, end)" : "ease-in";
    // The color fades to the element's own background, whatever it is.
    const animation = element.animate([{ backgroundColor: tints[reason], easing, offset: 0 }],
      { duration: reason === "changed" ? 1400 : 2200 });
    this.#tints.set(element, animation);
    animation.onfinish = animation.oncancel = () => {
      if (this.#tints.get(element) === animation) this.#tints.delete(element);
    };
  }
}

/**
 * Colors that the page may override; the defaults fit light and dark pages. They are opaque, because rows slide over
 * each other.
 */
const tints = {
  changed: "var(--changed, color-mix(in srgb, rgb(255 205 60) 45%, var(--surface, Canvas)))",
  inserted: "var(--inserted, color-mix(in srgb, rgb(60 200 110) 35%, var(--surface, Canvas)))",
  moved: "var(--moved, color-mix(in srgb, rgb(90 150 255) 35%, var(--surface, Canvas)))",
};
