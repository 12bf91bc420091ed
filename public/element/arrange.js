// @ts-check
/**
 * Puts elements into their order in the document, which Tab and screen readers follow, whatever their position on the
 * screen. For usual changes it needs few moves.
 */

/**
 * @param {Element} parent @param {Element | null} before the element that the first of them follows; null: none
 * @param {Element[]} elements other elements may stand between them, and stay there
 */
export function arrange(parent, before, elements) {
  const wanted = new Set(elements);
  let cursor = before ? before.nextElementSibling : parent.firstElementChild;
  for (const element of elements) {
    while (cursor && !wanted.has(cursor)) cursor = cursor.nextElementSibling;
    if (element === cursor) {
      cursor = cursor.nextElementSibling;
    } else if (cursor && cursor.nextElementSibling === element) {
      // The element at the cursor belongs elsewhere, and is moved when its turn comes.
      cursor = element.nextElementSibling;
    } else {
      put(parent, element, cursor);
    }
  }
}

/**
 * Moves an element, if the browser can without taking it out of the document, which would end its focus and animations.
 *
 * @param {any} parent @param {Element} element @param {Element | null} next
 */
function put(parent, element, next) {
  if (!parent.moveBefore || !element.isConnected || !parent.isConnected) parent.insertBefore(element, next);
  else if (element.matches(":focus-within")) keepingScrolled(parent, () => parent.moveBefore(element, next));
  else parent.moveBefore(element, next);
}

/**
 * Restores the scroll position, because Chromium scrolls to a focused element that is moved.
 *
 * @param {Element} element @param {() => void} body
 */
function keepingScrolled(element, body) {
  const positions = [];
  for (let current = element.parentElement; current; current = current.parentElement) {
    positions.push({ current, top: current.scrollTop, left: current.scrollLeft });
  }
  body();
  for (const { current, top, left } of positions) {
    if (current.scrollTop !== top) current.scrollTop = top;
    if (current.scrollLeft !== left) current.scrollLeft = left;
  }
}
