// @ts-check
/** What is shown where there are no tables: what is so, and what to do about it. Pure but for the elements. */

import { element, part } from "../shell/dom.js";
import { currentToken, useToken } from "../shell/session.js";

/** @typedef {import("../shell/schema.js").Schema} Schema */

/**
 * A page's words: a title, sentences, and commands to type.
 *
 * @typedef {{title: string, sentences: string[], commands?: string[], hasToken?: boolean}} Page
 */

/**
 * What to say of a server that has no tables to show.
 *
 * @param {Pick<Schema, "status" | "detail" | "code">} schema @param {boolean} hasToken whether one was given
 * @returns {Page}
 */
export function pageFor({ status, detail, code }, hasToken) {
  switch (status) {
    case "ok": return {
      title: "This file has no tables yet",
      sentences: ["They appear here as soon as somebody creates one, whichever program does it:"],
      commands: ['sqlite3 FILE "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)"', "freshet import FILE TABLE rows.csv"],
    };
    case "offline": return {
      title: "The server does not answer",
      sentences: ["It has stopped, or the network is down. This page goes on by itself as soon as the server is back.", "To start it:"],
      commands: ["freshet serve FILE"],
    };
    case "unauthenticated": return {
      title: hasToken ? "The token was not accepted" : "This server wants to know who you are",
      sentences: [...(detail ? [`${sentence(detail)}`] : []), "It answers clients with a JSON Web Token, which whoever runs it gives out. Tokens stay in this tab and are forgotten with it."],
      hasToken: true,
    };
    case "published": return {
      title: "Nothing is shown to you here",
      sentences: [...(detail ? [sentence(detail)] : []), "Whoever runs this server can publish queries, let you ask your own with --allow-queries, or give you a token of a role that may:"],
      hasToken: true,
    };
    default: return unavailable(detail, code);
  }
}

/** @param {string} detail @param {string} code @returns {Page} */
function unavailable(detail, code) {
  const waits = "This page shows the tables as soon as the file can be read.";
  if (/not there|no file|missing|does not exist/i.test(detail)) {
    return { title: "The file is not there yet", sentences: [sentence(detail), "The server waits for it. Check the path that it was started with, or create the file:", waits],
      commands: ['sqlite3 FILE "PRAGMA journal_mode = WAL"'] };
  }
  if (/locked|busy/i.test(detail)) {
    return { title: "The file is locked", sentences: [sentence(detail), "Another program is in the middle of a long transaction, or holds an exclusive lock. End it, or wait.", waits] };
  }
  if (/malformed|corrupt|not a database|damaged/i.test(detail)) {
    return { title: "The file is damaged", sentences: [sentence(detail), "SQLite cannot read it. Restore a copy, or save what can be saved:"], commands: ["sqlite3 FILE .recover | sqlite3 RECOVERED"] };
  }
  return { title: "The file cannot be read at the moment",
    sentences: [sentence(detail || code), "It is missing, locked by another program, or damaged; the server's log says which. The server tries again by itself.", waits],
    commands: ['sqlite3 FILE "PRAGMA integrity_check"'] };
}

/** @param {string} text of the server, which begins small and ends without a full stop */
function sentence(text) {
  return text === "" ? "" : `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/**
 * Shows a page instead of the tables.
 *
 * @param {Page} page
 */
export function showPage({ title, sentences, commands = [], hasToken }) {
  const contents = element("div", { className: "state-page" }, element("h2", {}, title),
    ...sentences.map((text) => element("p", {}, text)), ...commands.map((command) => element("pre", {}, element("code", {}, command))));
  if (hasToken) contents.append(tokenForm());
  part("table-frame").replaceChildren(contents);
}

/** A field for a token: another one may show more, or let one write. */
export function tokenForm() {
  const field = element("input", { name: "token", type: "password", placeholder: "eyJhbGciOi…", autocomplete: "off", required: true, ariaLabel: "Token" });
  const forget = element("button", { type: "button", hidden: currentToken() === null }, "Forget the token");
  const form = element("form", { className: "token-form" }, field, element("button", { className: "primary" }, "Use this token"), forget);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    useToken(field.value.trim());
  });
  forget.addEventListener("click", () => useToken(null));
  return form;
}
