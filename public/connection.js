// @ts-check
/**
 * A connection that comes back: one JSON object per message, capped exponential back-off with jitter.
 */

/** @typedef {"connecting" | "live" | "reconnecting"} State */

const firstDelay = 250;
const longestDelay = 15_000;
/** A server that has said nothing for so long, though asked every second or two, is taken for gone. */
const silenceLimit = 10_000;

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
  /** @type {WebSocket | null} */
  #socket = null;
  #failures = 0;
  #lastHeard = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;

  /**
   * @param {string | URL} url
   * @param {object} handlers
   * @param {() => void} handlers.opened time to subscribe
   * @param {(message: Record<string, any>) => void} handlers.received
   * @param {(state: State, retryIn?: number) => void} handlers.changed
   * @param {typeof WebSocket} [Socket] for tests
   */
  constructor(url, handlers, Socket = WebSocket) {
    this.url = url;
    this.handlers = handlers;
    this.Socket = Socket;
  }

  open() {
    clearTimeout(this.#retry);
    this.handlers.changed(this.#failures ? "reconnecting" : "connecting");
    const socket = new this.Socket(this.url, "freshet.v1");
    this.#socket = socket;
    this.#lastHeard = performance.now();
    socket.onopen = () => this.handlers.opened();
    socket.onmessage = (event) => {
      this.#lastHeard = performance.now();
      // Here, not when it opens: a proxy whose server is down may take connections only to drop them.
      this.#failures = 0;
      this.handlers.received(JSON.parse(event.data));
    };
    socket.onclose = () => this.#lost(socket);
  }

  /** @param {Record<string, any>} message @returns {boolean} false when there is no connection now */
  send(message) {
    if (this.#socket?.readyState !== this.Socket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** To be called now and then: gives up a connection that is dead without having been closed. */
  check() {
    const socket = this.#socket;
    if (!socket || performance.now() - this.#lastHeard < silenceLimit) return;
    socket.close();
    // The closing handshake may take as long as the dead connection does.
    this.#lost(socket);
  }

  /** Tries now instead of later, if it is waiting to. */
  hurry() {
    if (!this.#socket) this.open();
  }

  /** @param {WebSocket} socket */
  #lost(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.#failures += 1;
    const delay = backOff(this.#failures);
    this.handlers.changed("reconnecting", delay);
    this.#retry = setTimeout(() => this.open(), delay);
  }
}
