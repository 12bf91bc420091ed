// @ts-check
/** How changes are made visible. Who prefers reduced motion sees the colours, and nothing moves. */

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const gently = "cubic-bezier(0.2, 0.7, 0.2, 1)";

/**
 * Contents changed.
 *
 * @param {HTMLElement} element
 */
export function flash(element) {
  tint(element, "--changed", 1400);
}

/**
 * A row came in.
 *
 * @param {HTMLElement} element
 */
export function enter(element) {
  tint(element, "--inserted", 2200);
  if (still.matches) return;
  element.animate(
    [{ opacity: 0, transform: "translateX(-14px)" }, { opacity: 1, transform: "none" }],
    { duration: 320, easing: gently });
}

/**
 * A row went to another place.
 *
 * @param {HTMLElement} element
 */
export function arrive(element) {
  tint(element, "--moved", 2200);
}

/**
 * From where it stood to where it stands.
 *
 * @param {HTMLElement} element @param {number} distance old minus new top
 */
export function slide(element, distance) {
  if (still.matches || distance === 0) return;
  const keyframes = [{ transform: `translateY(${distance}px)` }, { transform: "none" }];
  element.animate(keyframes, { duration: 320, easing: gently });
}

/**
 * Takes it out of the document, in a while.
 *
 * @param {HTMLElement} element
 */
export function leave(element) {
  element.classList.add("leaving");
  element.setAttribute("aria-hidden", "true");
  element.inert = true;
  const keyframes = still.matches ? [{ opacity: 1 }, { opacity: 1 }] : [{ opacity: 1 }, { opacity: 0 }];
  const animation = element.animate(keyframes, { duration: 260, easing: "ease-out" });
  animation.onfinish = animation.oncancel = () => element.remove();
}

/** @param {HTMLElement} element @param {string} property a colour of the style sheet @param {number} duration */
function tint(element, property, duration) {
  const colour = getComputedStyle(element).getPropertyValue(property);
  // To what it has without the animation, whatever that is.
  element.animate([{ backgroundColor: colour, easing: still.matches ? "steps(1, end)" : "ease-in" }], { duration });
}
