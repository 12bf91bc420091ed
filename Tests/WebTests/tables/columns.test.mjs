import assert from "node:assert/strict";
import { test } from "node:test";
import { LayoutStore, moved, noLayout, orderedColumns, resized, shown, visibleColumns } from "../../../public/browser/column-layout.js";

const columns = ["id", "a", "b", "c"];

test("columns are in the order that somebody gave them, keys first and new ones last", () => {
  assert.deepEqual(orderedColumns(noLayout, ["a", "id", "b"], ["id"]), ["id", "a", "b"]);
  const layout = moved(noLayout, columns, "c", "a");
  assert.deepEqual(orderedColumns(layout, [...columns, "new"], ["id"]), ["id", "c", "a", "b", "new"]);
  assert.deepEqual(orderedColumns(moved(layout, orderedColumns(layout, columns, ["id"]), "c", null), columns, ["id"]), ["id", "a", "b", "c"]);
});

test("columns are hidden and shown, a key never", () => {
  const layout = shown(shown(noLayout, "a", false), "id", false);
  assert.deepEqual(visibleColumns(layout, columns, ["id"]), ["id", "b", "c"]);
  assert.deepEqual(visibleColumns(shown(layout, "a", true), columns, ["id"]), columns);
});

test("layouts are kept by table and server, and a broken one is none", () => {
  const items = new Map();
  const storage = { getItem: (name) => items.get(name) ?? null, setItem: (name, value) => items.set(name, value) };
  const layout = resized(resized(shown(noLayout, "a", false), "b", 99.6), "c", 50);
  new LayoutStore(storage, "http://a/").write("t", resized(layout, "c", null));
  assert.deepEqual(new LayoutStore(storage, "http://a/").read("t"), { order: [], hidden: ["a"], widths: { b: 100 } });
  assert.deepEqual(new LayoutStore(storage, "http://b/").read("t"), noLayout);
  items.set("freshet columns http://a/ t", "{");
  assert.deepEqual(new LayoutStore(storage, "http://a/").read("t"), noLayout);
  const full = { getItem: () => { throw new Error("forbidden"); }, setItem: () => { throw new Error("full"); } };
  new LayoutStore(full, "").write("t", layout);
  assert.deepEqual(new LayoutStore(full, "").read("t"), noLayout);
});
