#!/usr/bin/env node
// Makes public/freshet.min.js, the whole JavaScript client in one small file, public/live-list.min.js and
// live-chart.min.js, the elements with the client in them, and public/app.min.js and .css, the page: a hundred modules
// take ten times as long to load. All with a map that leads back to the modules, which need no build themselves. With
// --check nothing is written, and the exit status says whether what is there is what would be.
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

/** @param {string} source in public/ @param {string} name of what is made, beside which its map stands */
function bundle(source, name) {
  run("esbuild", `public/${source}`, "--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning",
    "--sourcemap", "--sources-content=false", `--outfile=${folder}/${name}`);
  const map = JSON.parse(readFileSync(join(folder, `${name}.map`), "utf8"));
  // Next to the file, wherever it was made.
  map.sources = map.sources.map((path) => path.replace(/^.*\/public\//, ""));
  return { [name]: readFileSync(join(folder, name), "utf8"), [`${name}.map`]: `${JSON.stringify(map)}\n` };
}

const made = {
  ...bundle("freshet.js", "freshet.min.js"), ...bundle("live-list.js", "live-list.min.js"),
  ...bundle("live-chart.js", "live-chart.min.js"),
  ...bundle("shell/app.js", "app.min.js"), ...bundle("shell/app.css", "app.min.css"),
};
const stale = Object.keys(made).filter((name) => {
  const path = join("public", name);
  return !existsSync(path) || readFileSync(path, "utf8") !== made[name];
});
if (process.argv.includes("--check")) {
  if (stale.length > 0) console.error(`Out of date, run make client: ${stale.join(", ")}`);
  process.exit(stale.length > 0 ? 1 : 0);
}
for (const name of stale) writeFileSync(join("public", name), made[name]);
