import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pageFor } from "../../../public/browser/pages.js";

const root = new URL("../../../public/", import.meta.url);

/** Modules that a module needs, itself among them. */
function needed(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  const source = readFileSync(new URL(path, root), "utf8");
  for (const [, named, plain] of source.matchAll(/^\s*(?:import|export)\b[^;]*?from "(\.[^"]+)"|^import "(\.[^"]+)"/gm)) {
    needed(new URL(named ?? plain, new URL(path, root)).href.slice(root.href.length), found);
  }
  return found;
}

test("the page asks at once for all modules that its first rows need, and for no other", () => {
  const html = readFileSync(new URL("index.html", root), "utf8");
  const preloaded = [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, path]) => path);
  const wanted = needed("browser/browser-view.js", needed("shell/app.js"));
  wanted.delete("shell/app.js");
  assert.deepEqual(preloaded.sort(), [...wanted].sort());
});

test("each state of a server has a page that says what to do", () => {
  const titles = {
    "This file has no tables yet": { status: "ok", detail: "", code: "" }, "The server does not answer": { status: "offline", detail: "", code: "" },
    "This server wants to know who you are": { status: "unauthenticated", detail: "a token is needed", code: "unauthenticated" },
    "Nothing is shown to you here": { status: "published", detail: "", code: "not_allowed" },
    "The file is not there yet": { status: "unavailable", detail: "the database is not there", code: "overloaded" },
    "The file is locked": { status: "unavailable", detail: "database is locked", code: "overloaded" },
    "The file is damaged": { status: "unavailable", detail: "database disk image is malformed", code: "internal" },
    "The file cannot be read at the moment": { status: "unavailable", detail: "the database cannot be read at the moment", code: "overloaded" },
  };
  for (const [title, schema] of Object.entries(titles)) {
    const page = pageFor(schema, false);
    assert.equal(page.title, title);
    assert.ok(page.sentences.join(" ").length > 40 && page.sentences.every((text) => text === "" || /[.:]$/.test(text)), title);
    assert.ok(!schema.detail || page.sentences.some((text) => text.toLowerCase().startsWith(schema.detail)), "what the server says is told");
  }
  assert.equal(pageFor({ status: "unauthenticated", detail: "", code: "" }, true).title, "The token was not accepted");
  assert.ok(pageFor({ status: "unauthenticated", detail: "", code: "" }, true).hasToken);
});
