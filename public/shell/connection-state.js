// @ts-check
/**
 * The label in the header: the state of the connection, the time until the next attempt, and a button that connects at
 * once.
 */

import { part } from "./dom.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {{state: string, words: string}} Label */

/**
 * Milliseconds between two pings, and for the answer. Together they are less than five seconds, after which a server
 * that hangs must not be shown as live.
 */
const beat = 2_000;
const patience = 2_500;

/**
 * @param {{status: string, error: {code: string} | null}} client
 * @param {boolean} isSilent whether the last ping has been unanswered for too long
 * @returns {Label}
 */
export function labelOf({ status, error }, isSilent) {
  if (status === "live" && error?.code === "unauthenticated") return { state: "signed-out", words: "signed out" };
  if (status === "live" && isSilent) return { state: "silent", words: "not answering" };
  return { state: status, words: status };
}

export class ConnectionState {
  #isSilent = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #countdown;

  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    client.addEventListener("status", () => this.#show());
    client.addEventListener("error", () => this.#show());
    part("try-again").addEventListener("click", () => client.retry());
    setInterval(() => this.#ask(), beat);
    this.#show();
  }

  async #ask() {
    // Browsers slow down timers of hidden pages.
    if (this.client.status !== "live" || document.hidden) return;
    const late = setTimeout(() => this.#setSilent(true), patience);
    await this.client.ping().catch(() => {});
    clearTimeout(late);
    this.#setSilent(false);
  }

  /** @param {boolean} isSilent */
  #setSilent(isSilent) {
    if (isSilent === this.#isSilent) return;
    this.#isSilent = isSilent;
    this.#show();
  }

  #show() {
    const { client } = this;
    const { state, words } = labelOf(client, this.#isSilent);
    part("state").dataset.state = state;
    if (part("state").textContent !== words) part("state").textContent = words;
    document.body.dataset.state = state;
    const isWaiting = client.retryAt !== null && (client.status === "reconnecting" || client.status === "refused");
    clearInterval(this.#countdown);
    if (isWaiting) this.#countdown = setInterval(() => this.#count(), 250);
    part("try-again").hidden = !isWaiting;
    part("countdown").hidden = !isWaiting;
    this.#count();
  }

  #count() {
    const seconds = Math.max(0, Math.ceil(((this.client.retryAt ?? 0) - Date.now()) / 1000));
    part("countdown").textContent = seconds > 0 ? `in ${seconds} s` : "now";
  }
}
