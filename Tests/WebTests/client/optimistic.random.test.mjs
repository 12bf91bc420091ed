// Whatever happens between a write and its answer, a list finally equals the server's, every write is done at most
// once, and each shown state follows from the patches.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { apply } from "../../../public/client/apply.js";
import { connect } from "../../../public/freshet.js";
import { clock } from "../fake-clock.mjs";
import { ModelServer, ModelSocket, statement } from "./model-server.mjs";
import { held, randomNumbers, windowOf } from "./patch-writer.mjs";
import { turns } from "./fake-socket.mjs";

/** Seeds that have found errors. They always run first. */
const { optimistic: failures } = JSON.parse(readFileSync(new URL("../../Fixtures/client-seeds.json", import.meta.url), "utf8"));
const runs = Number(process.env.FRESHET_RUNS ?? 150);
const query = { from: "well", sectionBy: "substr(name, 1, 1)", orderBy: ["name"] };

const nameOf = (random) => "ABCDE"[random(5)] + "abcd"[random(4)];
const randomRow = (random) => ({ name: nameOf(random), depth: random(9) });

/** The parts of a state that must be equal after a patch. */
const shape = (state) => ({ sections: state.sections, window: state.window, total: state.total, rows: held(state) });

class Run {
  answers = [];
  #numbers = 0;

  constructor(seed, isWindowed) {
    this.random = randomNumbers(seed);
    this.context = `seed ${seed}, ${isWindowed ? "with" : "without"} a window`;
    this.server = new ModelServer(this.random, seed % 7 > 0);
    for (let id = 0; id < this.random(14); id += 1) this.server.rows.set(id, randomRow(this.random));
    ModelSocket.all = [];
    this.client = connect("http://here", { WebSocket: ModelSocket });
    const window = { offset: this.random(6), limit: this.random(7) };
    this.list = this.client.subscribe(query, isWindowed ? { window } : {});
    this.shown = this.list.state;
    // Errors are caught here, because an error of a listener would be reported elsewhere.
    this.list.addEventListener("change", (event) => {
      try {
        this.#changed(event);
      } catch (error) {
        this.error ??= error;
      }
      this.shown = event.after;
    });
  }

