import assert from "node:assert/strict";
import { test } from "node:test";
import { destinationOf, TypedLetters } from "../../../public/element/keys.js";

const sections = ["Adams", "Baca", "Bent", "Clay"].map((name) => ({ name, indexTitle: name[0], count: 10 }));
const place = (offset) => ({ offset, total: 40, page: 8, sections });
const key = (name, modifiers = {}) => ({ key: name, ctrlKey: false, altKey: false, metaKey: false, ...modifiers });

test("keys lead by rows, pages, sections, and to the ends", () => {
  const cases = [
    ["ArrowDown", 5, 6], ["ArrowUp", 5, 4], ["ArrowUp", 0, 0], ["ArrowDown", 39, 39],
    ["PageDown", 5, 12], ["PageDown", 38, 39], ["PageUp", 5, 0], ["Home", 17, 0], ["End", 17, 39],
    ["]", 5, 10], ["]", 10, 20], ["]", 35, 30], ["[", 15, 10], ["[", 10, 0], ["[", 0, 0],
  ];
  for (const [name, from, to] of cases) assert.equal(destinationOf(key(name), place(from)), to, `${name} from ${from}`);
  assert.equal(destinationOf(key("ArrowDown", { ctrlKey: true }), place(5)), 10);
  assert.equal(destinationOf(key("ArrowUp", { ctrlKey: true }), place(15)), 10);
  assert.equal(destinationOf(key("Home", { ctrlKey: true }), place(15)), 0);
});

test("other keys lead nowhere, nor do those of the browser or an empty list", () => {
  for (const name of ["a", "Enter", "toString", "Tab"]) assert.equal(destinationOf(key(name), place(5)), null);
  assert.equal(destinationOf(key("ArrowDown", { altKey: true }), place(5)), null);
  assert.equal(destinationOf(key("Home", { metaKey: true }), place(5)), null);
  assert.equal(destinationOf(key("End"), { offset: -1, total: 0, page: 8, sections: [] }), null);
});

test("a letter leads to its section, the same one again to the next", () => {
  const letters = new TypedLetters();
  assert.equal(letters.type("b", 0, sections, 0), 1);
  assert.equal(letters.type("b", 100, sections, 1), 2);
  assert.equal(letters.type("b", 200, sections, 2), 1);
  assert.equal(letters.type("C", 5000, sections, 0), 3);
  assert.equal(letters.type("x", 9000, sections, 0), -1);
});

test("letters in quick succession are the beginning of a name", () => {
  const letters = new TypedLetters();
  assert.deepEqual([..."ben"].map((letter, index) => letters.type(letter, index * 100, sections, 0)), [1, 2, 2]);
  assert.equal(letters.type("a", 2000, sections, 2), 0, "after a pause another begins");
  assert.equal(letters.type("c", 2100, sections, 0), 3, "no name begins with both: the last one counts");
});

test("sections may be numbers, or have no name", () => {
  const years = [{ name: null, indexTitle: "", count: 1 }, { name: 1999, indexTitle: "1", count: 1 }];
  assert.equal(new TypedLetters().type("1", 0, years, 0), 1);
});
