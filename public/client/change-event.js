// @ts-check

/** @typedef {import("../freshet.js").Message} Message */
/** @typedef {import("../freshet.js").Changes} Changes */
/** @typedef {import("./list-state.js").ListState} ListState */

/** The event `change`. */
export class ChangeEvent extends Event {
  /** @param {Message} message @param {ListState} before @param {ListState} after @param {Changes} changes */
  constructor(message, before, after, changes) {
    super("change");
    /** @type {"snapshot" | "rows" | "patch"} */
    this.kind = message.type;
    this.patch = message.type === "patch" ? /** @type {import("../freshet.js").Patch} */ (message) : null;
    this.before = before;
    this.after = after;
    this.changes = changes;
  }
}
