// @ts-check
/** A menu that opens below something: arrow keys move in it, Escape and clicks elsewhere close it. */

import { element } from "../shell/dom.js";

/** Debian's TypeScript is too old to know these methods. */
/** @typedef {HTMLElement & {showPopover(): void, hidePopover(): void}} Popover */
/** @typedef {{title: string, does: () => void, isChecked?: boolean, isOff?: boolean} | null} Item null: a line between groups */

/**
 * @param {Element} anchor the element that it opens below, which gets the focus back afterwards @param {string} label
 * @param {Item[]} items
 */
export function openMenu(anchor, label, items) {
  /** @type {Popover} */
  const menu = /** @type {any} */ (element("div", { className: "menu", popover: "auto", role: "menu", ariaLabel: label },
    ...items.map((item) => (item ? itemElement(item, () => menu.hidePopover()) : element("hr")))));
  (anchor.closest("main") ?? document.body).append(menu);
  menu.addEventListener("toggle", (event) => {
    if (/** @type {any} */ (event).newState !== "closed") return;
    const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    if (hadFocus) /** @type {HTMLElement} */ (anchor).focus({ preventScroll: true });
  });
  menu.addEventListener("keydown", (event) => moveFocus(menu, event));
  menu.showPopover();
  placeBelow(menu, anchor);
  buttons(menu)[0]?.focus();
}

/** @param {NonNullable<Item>} item @param {() => void} close */
function itemElement({ title, does, isChecked, isOff }, close) {
  const button = element("button", { type: "button", disabled: Boolean(isOff), tabIndex: -1 }, title);
  button.setAttribute("role", isChecked === undefined ? "menuitem" : "menuitemcheckbox");
  if (isChecked !== undefined) button.ariaChecked = String(isChecked);
  button.addEventListener("click", () => {
    close();
    does();
  });
  return button;
}

/** @param {HTMLElement} menu @returns {HTMLButtonElement[]} */
function buttons(menu) {
  return [...menu.querySelectorAll("button")].filter(({ disabled }) => !disabled);
}

/** @param {Popover} menu @param {KeyboardEvent} event */
function moveFocus(menu, event) {
  const all = buttons(menu);
  const current = all.indexOf(/** @type {any} */ (document.activeElement));
  const steps = /** @type {Record<string, number>} */ ({ ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: -1 });
  event.stopPropagation();
  if (event.key === "Tab") menu.hidePopover();
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  all[(steps[event.key] + all.length) % all.length]?.focus();
}

/**
 * Places a popover below an element, or above it if there is no room, within the page.
 *
 * @param {HTMLElement} popover @param {Element} anchor
 */
export function placeBelow(popover, anchor) {
  const { left, right, top, bottom } = anchor.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const isBelow = bottom + height + 8 < innerHeight || top < height;
  popover.style.left = `${Math.max(8, Math.min(left + width > innerWidth - 8 ? right - width : left, innerWidth - width - 8))}px`;
  popover.style.top = `${isBelow ? Math.min(bottom + 4, Math.max(8, innerHeight - height - 8)) : top - height - 4}px`;
}

/**
 * Keeps an open popover below an element: the element's row may move, and the list may be scrolled.
 *
 * @param {HTMLElement} popover @param {() => Element} anchor
 */
export function keepBelow(popover, anchor) {
  if (!popover.isConnected || !popover.matches(":popover-open")) return;
  placeBelow(popover, anchor());
  requestAnimationFrame(() => keepBelow(popover, anchor));
}
