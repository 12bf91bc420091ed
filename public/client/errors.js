// @ts-check

/** An error that the server sent, or an error of the connection. */
export class FreshetError extends Error {
  /**
   * @param {object} members
   * @param {string} members.code one of protocol 5, or `disconnected`, `refused`, `closed`
   * @param {string} members.message a sentence
   * @param {boolean} [members.retryable] whether the same may succeed later
   * @param {boolean} [members.fatal] whether the subscription is over
   */
  constructor({ code, message, retryable = false, fatal = false }) {
    super(message);
    this.name = "FreshetError";
    this.code = code;
    this.retryable = retryable;
    this.fatal = fatal;
  }
}

/** The event `error` of lists and clients. */
export class FreshetErrorEvent extends Event {
  /** @param {FreshetError} error */
  constructor(error) {
    super("error");
    this.error = error;
  }
}
