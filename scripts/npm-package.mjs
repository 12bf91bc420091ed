#!/usr/bin/env node
// npm-package.mjs [FOLDER]: makes the npm package from package.json, in FOLDER (.build/npm), and prints its path. npm
// itself does it where it is installed; elsewhere this does what `npm pack` does: the files that package.json names,
// with itself, README and licence, below `package/`. --list prints the files that belong into it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const args = process.argv.slice(2);
const folder = resolve(args.find((argument) => !argument.startsWith("-")) ?? fileURLToPath(new URL("../.build/npm", import.meta.url)));
process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const { name, version, files } = JSON.parse(readFileSync("package.json", "utf8"));

/** @param {string} path @returns {string[]} */
function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((entry) => filesOf(join(path, entry)));
}

const listed = ["package.json", "README.md", "LICENSE", ...files.flatMap(filesOf)].sort();

function run(command, ...options) {
  const { status, stdout, stderr, error } = spawnSync(command, options, { encoding: "utf8" });
  if (status === 0) return stdout;
  console.error(error?.message ?? stdout + stderr);
  process.exit(1);
}

if (args.includes("--list")) {
  console.log(listed.join("\n"));
} else {
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, `${name}-${version}.tgz`);
  const hasNpm = !args.includes("--without-npm") && spawnSync("npm", ["--version"]).status === 0;
  if (hasNpm) run("npm", "pack", "--silent", "--pack-destination", folder);
  // Names alone decide: no owner, no time, no order of the file system.
  else run("tar", "--create", "--gzip", "--file", archive, "--transform", "s,^,package/,", "--sort=name", "--owner=0", "--group=0",
    "--numeric-owner", "--mtime=1985-10-26", "--mode=a+rX,u+w", ...listed);
  console.log(archive);
}
