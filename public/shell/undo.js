// @ts-check
/** Undoes the last writes: by a button in a toast, and by Ctrl Z. */

import { reasonOf } from "./reason.js";
import { say } from "./toast.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("./toast.js").Button} Button */
/**
 * A write, and the statements that undo it. `caution` says what they do not bring back, and `buttons` are further
 * actions. `objection` says why the statements have changed nothing (another program has written there since), and
 * `forced` undoes the write in spite of that.
 *
 * @typedef {{title: string, caution?: string, statements: any[], done?: () => void, buttons?: Button[],
 *   objection?: (committed: import("../freshet.js").Committed) => string | null, forced?: any[]}} Step
 */

/** How many steps are remembered. */
const most = 50;
/** Milliseconds for a decision. */
const decisionTime = 15_000;

export class Undo {
  /** @type {Step[]} */
  #steps = [];
  /** Writes that the server has not answered. @type {Set<Promise<void>>} */
  #writes = new Set();

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
    this.say([step.title, step.caution].filter(Boolean).join(" "), () => this.#undo(step), step.buttons);
  }

  /**
   * @template T
   * @param {Promise<T>} write a write that has pushed its step when it ends; its change may show earlier
   */
  waitFor(write) {
    const ended = Promise.allSettled([write]).then(() => { this.#writes.delete(ended); });
    this.#writes.add(ended);
    return write;
  }

  /** @param {string} sentence @param {() => void} [undo] @param {Button[]} [others] */
  say(sentence, undo, others = []) {
    say(sentence, { weight: 2, buttons: [...(undo ? [{ title: "Undo", action: undo }] : []), ...others] });
  }

  /** Undoes the last write, which the server may not have answered yet. */
  async undo() {
    await Promise.all(this.#writes);
    const step = this.#steps.at(-1);
    return step ? this.#undo(step) : this.say("There is nothing to undo.");
  }

  /** @param {Step} step */
  #undo(step) {
    this.#steps = this.#steps.filter((other) => other !== step);
    return this.#send(step, step.statements, step.objection);
  }

  /** @param {Step} step @param {any[]} statements @param {Step["objection"]} [objectionTo] */
  async #send(step, statements, objectionTo) {
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
    const buttons = forced ? [{ title: "Undo all the same", action: () => { this.#send(step, forced); } }] : [];
    say(`Not undone: ${objection}`, { weight: 2, buttons, milliseconds: decisionTime });
  }
}
