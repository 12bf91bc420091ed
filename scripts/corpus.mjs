#!/usr/bin/env node
// corpus.mjs [FILE]: makes the conformance corpus of docs/clients.md, in FILE (.build/corpus/freshet-conformance.json),
// and prints its path: the golden vectors of Tests/Fixtures/patches as messages with what they lead to, and the
// exchanges of Tests/Fixtures/messages.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const read = (folder) => readdirSync(new URL(folder, root)).filter((name) => name.endsWith(".json")).sort()
  .map((name) => ({ name: name.replace(".json", ""), ...JSON.parse(readFileSync(new URL(folder + name, root), "utf8")) }));

const flat = ({ sections }) => sections.flatMap(({ rows }) => rows);
const withCounts = ({ sections }) => sections.map(({ name, indexTitle, rows }) => ({ name, indexTitle, count: rows.length }));
const within = (rows, window) => (window ? rows.slice(window.offset, window.offset + window.limit) : rows);

/** A state, its patch and the state after, as a client gets and holds them. */
function fromPatch({ name, description, columns, key, window, before, patch, after }) {
  const [from, to] = ["1", "2"];
  const snapshot = {
    type: "snapshot", id: "a", version: from, commit: patch.commit, columns, key, total: flat(before).length, sections: withCounts(before),
    ...(window && { window }), offset: window?.offset ?? 0, rows: within(flat(before), window), complete: true,
  };
  const last = patch.window ?? window;
  return {
    name, description, messages: [snapshot, { ...patch, from, to }],
    expected: {
      version: to, columns, key, total: flat(after).length, sections: withCounts(after), window: last ?? null,
      offset: last?.offset ?? 0, rows: within(flat(after), last), alongside: {},
    },
  };
}

export function corpus() {
  const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  const cases = [...read("Tests/Fixtures/patches/").map(fromPatch), ...read("Tests/Fixtures/messages/")];
  return { format: "freshet-conformance/1", protocol: "freshet.v1", server: version, cases };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = resolve(process.argv[2] ?? fileURLToPath(new URL(".build/corpus/freshet-conformance.json", root)));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(corpus(), null, 1)}\n`);
  console.log(file);
}
