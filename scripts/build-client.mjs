#!/usr/bin/env node
// Makes public/freshet.min.js, the whole JavaScript client in one small file, and public/live-list.min.js, the element with
// the client in it; both with a map that leads back to the modules, which need no build themselves. With --check nothing is written, and the exit
// status says whether what is there is what would be.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), "freshet-client-"));
process.on("exit", () => rmSync(folder, { recursive: true }));

function run(command, ...options) {
  const { status, stdout, stderr, error } = spawnSync(command, options, { encoding: "utf8" });
  if (status === 0) return;
  console.error(error?.message ?? stdout + stderr);
  process.exit(1);
}

/** @param {string} name */
function bundle(name) {
  run("esbuild", `public/${name}.js`, "--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning",
    "--sourcemap", "--sources-content=false", `--outfile=${folder}/${name}.min.js`);
  const map = JSON.parse(readFileSync(join(folder, `${name}.min.js.map`), "utf8"));
  // Beside the file, wherever it was made.
  map.sources = map.sources.map((source) => source.replace(/^.*\/public\//, ""));
  return {
    [`${name}.min.js`]: readFileSync(join(folder, `${name}.min.js`), "utf8"),
    [`${name}.min.js.map`]: `${JSON.stringify(map)}\n`,
  };
}

const made = { ...bundle("freshet"), ...bundle("live-list") };
const stale = Object.keys(made).filter((name) => {
  const path = join("public", name);
  return !existsSync(path) || readFileSync(path, "utf8") !== made[name];
});
if (process.argv.includes("--check")) {
  if (stale.length > 0) console.error(`Out of date, run make client: ${stale.join(", ")}`);
  process.exit(stale.length > 0 ? 1 : 0);
}
for (const name of stale) writeFileSync(join("public", name), made[name]);
