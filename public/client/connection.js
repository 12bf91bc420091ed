// @ts-check
/**
 * A connection that comes back: one JSON object per message, capped exponential back-off with jitter, and a heartbeat
 * that notices a server which is gone without having said so, also after a sleep of this device.
 */

import { encoded } from "./values.js";
import { onWake } from "./wake.js";

/** @typedef {"connecting" | "live" | "reconnecting" | "refused" | "closed"} ConnectionStatus */

const firstDelay = 250;
const longestDelay = 15_000;
/**
 * Close codes of a server that wants fewer connections, or other ones: protocol 5. They are as bad as four failures.
 */
const discouraging = [1013, 4401, 4429];

/** How often the heart beats, how long a silence is asked about, and how long an answer may take; milliseconds. */
const beat = 5_000;
const silence = 15_000;
const patience = 10_000;
/** How long an attempt to connect may take, milliseconds. */
export const longestAttempt = 2 * patience;
/** Id of the pings that check whether the server still answers. */
const heartbeat = "heartbeat";

/**
 * Milliseconds before the attempt after `failures` failures: half of it certain, half by chance, so that the clients
 * of a server that restarts do not come all at once.
 *
 * @param {number} failures 1 or more @param {number} chance 0 to 1
 */
export function backOff(failures, chance = Math.random()) {
  const whole = Math.min(longestDelay, firstDelay * 2 ** Math.min(failures - 1, 16));
  return whole / 2 + (whole / 2) * chance;
}

export class Connection {
  /** @type {ConnectionStatus} */
  status = "connecting";
  /** @type {WebSocket | null} */
  #socket = null;
  #failures = 0;
  #lastHeard = 0;
  #nextAttempt = 0;
  /** When the server was asked whether it is there; 0: not since it was last heard. */
  #asked = 0;
  #lastBeat = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #beats;
  #stopListening = () => {};

  /**
   * @param {() => Promise<URL>} address asked before every attempt
   * @param {object} handlers
   * @param {() => void} handlers.opened
   * @param {(message: Record<string, any>) => void} handlers.received
   * @param {(retryIn?: number) => void} handlers.changed to another status; with the milliseconds until the next
   * attempt
   * @param {() => void} handlers.unopened an attempt ended before there was a connection
   * @param {typeof WebSocket} Socket
   */
  constructor(address, handlers, Socket) {
    this.address = address;
    this.handlers = handlers;
    this.Socket = Socket;
  }

  start() {
    this.#stopListening = onWake(() => (this.#socket ? this.#ask() : this.retry()));
    this.#lastBeat = Date.now();
    this.#beats = setInterval(() => this.#check(), beat);
    // Node's timers keep a process alive; the socket does that.
    /** @type {any} */ (this.#beats).unref?.();
    this.#open();
  }

  /** Tries now instead of later, if it is waiting to. */
  retry() {
    if (this.#socket || this.status === "closed") return;
    clearTimeout(this.#retry);
    this.#open();
  }

  /**
   * What is known of the attempts that ended before there was a connection: the server is there and refuses, or not.
   * The next ones are made all the same.
   *
   * @param {boolean} isRefused
   */
  setRefused(isRefused) {
    const status = isRefused ? "refused" : "reconnecting";
    if ((this.status !== "refused" && this.status !== "reconnecting") || this.status === status) return;
    this.status = status;
    this.handlers.changed(Math.max(0, this.#nextAttempt - Date.now()));
  }

  /** @param {Record<string, any>} message @returns {boolean} false when there is no connection now */
  send(message) {
    if (this.status !== "live" || this.#socket?.readyState !== 1) return false;
    this.#socket.send(encoded(message));
    return true;
  }

  close() {
    if (this.status === "closed") return;
    this.status = "closed";
    clearTimeout(this.#retry);
    clearInterval(this.#beats);
    this.#stopListening();
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
    this.handlers.changed();
  }

  async #open() {
    // Taken at once, so that no second socket is opened while the address is awaited.
    const placeholder = /** @type {any} */ ({ readyState: 0, close() {} });
    this.#socket = placeholder;
    this.#heard();
    try {
      const url = await this.address();
      if (this.#socket !== placeholder) return;
      this.#attach(new this.Socket(url, "freshet.v1"));
    } catch {
      // No token, or no URL to connect to: the attempt has failed.
      this.#lost(placeholder);
    }
  }

  /** @param {WebSocket} socket */
  #attach(socket) {
    this.#socket = socket;
    let hasOpened = false;
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      hasOpened = true;
      this.status = "live";
      this.#heard();
      this.handlers.changed();
      this.handlers.opened();
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.#heard();
      // Here, not when it opens: a proxy whose server is down may take connections only to drop them.
      this.#failures = 0;
      const message = JSON.parse(data);
      if (message.id !== heartbeat) this.handlers.received(message);
    };
    const ended = (/** @type {number | undefined} */ code) => {
      const isCurrent = socket === this.#socket;
      this.#lost(socket, discouraging.includes(/** @type {number} */ (code)) ? 4 : 1);
      if (isCurrent && !hasOpened) this.handlers.unopened();
    };
    socket.onclose = ({ code } = /** @type {any} */ ({})) => ended(code);
    // Node 20 says of a server that cannot be reached only this, and never `close`. After the opening, `close` knows
    // the code.
    socket.onerror = () => {
      if (!hasOpened) ended(undefined);
    };
  }

  #heard() {
    this.#lastHeard = Date.now();
    this.#asked = 0;
  }

  #ask() {
    // An older server answers with `unknown_type`, which says as well that it is there.
    if (this.send({ type: "ping", id: heartbeat })) this.#asked = Date.now();
  }

  #check() {
    const now = Date.now();
    const hasSlept = now - this.#lastBeat > 3 * beat;
    this.#lastBeat = now;
    const socket = this.#socket;
    if (!socket) return;
    // What was asked before a sleep cannot have been answered in it.
    if (hasSlept) return this.#ask();
    const isLive = this.status === "live";
    if (isLive && !this.#asked && now - this.#lastHeard >= silence) return this.#ask();
    const isDead = isLive ? this.#asked > 0 && now - this.#asked >= patience : now - this.#lastHeard >= longestAttempt;
    if (!isDead) return;
    // First lost, then closed: the closing handshake may take as long as the dead connection does.
    this.#lost(socket);
    socket.close();
  }

  /** @param {WebSocket} socket @param {number} [badness] failures that it counts for */
  #lost(socket, badness = 1) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#failures += badness;
    const delay = backOff(this.#failures);
    this.#nextAttempt = Date.now() + delay;
    // Refused until something else is known.
    if (this.status !== "refused") this.status = "reconnecting";
    this.#retry = setTimeout(() => this.#open(), delay);
    this.handlers.changed(delay);
  }
}
