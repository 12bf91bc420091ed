// Every list of Tests/Fixtures/overlays, step by step, and lists of other seeds against the model that made them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { apply } from "../../../public/client/apply.js";
import { emptyState } from "../../../public/client/list-state.js";
import { LaidChange } from "../../../public/client/optimistic-change.js";
import { OverlaidModel } from "../../../public/client/overlaid-model.js";
import { corpus, corpusSeed } from "./overlay-corpus.mjs";
import { held } from "./patch-writer.mjs";

const folder = new URL("../../Fixtures/overlays/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();

test("the corpus is what its generator makes", () => {
  const files = corpus(corpusSeed);
  assert.deepEqual([...files.keys()].sort(), names);
  for (const [name, text] of files) assert.equal(readFileSync(new URL(name, folder), "utf8"), text, name);
});

/** The shown state, in the corpus's format. */
function outline(state) {
  const first = Math.min(state.window?.offset ?? 0, state.total);
  const last = Math.min(first + (state.window?.limit ?? 0), state.total);
  return {
    sections: state.sections.map(({ name, indexTitle, count }) => [name, indexTitle, count]), ...(state.window && { window: [first, last] }),
    rows: held(state).map(([offset, values]) => [...values, state.pendingOf(state.at(offset))?.isPlaced ?? null]),
  };
}

for (const name of names) {
  test(name, () => {
    const { steps } = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
    const model = new OverlaidModel();
    let [base, shown] = [emptyState, emptyState];
    let changes = [];
    const lay = (next) => {
      changes = next;
      model.changes = changes.map(({ laid }) => laid);
    };
    for (const [index, { message, lay: laid, committed, refused, shown: expected }] of steps.entries()) {
      let result;
      if (message) {
        const next = apply(base, message);
        base = next.state;
        lay(changes.filter(({ commit }) => commit === undefined || commit > base.commit));
        result = model.take(message, base, next.changes);
      } else {
        if (laid) lay([...changes, { id: laid.id, laid: new LaidChange(laid.change) }]);
        else if (committed) lay(changes.map((each) => (each.id === committed.id ? { ...each, commit: committed.commit } : each)));
        else lay(changes.filter(({ id }) => id !== refused));
        result = model.lay();
      }
      assert.deepEqual(outline(model.state), expected, `step ${index}`);
      if (result?.message.type === "patch") assert.deepEqual(held(apply(shown, result.message).state), held(model.state), `step ${index}: the patch`);
      shown = model.state;
    }
  });
}

test("lists of other seeds show what the model says", () => {
  const first = Number(process.env.FRESHET_SEED ?? 2);
  for (let seed = first; seed < first + Number(process.env.FRESHET_RUNS ?? 20); seed += 1) corpus(seed);
});
