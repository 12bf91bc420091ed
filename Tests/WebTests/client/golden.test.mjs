// The client applies every golden vector of Tests/Fixtures/patches.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { apply } from "../../../public/client/apply.js";
import { emptyState } from "../../../public/client/list-state.js";
import { held } from "./patch-writer.mjs";

const folder = process.env.FRESHET_PATCHES ?? new URL("../../Fixtures/patches/", import.meta.url).pathname;

const rowsOf = (state) => state.sections.flatMap(({ rows }) => rows);
const within = (rows, window) => (window ? rows.slice(window.offset, window.offset + window.limit) : rows);

function snapshot({ columns, key, window, before, patch }) {
  return {
    type: "snapshot", id: "a", version: patch.from, commit: patch.commit, columns, key, window,
    total: rowsOf(before).length,
    sections: before.sections.map(({ name, indexTitle, rows }) => ({ name, indexTitle, count: rows.length })),
    offset: window?.offset ?? 0, rows: within(rowsOf(before), window), complete: true,
  };
}

const names = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();

test("there are golden vectors", () => assert.notEqual(names.length, 0, folder));

for (const name of names) {
  const vector = JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
  test(`${name}: ${vector.description}`, () => {
    const { state: before } = apply(emptyState, snapshot(vector));
    const kept = held(before);
    const { state } = apply(before, vector.patch);
    assert.deepEqual(
      state.sections,
      vector.after.sections.map(({ name, indexTitle, rows }) => ({ name, indexTitle, count: rows.length })));
    const window = vector.patch.window ?? vector.window;
    assert.deepEqual(state.window, window ?? null);
    const first = window?.offset ?? 0;
    assert.deepEqual(held(state), within(rowsOf(vector.after), window).map((row, index) => [first + index, row]));
    assert.equal(state.version, vector.patch.to);
    assert.deepEqual(held(before), kept, "the state before is as it was");
  });
}
