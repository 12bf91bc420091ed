// Makes Tests/Fixtures/overlays: the shown state of a server's list with changes laid over it, step by step, which
// every client's overlay must show.
//
//     node Tests/WebTests/client/overlay-corpus.mjs
//
// A plain model computes the shown state: the union of rows, sorted. With a window, where that lies is taken from the
// client, and the model says what is in it.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { apply } from "../../../public/client/apply.js";
import { LaidChange } from "../../../public/client/optimistic-change.js";
import { OverlaidModel } from "../../../public/client/overlaid-model.js";
import { emptyState } from "../../../public/client/list-state.js";
import { makePatch, order as byName, randomNumbers, sectionOrder as byFirstLetter, snapshotOf, term, windowOf } from "./patch-writer.mjs";

const columns = ["id", "name", "depth"];
const names = ["Aa", "AB", "ab", "Ba", "bb", "Ca", "cc", "B", "a"];
const depths = [0, 1, 2, 3, null, -1.5, "x"];

// MARK: The model's order

const kindOf = (value) => (value === null ? 0 : typeof value === "number" ? 1 : 2);
function compareBy({ column, collation, descending, nulls, of }, left, right) {
  const valueOf = (row) => {
    const value = row[columns.indexOf(column ?? of.column)];
    const cut = of?.calls ? value && value.slice(0, 1) : value;
    return collation === "NOCASE" && typeof cut === "string" ? cut.toLowerCase() : cut;
  };
  const [one, other] = [valueOf(left), valueOf(right)];
  if ((one === null) !== (other === null)) return (one === null) === (nulls === "first") ? -1 : 1;
  const order = kindOf(one) - kindOf(other) || (one < other ? -1 : one > other ? 1 : 0);
  return descending ? -order : order;
}
const compareAll = (terms, left, right) => terms.reduce((order, each) => order || compareBy(each, left, right), 0);

const nameOf = (sectionOrder, row) => {
  const value = row[columns.indexOf(sectionOrder.column ?? sectionOrder.of.column)];
  return sectionOrder.of ? value.slice(0, 1) : value;
};

/** Sections with their rows. If clients do not know the order, rows are in the server's order. */
function sorted(rows, { order, sectionOrder = null, sorts = order, sectionSorts = sectionOrder }) {
  const all = [...rows].sort((left, right) => (sectionOrder ? compareBy(sectionSorts, left, right) : 0) || compareAll(sorts, left, right));
  if (!sectionOrder) return [{ name: "", rows: all }];
  const sections = [];
  for (const row of all) {
    const last = sections.at(-1);
    if (last && compareBy(sectionSorts, last.rows[0], row) === 0) last.rows.push(row);
    else sections.push({ name: nameOf(sectionOrder, row), rows: [row] });
  }
  return sections;
}

// MARK: The model's changes

function changed(row, kind, given) {
  if (kind === "delete") return undefined;
  if (kind === "update" && !row) return undefined;
  return columns.map((column, index) => (Object.hasOwn(given, column) ? given[column] : row?.[index] ?? null));
}

const stepsOf = (change) => ["delete", "update", "insert"].flatMap((kind) => (change[kind] ?? []).map((row) => ({ kind, row })));

class Run {
  server = new Map();
  shown = emptyState;
  base = emptyState;
  changes = [];
  steps = [];
  #commit = 1;
  #count = 0;
  /** Changed rows that the client has held since the change, with the values that it held last. */
  #known = new Map();

  constructor(scenario, seed) {
    Object.assign(this, { scenario, random: randomNumbers(seed), window: scenario.window ?? null, model: new OverlaidModel() });
    for (let id = 0; id < 12; id += 1) if (this.random(4)) this.server.set(id, this.row(id));
    this.say(this.snapshot());
  }

  row(id) {
    return [id, names[this.random(names.length)], depths[this.random(depths.length)]];
  }

  get world() {
    return sorted(this.server.values(), this.scenario);
  }

