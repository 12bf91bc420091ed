// @ts-check
/** Authenticates the client: first on every connection, and again before the token expires. */

import { FreshetError } from "./errors.js";

/** @typedef {import("../freshet.js").ClientOptions} ClientOptions */

/** Id of the messages that carry a token. */
const id = "token";
/** Milliseconds before its expiry at which a token is renewed; a short-lived one at half of its life. */
const lead = 30_000;
/**
 * Milliseconds before another token is requested after one was refused or could not be fetched: the first and the
 * longest wait.
 */
const firstRetry = 1_000;
const longestRetry = 15_000;
/** Timers of browsers cannot wait for longer than 24 days. */
const longestWait = 86_400_000;

export class TokenKeeper {
  /** The token for the next connection. */
  #token = "";
  #isOpen = false;
  /** The last token that the server reported as expired. */
  #expired = "";
  /** How many tokens in a row were refused or could not be fetched. */
  #failures = 0;
  /** Whether the server refused the client's token, and the token source may give a new one. */
  isRefused = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {NonNullable<ClientOptions["token"]>} source
   * @param {(message: Record<string, any>) => boolean} send
   * @param {(error: FreshetError) => void} failed
   * @param {() => void} accepted
   */
  constructor(source, send, failed, accepted) {
    this.source = source;
    this.send = send;
    this.failed = failed;
    this.accepted = accepted;
  }

  /** Fetches a token before an attempt to connect. Without a token there is no connection. */
  async prepare() {
    const { source } = this;
    this.#token = typeof source === "function" ? await source() : source;
  }

  /** Sends the token. Messages sent after it are already the authenticated client's. */
  opened() {
    this.#isOpen = true;
    this.#send();
  }

  lost() {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  /** @param {Record<string, any>} message @returns {boolean} whether the message is dealt with */
  received({ type, id: given, code, message, expires, ...rest }) {
    if (type === "authenticated" && given === id) {
      this.#failures = 0;
      this.isRefused = false;
      this.#renewBefore(expires);
      this.accepted();
      return true;
    }
    if (type !== "error") return false;
    if (given === id) this.#refused(new FreshetError({ code, message, ...rest }));
    // Clocks differ: for the server, the token may expire earlier than for this client.
    else if (given === undefined && code === "unauthenticated" && this.#isRenewable) this.#renewExpired();
    else return false;
    return true;
  }

  get #isRenewable() {
    return typeof this.source === "function";
  }

  /** Renews an expired token. If the source has no other token yet, it is not asked again at once. */
  #renewExpired() {
    const isSame = this.#token === this.#expired;
    this.#expired = this.#token;
    if (isSame) this.#renewLater();
    else this.#renew();
  }

  /** @param {FreshetError} error */
  #refused(error) {
    this.isRefused = this.#isRenewable;
    this.#renewLater();
    this.failed(error);
  }

  #renewLater() {
    clearTimeout(this.#timer);
    if (!this.#isRenewable || !this.#isOpen) return;
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#renew(), Math.min(longestRetry, firstRetry * 2 ** (this.#failures - 1)));
    /** @type {any} */ (this.#timer).unref?.();
  }

  #send() {
    this.send({ type: "authenticate", id, token: this.#token });
  }

  /** @param {number | null} expires seconds since 1970 */
  #renewBefore(expires) {
    clearTimeout(this.#timer);
    if (expires === null || !this.#isRenewable) return;
    const left = expires * 1000 - Date.now();
    const wait = Math.max(left / 2, left - lead, 1_000);
    const isFar = wait > longestWait;
    this.#timer = setTimeout(() => (isFar ? this.#renewBefore(expires) : this.#renew()), isFar ? longestWait : wait);
    // In Node, a timer would keep the process alive; that is up to the socket.
    /** @type {any} */ (this.#timer).unref?.();
  }

  async #renew() {
    clearTimeout(this.#timer);
    try {
      await this.prepare();
      // A new connection sends the token first anyway.
      if (this.#isOpen) this.#send();
    } catch {
      this.#renewLater();
      this.failed(new FreshetError({ code: "unauthenticated", message: "There is no new token.", retryable: true }));
    }
  }
}
