// @ts-check
/** What was written last, and how to take it back: a toast with a button, and Ctrl Z. */

import { reasonOf } from "./reason.js";
import { say } from "./toast.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("./toast.js").Button} Button */
/**
 * What was done, and what takes it back; `caution` says what does not come back, `buttons` what else may be done.
 *
 * @typedef {{title: string, caution?: string, statements: any[], done?: () => void, buttons?: Button[]}} Step
 */

/** Steps that are remembered. */
const most = 50;

export class Undo {
  /** @type {Step[]} */
  #steps = [];

  /** @param {Client} client @param {() => boolean} isActive */
  constructor(client, isActive) {
    this.client = client;
    document.addEventListener("keydown", (event) => {
      const isField = /** @type {Element} */ (event.target).matches("input, textarea, select");
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || isField || !isActive()) return;
      event.preventDefault();
      this.undo();
    });
  }

  /** @param {Step} step */
  push(step) {
    this.#steps = [...this.#steps.slice(1 - most), step];
    this.say([step.title, step.caution].filter(Boolean).join(" "), true, step.buttons);
  }

  /** @param {string} sentence @param {boolean} [canUndo] @param {Button[]} [others] */
  say(sentence, canUndo = false, others = []) {
    say(sentence, { weight: 2, buttons: [...(canUndo ? [{ title: "Undo", action: () => { this.undo(); } }] : []), ...others] });
  }

  async undo() {
    const step = this.#steps.pop();
    if (!step) return this.say("There is nothing to undo.");
    try {
      await this.client.transact(step.statements);
      this.say([`Undone: ${step.title}`, step.caution && "What else had changed did not come back."].filter(Boolean).join(" "));
      step.done?.();
    } catch (error) {
      this.say(`Not undone: ${reasonOf(error)}`);
    }
    return undefined;
  }
}
