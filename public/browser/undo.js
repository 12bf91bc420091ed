// @ts-check
/** What was written last, and how to take it back: one sentence at the bottom of the page, with a button, and Ctrl Z. */

import { element } from "../shell/dom.js";
import { reasonOf } from "./table-writer.js";

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {{title: string, caution?: string, statements: any[], done?: () => void}} Step what was done, and what takes it back; `caution` says what does not come back */

/** Steps that are remembered. */
const most = 50;
/** Milliseconds for which the sentence stands there; Ctrl Z works for longer. */
const shownFor = 10_000;

export class Undo {
  /** @type {Step[]} */
  #steps = [];
  #timer = 0;
  #text = element("span");
  #button = element("button", { type: "button" }, "Undo");
  #bar = element("div", { className: "undo", role: "status", hidden: true }, this.#text, this.#button);

  /** @param {Client} client @param {() => boolean} isActive */
  constructor(client, isActive) {
    this.client = client;
    document.body.append(this.#bar);
    this.#button.addEventListener("click", () => this.undo());
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
    this.say([step.title, step.caution].filter(Boolean).join(" "), true);
  }

  /** @param {string} sentence @param {boolean} [canUndo] */
  say(sentence, canUndo = false) {
    this.#text.textContent = sentence;
    this.#button.hidden = !canUndo;
    this.#bar.hidden = false;
    clearTimeout(this.#timer);
    this.#timer = Number(setTimeout(() => this.hide(), shownFor));
  }

  hide() {
    this.#bar.hidden = true;
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
