#!/usr/bin/env node
// Keeps the links of public/index.html that make browsers load the page's modules all at once, instead of one import after the other
// has been read: those of the page itself, and of the table browser, which any file has. With --check nothing is written, and the exit status says whether
// the links are what they would be.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../public/", import.meta.url);
const page = new URL("index.html", root);
/** What is loaded first; the code of other views comes when they are shown. */
const entries = ["shell/app.js", "browser/browser-view.js"];

/** Modules by static imports, each before those it imports. */
function modulesOf(names) {
  const found = new Set();
  const queue = names.map((name) => new URL(name, root).href);
  for (const address of queue) {
    if (found.has(address)) continue;
    found.add(address);
    const text = readFileSync(fileURLToPath(address), "utf8");
    for (const [, from] of text.matchAll(/^(?:import|export) (?:[^"';]*? from )?"(\.[^"]+)";/gm)) queue.push(new URL(from, address).href);
  }
  return [...found].map((address) => address.slice(root.href.length));
}

const text = readFileSync(page, "utf8");
const [begin, end] = ["  <!-- Modules, by scripts/preload-links.mjs -->\n", "  <!-- End of modules -->\n"];
const [before, rest] = text.split(begin);
const [, after] = (rest ?? "").split(end);
if (after === undefined) {
  console.error("public/index.html has no place for the links");
  process.exit(1);
}
const links = modulesOf(entries).filter((name) => name !== entries[0]).map((name) => `  <link rel="modulepreload" href="${name}">\n`);
const wanted = before + begin + links.join("") + end + after;
if (process.argv.includes("--check")) {
  if (text !== wanted) console.error("Out of date, run scripts/preload-links.mjs: public/index.html");
  process.exit(text === wanted ? 0 : 1);
}
writeFileSync(page, wanted);
