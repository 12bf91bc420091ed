import assert from "node:assert/strict";
import { test } from "node:test";
import { changeSentences, criteriaSentence, successorOf } from "../../../public/browser/schema-changes.js";

const table = (name, columns, kind = "table") => ({
  name, kind, columns: Object.entries(columns).map(([column, type], index) => ({ name: column, type, notNull: false, key: index === 0 ? 1 : 0 })) });
const task = table("task", { id: "INTEGER", title: "TEXT", due: "DATE" });

test("what became of columns is said in words", () => {
  const cases = [
    [{ id: "INTEGER", title: "TEXT" }, "The column `due` is gone."],
    [{ id: "INTEGER", title: "TEXT", due: "DATE", done: "BOOLEAN" }, "There is a new column `done`."],
    [{ id: "INTEGER", name: "TEXT", due: "DATE" }, "The column `title` is now called `name`."],
    [{ id: "INTEGER", due: "DATE", name: "TEXT" }, "The column `title` is gone. There is a new column `name`."],
    [{ id: "INTEGER", name: "BLOB", due: "DATE" }, "The column `title` is gone. There is a new column `name`."],
    [{ id: "INTEGER", title: "BLOB", due: "" }, "The type of `title` is now BLOB. The type of `due` is now any."],
    [{ id: "INTEGER", title: "TEXT", due: "DATE" }, ""],
  ];
  for (const [columns, sentences] of cases) assert.equal(changeSentences(task, table("task", columns)), sentences);
});

test("a renamed table is the only new one of its kind with its columns", () => {
  const columns = { id: "INTEGER", title: "TEXT", due: "DATE" };
  const known = new Set(["task", "backup"]);
  const [todo, other, backup] = [table("todo", columns), table("todo2", columns), table("backup", columns)];
  assert.equal(successorOf(task, known, [backup, todo]), todo);
  assert.equal(successorOf(task, known, [backup]), null, "it was there before");
  assert.equal(successorOf(task, known, [todo, other]), null, "nobody knows which of the two");
  assert.equal(successorOf(task, known, [table("todo", columns, "view")]), null);
  assert.equal(successorOf(task, known, [table("todo", { id: "INTEGER", title: "TEXT" })]), null);
});

test("criteria that name a column which is not there say which", () => {
  assert.equal(criteriaSentence("orderBy[0]: no such column: task.due"), "There is no column `due`, and the sort names it.");
  assert.equal(criteriaSentence("where: no such column: due"), "There is no column `due`, and a filter names it.");
  assert.equal(criteriaSentence('where: near ")": syntax error'), 'where: near ")": syntax error');
});
