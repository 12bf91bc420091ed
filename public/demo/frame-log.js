// @ts-check
/** The log of messages that are sent and received. */

import { element } from "../shell/dom.js";

const mostFrames = 100;
const longestText = 1500;

/** A WebSocket that reports its frames. */
export class ToldSocket extends WebSocket {
  /** @type {(direction: "sent" | "received", text: string) => void} */
  static tell = () => {};

  /** @param {string | URL} url @param {string} protocol */
  constructor(url, protocol) {
    super(url, protocol);
    this.addEventListener("message", ({ data }) => ToldSocket.tell("received", data));
  }

  /** @param {string} text */
  send(text) {
    ToldSocket.tell("sent", text);
    super.send(text);
  }
}

/** The newest frames, newest first. They are drawn at most once for each frame of the screen. */
export class FrameLog {
  /** @type {{direction: string, text: string, time: Date}[]} */
  #coming = [];

  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
  }

  /** @param {"sent" | "received"} direction @param {string} text */
  add(direction, text) {
    // Heartbeats are left out, because they do not concern the query.
    if (text.includes('"heartbeat"')) return;
    if (this.#coming.push({ direction, text, time: new Date() }) === 1) requestAnimationFrame(() => this.#draw());
  }

  clear() {
    this.list.replaceChildren();
  }

  #draw() {
    const items = this.#coming.slice(-mostFrames).reverse().map(({ direction, text, time }) => element("li", { className: direction },
      element("span", { className: "frame-about" },
        `${direction === "sent" ? "→" : "←"} ${typeOf(text)}`,
        element("span", { className: "quiet" }, ` ${text.length.toLocaleString("en-US")} bytes · ${time.toISOString().slice(11, 23)}`)),
      element("code", {}, text.length > longestText ? `${text.slice(0, longestText)} …` : text)));
    this.#coming = [];
    this.list.prepend(...items);
    // A message that scrolls gets a `tabindex`, so that keys can scroll it.
    for (const code of items.map((item) => /** @type {HTMLElement} */ (item.lastElementChild))) if (code.scrollHeight > code.clientHeight) code.tabIndex = 0;
    while (this.list.children.length > mostFrames) this.list.lastElementChild?.remove();
  }
}

/** @param {string} text */
function typeOf(text) {
  return /^\{"type":"(\w+)"/.exec(text)?.[1] ?? "";
}
