// The client applies the conformance corpus of docs/clients.md, which has more than the golden vectors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../../public/client/apply.js";
import { emptyState } from "../../../public/client/list-state.js";
import { corpus } from "../../../scripts/corpus.mjs";

const { cases } = corpus();

test("there are golden vectors and exchanges in it", () => assert.ok(cases.length > 35, String(cases.length)));

for (const { name, description, messages, expected } of cases) {
  test(`${name}: ${description}`, () => {
    const state = messages.reduce((before, message) => apply(before, message).state, emptyState);
    const { version, columns, key, total, sections, window, totals, alongside } = state;
    const entries = [...state.entries()];
    const rows = entries.map(([, row]) => columns.map((column) => row[column]));
    assert.deepEqual({ version, columns, key, total, sections, window, offset: window?.offset ?? 0, rows, totals, alongside }, { totals: {}, ...expected });
    entries.forEach(([offset], index) => assert.equal(offset, expected.offset + index));
  });
}
