// No data can become markup or code, because the sources do not use functions that could do that.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../../public/", import.meta.url);
const paths = (folder) => readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? paths(`${folder}${entry.name}/`) : [`${folder}${entry.name}`]);

test("no source makes markup or programs out of text", () => {
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function|setAttribute\("on/;
  const sources = paths("").filter((path) => path.endsWith(".js") && !path.endsWith(".min.js"));
  assert.ok(sources.length > 40);
  for (const path of sources) assert.doesNotMatch(readFileSync(new URL(path, root), "utf8"), forbidden, path);
});

test("no page has styles or programs of its own in its markup", () => {
  for (const path of paths("").filter((path) => path.endsWith(".html"))) {
    assert.doesNotMatch(readFileSync(new URL(path, root), "utf8"), /<style|style=|<script(?![^>]*\ssrc=)|\son\w+=/, path);
  }
});
