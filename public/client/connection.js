// @ts-check
/**
 * A connection that reconnects: one JSON object per message, capped exponential back-off with jitter, and a heartbeat
 * that notices a server that has vanished silently, also after a sleep of this device.
 */

import { encoded } from "./values.js";
import { onWake } from "./wake.js";

/** @typedef {"connecting" | "live" | "reconnecting" | "refused" | "closed"} ConnectionStatus */

const firstDelay = 250;
const longestDelay = 15_000;
/**
 * Close codes of a server that wants fewer connections or a different client: protocol 5. Each counts as four failures.
 */
const discouraging = [1013, 4401, 4429];

/**
 * The interval of the heartbeat, the silence after which a ping is sent, and how long its answer may take; in
 * milliseconds.
 */
const beat = 5_000;
const silence = 15_000;
const patience = 10_000;
/** How long an attempt to connect may take, milliseconds. */
export const longestAttempt = 2 * patience;
/** Id of the pings that check whether the server still answers. */
const heartbeat = "heartbeat";

/**
 * Milliseconds before the attempt after `failures` failures: half of it fixed, half random, so that the clients of a
 * restarted server do not all connect at once.
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
  /** When the last unanswered ping was sent; 0: none since the server was last heard. */
  #asked = 0;
  #lastBeat = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #beats;
  #stopListening = () => {};

  /**
   * @param {() => Promise<URL>} address called before every attempt
   * @param {object} handlers
   * @param {() => void} handlers.opened
   * @param {(message: Record<string, any>) => void} handlers.received
   * @param {(retryIn?: number) => void} handlers.changed called when the status changes; with the milliseconds until
   * the next attempt
   * @param {() => void} handlers.unopened called when an attempt ended before there was a connection
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
    // In Node, a timer would keep the process alive; that is up to the socket.
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
   * Sets whether the server is known to be up and to refuse connections. Further attempts are made in any case.
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
    // A placeholder is set at once, so that no second socket is opened while the address is awaited.
    const placeholder = /** @type {any} */ ({ readyState: 0, close() {} });
    this.#socket = placeholder;
    this.#heard();
    try {
      const url = await this.address();
      if (this.#socket !== placeholder) return;
      this.#attach(new this.Socket(url, "freshet.v1"));
    } catch {
      // Without a token or a URL the attempt has failed.
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
      // Failures are reset here, and not when the socket opens: a proxy whose server is down may accept connections and
      // drop them.
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
    // If the server cannot be reached, Node 20 sends only `error`, never `close`. Once the socket has opened, `close`
    // follows with the code.
    socket.onerror = () => {
      if (!hasOpened) ended(undefined);
    };
  }

  #heard() {
    this.#lastHeard = Date.now();
    this.#asked = 0;
  }

  #ask() {
    // An older server answers with `unknown_type`, which also shows that it is up.
    if (this.send({ type: "ping", id: heartbeat })) this.#asked = Date.now();
  }

  #check() {
    const now = Date.now();
    const hasSlept = now - this.#lastBeat > 3 * beat;
    this.#lastBeat = now;
    const socket = this.#socket;
    if (!socket) return;
    // The device has slept: a ping from before could not be answered meanwhile, so another one is sent.
    if (hasSlept) return this.#ask();
    const isLive = this.status === "live";
    if (isLive && !this.#asked && now - this.#lastHeard >= silence) return this.#ask();
    const isDead = isLive ? this.#asked > 0 && now - this.#asked >= patience : now - this.#lastHeard >= longestAttempt;
    if (!isDead) return;
    // The socket counts as lost before it is closed, because the closing handshake on a dead connection may take long.
    this.#lost(socket);
    socket.close();
  }

  /** @param {WebSocket} socket @param {number} [badness] how many failures it counts as */
  #lost(socket, badness = 1) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#failures += badness;
    const delay = backOff(this.#failures);
    this.#nextAttempt = Date.now() + delay;
    // The status stays `refused` until something else is known.
    if (this.status !== "refused") this.status = "reconnecting";
    this.#retry = setTimeout(() => this.#open(), delay);
    this.handlers.changed(delay);
  }
}