  #changed({ kind, patch, before, after }) {
    assert.equal(before, this.shown, `${this.context}: a state was left out`);
    if (kind === "patch") assert.deepEqual(shape(apply(before, patch).state), shape(after), `${this.context}: ${JSON.stringify(patch)}`);
    if (kind === "snapshot" && before.isComplete) assert.equal(ModelSocket.last.delivering?.type, "snapshot", `${this.context}: a patch does not fit`);
    if (kind === "rows" && before.isComplete) assert.deepEqual(after.sections, before.sections, this.context);
    if (after.isComplete && !after.window) this.#checkOrder(after);
  }

  /** Checks that each row is sorted, and in its section. */
  #checkOrder(state) {
    const rows = held(state).map(([, row]) => row);
    for (const [index, [id, name]] of rows.entries()) {
      assert.equal(state.sections[state.pathOf(index)[0]].name, name[0], this.context);
      const [nextID, next] = rows[index + 1] ?? [];
      if (next === undefined) continue;
      const isAscending = name < next || (name === next && (typeof id === "string" || typeof nextID === "string" || id < nextID));
      assert.ok(isAscending, `${this.context}: ${name} before ${next}`);
    }
  }

  #write() {
    const { random, list } = this;
    const keys = [...list.state.entries()].map(([, row]) => row.id).filter((id) => typeof id === "number");
    const kind = ["insert", "update", "update", "delete"][random(4)];
    const number = (this.#numbers += 1);
    const id = kind === "insert" ? (random(3) === 0 ? undefined : random(4) === 0 ? random(20) : 1_000 + number) : keys[random(keys.length || 1)];
    if (kind !== "insert" && id === undefined) return;
    const row = kind === "delete" ? { id } : kind === "update" && random(2) ? { id, depth: random(9) } : { id, ...randomRow(random) };
    const operation = { number, kind, row, isRefused: random(6) === 0, skew: random(6) === 0 ? randomRow(random) : {} };
    const answer = { number, outcome: "open" };
    this.answers.push(answer);
    list.optimistically({ [kind]: row }, statement(operation)).then(
      () => (answer.outcome = "committed"), (error) => (answer.outcome = error.code ?? (this.error ??= error)));
  }

  #writeElsewhere() {
    const { random, server } = this;
    const id = random(20);
    server.write((rows) => (random(4) === 0 ? rows.delete(id) : rows.set(id, randomRow(random))));
  }

  step() {
    const { random, server } = this;
    const socket = ModelSocket.last;
    const kind = random(16);
    if (socket?.readyState === 0) server.open(socket);
    else if (kind < 3) this.#write();
    else if (kind < 5) this.#writeElsewhere();
    else if (kind < 8) server.read(socket);
    else if (kind < 12) socket.deliver();
    else if (kind < 14) server.tell(socket, "1");
    else if (kind === 14 && this.list.window) this.list.setWindow({ offset: random(8), limit: random(7) });
    else if (random(3) === 0) this.#break();
  }

  #break() {
    if (this.random(3) === 0) this.server.restart();
    if (ModelSocket.last.readyState === 1) ModelSocket.last.drop();
    if (this.random(2)) clock.tick(20_000);
  }

  /** Lets all messages arrive. */
  async end() {
    for (let round = 0; round < 200; round += 1) {
      clock.tick(2_000);
      await turns();
      const socket = ModelSocket.last;
      if (socket.readyState === 0) this.server.open(socket);
      while (this.server.read(socket) || socket.deliver()) await turns();
      this.server.tell(socket, "1");
      while (socket.deliver()) await turns();
    }
    this.client.close();
  }

  check() {
    const { list, server, context } = this;
    if (this.error) throw this.error;
    assert.deepEqual(list.pending, [], context);
    const rows = server.world.flatMap((section) => section.rows);
    assert.deepEqual(held(list.state), windowOf(rows, list.window), context);
    assert.deepEqual(list.sections.map(({ name, count }) => [name, count]), server.world.map(({ name, rows }) => [name, rows.length]), context);
    for (const { number, outcome } of this.answers) {
      const done = server.done.get(number) ?? 0;
      const expected = outcome === "committed" ? [1] : outcome === "outcome_unknown" ? [0, 1] : [0];
      assert.ok(expected.includes(done), `${context}: write ${number} was done ${done} times, and its answer is ${outcome}`);
      assert.ok(["committed", "outcome_unknown", "constraint", "overloaded"].includes(outcome), `${context}: ${outcome}`);
    }
  }
}

async function run(seed, isWindowed) {
  clock.start();
  try {
    const each = new Run(seed, isWindowed);
    await turns();
    for (let step = 0; step < 60; step += 1) {
      each.step();
      await turns();
      if (each.error) throw each.error;
    }
    await each.end();
    each.check();
    return each.answers.map(({ outcome }) => outcome);
  } catch (error) {
    error.message = `seed ${seed}: ${error.message}`;
    throw error;
  } finally {
    clock.stop();
  }
}

for (const isWindowed of [false, true]) {
  test(`random writes, here and elsewhere, refusals and broken connections, ${isWindowed ? "with" : "without"} a window`, async () => {
    const outcomes = new Set();
    const first = Number(process.env.FRESHET_SEED ?? 1);
    const seeds = [...failures, ...Array.from({ length: runs }, (_, index) => first + index)];
    for (const seed of seeds) for (const outcome of await run(seed, isWindowed)) outcomes.add(outcome);
    if (runs >= 100) assert.deepEqual([...outcomes].filter((each) => each !== "overloaded").sort(), ["committed", "constraint", "outcome_unknown"]);
  });
}
