// @ts-check
/** Whether the rows on the screen may be out of date, and why, in words. Pure. */

/**
 * @typedef {object} Situation
 * @property {string} status the list's
 * @property {{code: string, message: string} | null} error the list's
 * @property {boolean} hasRows
 * @property {string} connection the status of the client
 * @property {number | null} retryAt
 * @property {{code: string, message: string} | null} refusal the error of the client
 */

export const staleTexts = {
  reconnecting: "Reconnecting",
  /** @param {number} seconds */
  reconnectingIn: (seconds) => `Reconnecting in ${seconds} s`,
  /** Connected again, but the changes since then have not come yet. */
  resuming: "Catching up",
  signedOut: "Not signed in any more",
  /** @param {string} message */
  refused: (message) => message,
  /** @param {string} message */
  changing: (message) => `The table is being changed (${message}). These rows are from before.`,
  /** @param {string} message */
  changingWithoutRows: (message) => `The table is being changed (${message})`,
  /** @param {string} message */
  waiting: (message) => `The server cannot answer at the moment (${message}). Trying again.`,
  /** @param {string} message */
  failed: (message) => `These rows are not followed any more: ${message}`,
};

const ofSchemas = ["schema_changed", "no_such_table", "no_such_column"];

/**
 * @param {Situation} situation @param {number} now in milliseconds, as `retryAt`
 * @returns {{topic: string, sentence: string} | null} null: the rows are up to date. `topic` does not change during a
 * countdown
 */
export function staleness({ status, error, hasRows, connection, retryAt, refusal }, now) {
  if (status === "closed") return null;
  if (connection === "refused") return { topic: "refused", sentence: staleTexts.refused(refusal?.message ?? "") };
  if (connection === "reconnecting") return disconnected(retryAt, now, refusal);
  if (status === "waiting") return waiting(error, hasRows);
  if (status === "failed") return hasRows ? { topic: "failed", sentence: staleTexts.failed(error?.message ?? "") } : null;
  if (refusal) return { topic: "signedOut", sentence: staleTexts.signedOut };
  return status === "reconnecting" ? { topic: "reconnecting", sentence: staleTexts.resuming } : null;
}

/** @param {number | null} retryAt @param {number} now @param {Situation["refusal"]} refusal */
function disconnected(retryAt, now, refusal) {
  if (refusal) return { topic: "signedOut", sentence: staleTexts.signedOut };
  const seconds = retryAt === null ? 0 : Math.ceil((retryAt - now) / 1000);
  return { topic: "reconnecting", sentence: seconds > 0 ? staleTexts.reconnectingIn(seconds) : staleTexts.reconnecting };
}

/** @param {Situation["error"]} error @param {boolean} hasRows */
function waiting(error, hasRows) {
  const message = inWords((error?.message ?? "").replace(/^the schema has changed: /, ""));
  if (error && ["unauthenticated", "not_allowed"].includes(error.code)) return { topic: "signedOut", sentence: staleTexts.signedOut };
  if (!error || !ofSchemas.includes(error.code)) return { topic: "waiting", sentence: staleTexts.waiting(message) };
  return { topic: "changing", sentence: hasRows ? staleTexts.changing(message) : staleTexts.changingWithoutRows(message) };
}

/**
 * An error message for the page's visitors, who have not written the query: without the place in the query and SQL's
 * terms.
 *
 * @param {string} message "orderBy[0]: no such column: task.due"
 */
function inWords(message) {
  return message.replace(/^[a-zA-Z]+(\[\d+\])?: (?=no such )/, "").replace(/^no such (column|table): (?:.*\.)?(.*)$/, "the $1 `$2` is gone");
}