  snapshot() {
    const { order, sectionOrder } = this.scenario;
    const { type, version, total, ...rest } = snapshotOf(this.world, this.window, `v${this.#commit}`);
    const offset = Math.min(this.window?.offset ?? 0, total);
    return { ...rest, type, version, total, offset, commit: this.#commit, order, sectionOrder };
  }

  get held() {
    const rows = this.world.flatMap(({ rows }) => rows);
    return windowOf(rows, this.window).map(([, row]) => row);
  }

  get pendingIDs() {
    return new Set(this.changes.flatMap(({ change }) => stepsOf(change).map(({ row }) => row.id)));
  }

  /** Applies a message of the server. */
  say(message) {
    if (message.type === "snapshot") this.#known.clear();
    const { state, changes } = apply(this.base, message);
    this.base = state;
    this.changes = this.changes.filter(({ commit }) => commit === undefined || commit > state.commit);
    this.model.changes = this.changes.map(({ laid }) => laid);
    this.#record({ message }, this.model.take(message, state, changes));
  }

  lay() {
    const change = {};
    for (let count = 1 + this.random(2); count > 0; count -= 1) {
      const [id, name, depth] = this.row(this.random(15));
      const [kind, row] = [["delete", { id }], ["insert", { id, name, depth }], ["insert", { id, name }], ["update", { id, name }], ["update", { id, depth }], ["update", { id, name, depth }]][this.random(6)];
      (change[kind] ??= []).push(row);
    }
    const id = (this.#count += 1);
    const laid = new LaidChange(change);
    this.#relay({ lay: { id, change } }, [...this.changes, { id, change, laid }]);
  }

  /** Commits the first change. The server's list shows it only with the next patch. */
  commit() {
    const first = this.changes.find(({ commit }) => commit === undefined);
    if (!first) return this.write(() => {});
    const { change, id } = first;
    const commit = this.#commit + 1;
    this.#relay({ committed: { id, commit } }, this.changes.map((each) => (each === first ? { ...each, commit } : each)));
    this.write(() => {
      for (const { kind, row } of stepsOf(change)) this.#put(row.id, changed(this.server.get(row.id), kind, row));
      // Sometimes a trigger or another client changes a row too.
      if (this.random(4) === 0) this.#put(this.random(15), this.row(0));
    });
  }

  refuse() {
    const open = this.changes.filter(({ commit }) => commit === undefined);
    if (open.length === 0) return;
    const gone = open[this.random(open.length)];
    this.#relay({ refused: gone.id }, this.changes.filter((each) => each !== gone));
  }

  write(change = () => {
    const id = this.random(15);
    this.#put(id, this.random(4) === 0 ? undefined : this.row(id));
  }) {
    const before = this.world;
    change();
    this.#commit += 1;
    const { patch } = makePatch(before, this.world, this.window, this.base.version, `v${this.#commit}`);
    this.window = patch.window ?? null;
    const gone = [...(patch.deleted ?? []).map(([section, item]) => before[section].rows[item]), ...(patch.sectionsDeleted ?? []).flatMap((section) => before[section].rows)];
    for (const [id] of gone) this.#known.delete(id);
    this.say({ ...patch, commit: this.#commit });
  }

  scroll() {
    this.window = { offset: this.random(10), limit: [0, 2, 4, 5, 100][this.random(5)] };
    const rows = this.held;
    const offset = Math.min(this.window.offset, this.server.size);
    this.say({ type: "rows", version: this.base.version, window: this.window, offset, rows, complete: true });
  }

  #put(id, row) {
    if (row) this.server.set(id, [id, row[1], row[2]]);
    else this.server.delete(id);
  }

  #relay(step, changes) {
    this.changes = changes;
    this.model.changes = changes.map(({ laid }) => laid);
    this.#record(step, this.model.lay());
  }

  #record(step, shown) {
    const { state } = this.model;
    for (const id of this.#known.keys()) if (!this.pendingIDs.has(id)) this.#known.delete(id);
    for (const row of this.held) if (this.pendingIDs.has(row[0])) this.#known.set(row[0], row);
    if (shown?.message.type === "patch") assert.deepEqual(shapeOf(apply(this.shown, shown.message).state), shapeOf(state));
    this.shown = state;
    const expected = this.#expected(state);
    const first = Math.min(state.window?.offset ?? 0, state.total);
    const last = state.window ? Math.min(first + state.window.limit, state.total) : state.total;
    const rows = expected.flatMap((section) => section.rows);
    assert.deepEqual(state.sections.map(({ name, count }) => [name, count]), expected.map(({ name, rows }) => [name, rows.length]));
    assert.deepEqual(shapeOf(state).rows, rows.slice(first, last).map((row, index) => [first + index, row]));
    for (const row of this.held) if (!this.pendingIDs.has(row[0])) assert.ok(rows.slice(first, last).some(([id]) => id === row[0]), "a row that nothing touches");
    const pendingOf = (row) => state.pendingOf(row)?.isPlaced ?? null;
    this.steps.push({
      ...step,
      shown: {
        sections: state.sections.map(({ name, indexTitle, count }) => [name, indexTitle, count]), ...(state.window && { window: [first, last] }),
        rows: [...state.entries()].map(([, row]) => [...columns.map((column) => row[column]), pendingOf(row)]),
      },
    });
  }

  /** Sections of all rows, with the changes as far as the client can lay them over the list. */
  #expected(state) {
    const rows = new Map(this.server);
    const unknown = [];
    const heldIDs = new Set(this.held.map(([id]) => id));
    const shownIDs = new Set([...state.entries()].map(([, row]) => row.id));
    for (const id of this.pendingIDs) {
      let row = this.#known.get(id);
      const isKnown = row !== undefined;
      for (const { kind, row: given } of this.changes.flatMap(({ change }) => stepsOf(change))) if (given.id === id) row = changed(row, kind, given);
      if (!isKnown && row) unknown.push(row);
      // Elsewhere a row stays as the server has it, unless it comes into the window.
      else if (isKnown && !row) rows.delete(id);
      else if (isKnown && (heldIDs.has(id) || shownIDs.has(id))) rows.set(id, row);
    }
    return this.scenario.shows ? this.scenario.shows(this.world, rows, unknown) : sorted([...rows.values(), ...unknown], this.scenario);
  }
}

const shapeOf = (state) => ({
  sections: state.sections, window: state.window, total: state.total,
  rows: [...state.entries()].map(([offset, row]) => [offset, columns.map((column) => row[column])]),
});

/** If the order is unknown, a changed row keeps its position, and new rows come last, in the order of the changes. */
const stays = (world, rows, unknown) => [{ name: "", rows: [...world[0].rows.filter(([id]) => rows.has(id)).map(([id]) => rows.get(id)), ...unknown] }];

const byID = term("id");
const depthDescending = term("depth", { descending: true, nulls: "last" });
const scenarios = {
  "by-name": { order: byName },
  "by-key": { order: [byID] },
  "sections-of-first-letters": { order: byName, sectionOrder: byFirstLetter },
  "sections-without-case": { order: [term("depth", { nulls: "last" }), term("name", { collation: "NOCASE", descending: true, nulls: "first" }), byID], sectionOrder: { ...byFirstLetter, of: undefined, column: "name" } },
  "sections-descending": { order: [term("name", { collation: "NOCASE" }), byID], sectionOrder: { ...depthDescending, sorted: true } },
  "unknown-order": { order: [term(null), byID], sorts: [depthDescending, byID], shows: stays },
};
const windows = { "": null, "-at-the-start": { offset: 0, limit: 5 }, "-in-the-middle": { offset: 3, limit: 4 } };

function run(scenario, seed) {
  const run = new Run(scenario, seed);
  for (let step = 0; step < 30; step += 1) {
    const kind = run.random(12);
    if (kind < 5) run.lay();
    else if (kind < 7) run.commit();
    else if (kind === 7) run.refuse();
    else if (kind < 10) run.write();
    else if (kind === 10 && run.window) run.scroll();
    else if (kind === 11 && run.random(3) === 0) run.say(run.snapshot());
  }
  return run.steps;
}

/** @returns the files' contents by name */
export function corpus(seed) {
  const files = new Map();
  for (const [name, scenario] of Object.entries(scenarios)) {
    for (const [suffix, window] of Object.entries(windows)) {
      if (window && scenario.shows) continue;
      try {
        const steps = run({ ...scenario, window }, seed).map((step) => JSON.stringify(step));
        files.set(`${name}${suffix}.json`, `{"columns":${JSON.stringify(columns)},"steps":[\n${steps.join(",\n")}\n]}\n`);
      } catch (error) {
        error.message = `${name}${suffix}, seed ${seed}: ${error.message}`;
        throw error;
      }
    }
  }
  return files;
}

export const corpusSeed = 1;

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const folder = new URL("../../Fixtures/overlays/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of corpus(corpusSeed)) writeFileSync(new URL(name, folder), text);
}
