// @ts-check
/** What was written last, and how to take it back: a toast with a button, and Ctrl Z. */

import { reasonOf } from "./reason.js";
import { say } from "./toast.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("./toast.js").Button} Button */
/**
 * What was done, and what takes it back; `caution` says what does not come back, `buttons` what else may be done. `objection` says why the statements
 * have changed nothing (another program has written there meanwhile), and `forced` takes it back all the same.
 *
 * @typedef {{title: string, caution?: string, statements: any[], done?: () => void, buttons?: Button[],
 *   objection?: (committed: import("../freshet.js").Committed) => string | null, forced?: any[]}} Step
 */

/** Steps that are remembered. */
const most = 50;
/** Milliseconds for a decision. */
const decisionTime = 15_000;

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
    return this.#take(step, step.statements, step.objection);
  }

  /** @param {Step} step @param {any[]} statements @param {Step["objection"]} [objectionTo] */
  async #take(step, statements, objectionTo) {
    try {
      const committed = await this.client.transact(statements);
      const objection = objectionTo?.(committed) ?? null;
      if (objection !== null) return this.#object(step, objection);
      this.say([`Undone: ${step.title}`, step.caution && "What else had changed did not come back."].filter(Boolean).join(" "));
      step.done?.();
    } catch (error) {
      this.say(`Not undone: ${reasonOf(error)}`);
    }
    return undefined;
  }

  /** @param {Step} step @param {string} objection */
  #object(step, objection) {
    const { forced } = step;
    const buttons = forced ? [{ title: "Undo all the same", action: () => { this.#take(step, forced); } }] : [];
    say(`Not undone: ${objection}`, { weight: 2, buttons, milliseconds: decisionTime });
  }
}
