// Writes that show at once against a real server, while the sqlite3 shell writes too, and connections break.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { apply } from "../../../public/client/apply.js";
import { connect, sql } from "../../../public/freshet.js";
import { held, randomNumbers } from "../client/patch-writer.mjs";
import { NodeSocket } from "./node-socket.mjs";

const binary = process.env.FRESHET_BIN ?? ".build/release/freshet";
const folder = mkdtempSync(join(tmpdir(), "freshet-optimistic-"));
const database = join(folder, "wells.sqlite");
const shell = (text) => execFileSync("sqlite3", ["-batch", "-cmd", ".timeout 5000", database, text], { encoding: "utf8" }).trim();
const sockets = [];

class Socket extends NodeSocket {
  constructor(...place) {
    super(...place);
    sockets.push(this);
  }
}

let server;
after(() => {
  server?.kill();
  rmSync(folder, { recursive: true });
});

/** @returns the port */
async function serve(port = 0) {
  server = spawn(binary, ["serve", database, "--port", String(port), "--allow-writes"], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (data) => (output += data));
  await becomes(() => /127\.0\.0\.1:\d+/.test(output), () => output);
  return Number(/127\.0\.0\.1:(\d+)/.exec(output)[1]);
}

async function becomes(holds, context) {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < deadline, `it does not become so: ${context()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const shape = (state) => ({ sections: state.sections, window: state.window, total: state.total, rows: held(state) });

for (const window of [null, { offset: 3, limit: 8 }]) {
  test(`random writes ${window ? "with" : "without"} a window end with what the file has`, async () => {
    const seed = Number(process.env.FRESHET_SEED ?? Date.now() % 100_000);
    const random = randomNumbers(seed);
    const context = `FRESHET_SEED=${seed}`;
    const nameOf = () => "ABCDE"[random(5)] + "abcd"[random(4)];
    shell(`DROP TABLE IF EXISTS well; DROP TABLE IF EXISTS done; PRAGMA journal_mode = WAL;
      CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE CHECK (length(name) < 9), depth); CREATE TABLE done(number INTEGER);`);
    for (let id = 1; id <= 15; id += 1) shell(`INSERT INTO well VALUES (${id}, '${nameOf()}', ${random(9)})`);
    let port = await serve();
    const client = connect(`http://127.0.0.1:${port}/`, { WebSocket: Socket });
    const list = client.subscribe({ from: "well", sectionBy: "substr(name, 1, 1)", orderBy: ["name"] }, { ...(window && { window }) });
    const problems = [];
    let shown = list.state;
    list.addEventListener("change", ({ kind, patch, before, after: next }) => {
      try {
        assert.equal(before, shown, "a state was left out");
        if (kind === "patch") assert.deepEqual(shape(apply(before, patch).state), shape(next));
      } catch (error) {
        problems.push(error);
      }
      shown = next;
    });
    await becomes(() => list.status === "live", () => list.status);

    const answers = [];
    const write = () => {
      const number = answers.length;
      const keys = [...list.state.entries()].map(([, row]) => row.id).filter((id) => typeof id === "number");
      const id = keys[random(keys.length || 1)] ?? 1;
      const name = random(6) === 0 ? "much too long" : nameOf();
      const [change, statement] = [
        () => [{ insert: { name, depth: number } }, sql`INSERT INTO well(name, depth) VALUES (${name}, ${number}) RETURNING id`],
        () => [{ update: { id, name } }, sql`UPDATE well SET name = ${name} WHERE id = ${id}`],
        () => [{ update: { id, depth: number } }, sql`UPDATE well SET depth = ${number} WHERE id = ${id}`],
        () => [{ delete: { id } }, sql`DELETE FROM well WHERE id = ${id}`],
      ][random(4)]();
      const answer = { outcome: "open" };
      answers.push(answer);
      list.optimistically(change, [sql`INSERT INTO done VALUES (${number})`, statement])
        .then(() => (answer.outcome = "committed"), (error) => (answer.outcome = error.code));
    };
    for (let step = 0; step < 120; step += 1) {
      const kind = random(24);
      if (kind < 14) write();
      else if (kind < 17) shell(random(2) ? `UPDATE well SET name = '${nameOf()}' WHERE id = ${1 + random(15)}` : `DELETE FROM well WHERE id = ${1 + random(20)}`);
      else if (kind === 17) sockets.at(-1).break();
      else if (kind === 18 && random(3) === 0) {
        const gone = new Promise((resolve) => server.once("exit", resolve));
        server.kill("SIGKILL");
        await gone;
        port = await serve(port);
      } else if (kind === 19 && window) list.setWindow({ offset: random(10), limit: random(9) }).catch(() => {});
      else await new Promise((resolve) => setTimeout(resolve, random(12)));
      if (client.status !== "live" && random(4) === 0) client.retry();
    }
    await becomes(() => {
      client.retry();
      return list.status === "live" && list.pending.length === 0 && answers.every(({ outcome }) => outcome !== "open");
    }, () => `${context}: ${list.status}, ${JSON.stringify(list.pending)}`);
    const rows = JSON.parse(shell("SELECT json_group_array(json_array(id, name, depth)) FROM (SELECT * FROM well ORDER BY substr(name, 1, 1), name, id)"));
    const wanted = () => rows.map((row, offset) => [offset, row]).filter(([offset]) => !list.window || (offset >= list.window.offset && offset < list.window.offset + list.window.limit));
    const isSame = () => list.total === rows.length && JSON.stringify(held(list.state)) === JSON.stringify(wanted());
    await becomes(isSame, () => `${context}: ${JSON.stringify([held(list.state), wanted()])}`);
    assert.deepEqual(problems, [], context);
    const done = JSON.parse(shell("SELECT json_group_array(number) FROM done"));
    for (const [number, { outcome }] of answers.entries()) {
      const times = done.filter((each) => each === number).length;
      const expected = outcome === "committed" ? [1] : outcome === "outcome_unknown" ? [0, 1] : [0];
      assert.ok(expected.includes(times), `${context}: write ${number} was done ${times} times, and its answer is ${outcome}`);
      assert.ok(["committed", "outcome_unknown", "constraint"].includes(outcome), `${context}: ${outcome}`);
    }
    client.close();
    server.kill();
  });
}
