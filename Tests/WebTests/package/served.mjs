// A database of a test's own, served by the real program until the test is over.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** @param context of the test @param {string} schema statements that make the database */
export async function served(context, schema) {
  const folder = mkdtempSync(join(tmpdir(), "freshet-npm-"));
  const database = join(folder, "app.sqlite");
  /** The output of the sqlite3 shell: another process, which knows nothing of Freshet. */
  const sql = (text) => {
    const { stdout, stderr } = spawnSync("sqlite3", ["-cmd", ".timeout 5000", database, text], { encoding: "utf8" });
    if (stderr) throw new Error(stderr);
    return stdout.trim();
  };
  sql(`PRAGMA journal_mode = WAL; ${schema}`);
  const server = spawn(process.env.FRESHET_BIN, ["serve", database, "--port", "0"]);
  context.after(() => {
    server.kill();
    rmSync(folder, { recursive: true });
  });
  const address = await new Promise((resolve, reject) => {
    let said = "";
    server.stderr.on("data", (data) => {
      said += data;
      const found = said.match(/ at (http:\/\/\S+)/);
      if (found) resolve(found[1]);
    });
    server.on("error", reject).on("exit", () => reject(new Error(said)));
  });
  return { address, sql };
}
