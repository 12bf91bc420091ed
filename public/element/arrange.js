// @ts-check
/**
 * Puts elements into an order with as few moves as the usual changes need: what Tab and screen readers go through is
 * the order of the document, not that of the pixels.
 */

/**
 * @param {Element} parent @param {Element | null} before what the first of them follows; null for nothing
 * @param {Element[]} elements
 */
export function arrange(parent, before, elements) {
  let cursor = before ? before.nextElementSibling : parent.firstElementChild;
  for (const element of elements) {
    if (element === cursor) {
      cursor = cursor.nextElementSibling;
    } else if (cursor && cursor.nextElementSibling === element) {
      // What stands here belongs elsewhere, and is moved when its turn comes.
      cursor = element.nextElementSibling;
    } else {
      put(parent, element, cursor);
    }
  }
}

/**
 * Where the browser can, without taking it out of the document, which would end its focus and its animations.
 *
 * @param {any} parent @param {Element} element @param {Element | null} next
 */
function put(parent, element, next) {
  if (parent.moveBefore && element.isConnected && parent.isConnected) parent.moveBefore(element, next);
  else parent.insertBefore(element, next);
}
