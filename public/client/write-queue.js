// @ts-check
/**
 * Writes that wait for a connection: in order, one under way at a time, each done once. Every write has a name
 * (`once`), under which the server remembers its outcome. So a write can be sent again if its answer was lost with the
 * connection, as long as the server's epoch is the same.
 */

import { FreshetError } from "./errors.js";

/** @typedef {import("../freshet.js").Message} Message */
/**
 * @typedef {object} Write
 * @property {string} once @property {Message} members of its message @property {string | null} epoch in which it was
 * sent; null: not sent
 * @property {number} refusals temporary ones in a row @property {() => void} sent
 * @property {(answer: Message) => void} resolve @property {(error: FreshetError) => void} reject
 */

const most = 1_000;
/** How often a write is sent again after temporary refusals. */
const patience = 6;
const firstDelay = 250;
/** Temporary refusals, which the server does not remember, because nothing was done. */
const transient = ["overloaded", "limit_exceeded", "shutting_down"];

export class WriteQueue {
  /** @type {Write[]} */
  #writes = [];
  /**
   * Id of the message that waits for its answer.
   *
   * @type {string | null}
   */
  #underWay = null;
  #isOpen = false;
  /** @type {string | null} */
  #epoch = null;
  #count = 0;
  /** Unique to this queue, across all pages. */
  #prefix = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;

  /** @param {(message: Message) => boolean} send false: there is no connection */
  constructor(send) {
    this.send = send;
  }

  /**
   * @param {Message} members @param {() => void} sent called when it is sent for the first time
   * @returns {Promise<Message>}
   * @throws {FreshetError} `queue_full`
   */
  add(members, sent) {
    if (this.#writes.length >= most) {
      throw new FreshetError({ code: "queue_full", message: `${most} writes wait for the server already.`, retryable: true });
    }
    this.#prefix ||= randomName();
    const once = `${this.#prefix}.${this.#count += 1}`;
    const answer = new Promise((resolve, reject) => {
      this.#writes.push({ once, members, epoch: null, refusals: 0, sent, resolve, reject });
    });
    // An unawaited promise must not be an unhandled rejection.
    answer.catch(() => {});
    this.#next();
    return answer;
  }

  /**
   * The connection is open, and the client has authenticated.
   *
   * @param {string} epoch @param {boolean} remembers whether the server knows `once`
   */
  opened(epoch, remembers) {
    const [first] = this.#writes;
    this.#isOpen = true;
    this.#epoch = epoch;
    if (this.#underWay === null && first?.epoch && (first.epoch !== epoch || !remembers)) {
      this.#end((write) => write.reject(unknownOutcome("The server was started anew before it answered: this may have been written.")));
    }
    this.#next();
  }

  lost() {
    clearTimeout(this.#retry);
    this.#isOpen = false;
    this.#underWay = null;
  }

  /** @param {Message} message @returns {boolean} whether it was the answer to one of these */
  received(message) {
    if (this.#underWay === null || message.id !== this.#underWay) return false;
    const [write] = this.#writes;
    this.#underWay = null;
    if (message.type === "error" && transient.includes(message.code) && write.refusals + 1 < patience) {
      write.refusals += 1;
      // The write was not begun, so its outcome cannot be unknown.
      write.epoch = null;
      this.#retry = setTimeout(() => this.#next(), firstDelay * 2 ** (write.refusals - 1));
      return true;
    }
    if (message.type === "error") this.#end(({ reject }) => reject(new FreshetError(/** @type {any} */ (message))));
    else this.#end(({ resolve }) => resolve(message));
    this.#next();
    return true;
  }

  /** Ends the queue: its writes fail. */
  close() {
    this.lost();
    const all = this.#writes;
    this.#writes = [];
    for (const { epoch, reject } of all) {
      reject(epoch ? unknownOutcome("The connection was closed before the answer came: this may have been written.")
        : new FreshetError({ code: "closed", message: "The connection was closed." }));
    }
  }

  /** @param {(write: Write) => void} answer */
  #end(answer) {
    const write = this.#writes.shift();
    if (write) answer(write);
  }

  #next() {
    clearTimeout(this.#retry);
    const [write] = this.#writes;
    if (!write || !this.#isOpen || this.#underWay !== null) return;
    const id = `write ${this.#count += 1}`;
    if (!this.send({ type: "transact", id, once: write.once, ...write.members })) return;
    this.#underWay = id;
    if (write.epoch === null) write.sent();
    write.epoch = this.#epoch;
  }
}

/** 32 hexadecimal digits. */
function randomName() {
  const bytes = new Uint8Array(16);
  // Node 18 has no global `crypto`.
  if (globalThis.crypto) crypto.getRandomValues(bytes);
  else bytes.forEach((_, index) => (bytes[index] = Math.random() * 256));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} message */
function unknownOutcome(message) {
  return new FreshetError({ code: "outcome_unknown", message });
}
