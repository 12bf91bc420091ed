// @ts-check
/** The elements that a list is made of, except its rows and sections. */

/**
 * @param {string} className @param {Record<string, string>} [attributes]
 */
function part(className, attributes = {}) {
  const element = document.createElement("div");
  element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** The parts of one list. They are added to its element when that is added to a document. */
export class Parts {
  scroller = part("live-scroller", { role: "grid", tabindex: "0", "aria-readonly": "true" });
  canvas = part("live-canvas", { role: "presentation" });
  index = part("live-index", {
    role: "slider", tabindex: "0", "aria-orientation": "vertical",
  });
  /**
   * A row of column headers that the page gave, above the first row; it scrolls sideways with the rows.
   *
   * @type {HTMLElement | null}
   */
  head = null;
  /** Shown instead of rows: the list is empty, or the reason why none are shown. */
  message = part("live-message");
  /** Below the rows: totals of all of them. */
  totals = part("live-totals", { role: "group", "aria-label": "Totals" });
  /**
   * The line over the end of the rows that says why they may be out of date. It is hidden from assistive technology, to
   * which `status` announces the same, because the line's countdown changes every second.
   */
  stale = part("live-stale", { "aria-hidden": "true" });
  status = part("live-status", { role: "status" });
  /** Invisible elements with the heights that the style sheet gives rows and headers, to measure them in pixels. */
  rowProbe = part("live-probe live-probe-row", { "aria-hidden": "true" });
  headerProbe = part("live-probe live-probe-header", { "aria-hidden": "true" });

  constructor() {
    this.index.hidden = true;
    this.message.hidden = true;
    this.stale.hidden = true;
    this.totals.hidden = true;
    this.scroller.append(this.canvas);
  }

  /** @param {HTMLElement} host */
  removeCopies(host) {
    const selector = ".live-scroller, .live-index, .live-message, .live-totals, .live-stale, .live-status, .live-probe";
    for (const child of [...host.children]) if (child.matches(selector)) child.remove();
  }

  /** @param {HTMLElement | null} head */
  setHead(head) {
    this.head?.remove();
    this.head = head;
    if (!head) return;
    head.classList.add("live-head");
    head.setAttribute("role", "row");
    head.setAttribute("aria-rowindex", "1");
    this.scroller.prepend(head);
  }

  get all() {
    return [this.scroller, this.index, this.message, this.totals, this.stale, this.status, this.rowProbe, this.headerProbe];
  }
}

/** The area that the rows are laid out in. */
export class Measure {
  #observer;

  /** @param {HTMLElement} host @param {Parts} parts @param {() => void} changed */
  constructor(host, parts, changed) {
    this.host = host;
    this.parts = parts;
    this.#observer = new ResizeObserver(() => changed());
  }

  start() {
    const { scroller, rowProbe, headerProbe } = this.parts;
    for (const element of [scroller, rowProbe, headerProbe]) this.#observer.observe(element);
    if (this.parts.head) this.#observer.observe(this.parts.head);
  }

  stop() {
    this.#observer.disconnect();
  }

  /** The height that is left for rows. */
  get viewHeight() {
    return Math.max(0, this.parts.scroller.clientHeight - this.#headHeight);
  }

  get #headHeight() {
    return this.parts.head?.offsetHeight ?? 0;
  }

  get heights() {
    const { rowProbe, headerProbe } = this.parts;
    return {
      row: Math.max(1, rowProbe.getBoundingClientRect().height),
      header: headerProbe.getBoundingClientRect().height,
    };
  }

  /**
   * Publishes the scroll bar's width, which differs between systems, and the head's height: elements next to them need
   * these sizes.
   */
  showSizes() {
    this.#set("--live-bar", this.parts.scroller.offsetWidth - this.parts.scroller.clientWidth);
    this.#set("--live-head", this.#headHeight);
  }

  /** @param {string} name @param {number} pixels */
  #set(name, pixels) {
    const { style } = this.host;
    if (style.getPropertyValue(name) !== `${pixels}px`) style.setProperty(name, `${pixels}px`);
  }
}
