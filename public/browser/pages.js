// @ts-check
/** The pages shown when there are no tables: the reason, and what to do about it. Pure except for the elements. */

import { element, part } from "../shell/dom.js";
import { currentToken, useToken } from "../shell/session.js";
import { formatAddress } from "./address.js";

/** @typedef {import("../shell/schema.js").Schema} Schema */

/**
 * A page's words: a title, sentences, commands to type, and a link.
 *
 * @typedef {{title: string, sentences: string[], commands?: string[], link?: {title: string, href: string}, hasToken?: boolean}} Page
 */

/**
 * The page for a server that has no tables to show.
 *
 * @param {Pick<Schema, "status" | "detail" | "code" | "hasRoles">} schema @param {Record<string, any> | null} claims of the token; null: there is none
 * @returns {Page}
 */
export function pageFor({ status, detail, code, hasRoles }, claims) {
  switch (status) {
    case "ok": return hasRoles ? withoutTables(claims) : {
      title: "This file has no tables yet",
      sentences: ["They appear here as soon as somebody creates one, whichever program does it:"],
      commands: ['sqlite3 FILE "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)"', "freshet import FILE TABLE rows.csv"],
    };
    case "offline": return {
      title: "The server does not answer",
      sentences: ["It has stopped, or the network is down. This page goes on by itself as soon as the server is back.", "To start it:"],
      commands: ["freshet serve FILE"],
    };
    case "unauthenticated": return unauthenticated(detail, claims);
    case "published": return publishedOnly(detail, claims);
    default: return code === "no_such_database" ? withoutDatabase(claims) : unavailable(detail, code);
  }
}

const kept = "It stays in this tab and is forgotten with it.";

/** @param {string} detail @param {Record<string, any> | null} claims @returns {Page} */
function unauthenticated(detail, claims) {
  if (claims === null) {
    return { title: "This server wants to know who you are", sentences: [sentence(detail), `It answers clients with a JSON Web Token of its operator. ${kept}`], hasToken: true };
  }
  if (/expired/.test(detail)) {
    const until = typeof claims.exp === "number" ? ` on ${new Date(claims.exp * 1000).toLocaleString()}` : "";
    return { title: "The token has expired", sentences: [`It expired${until}. A new one, from where this one came, shows the tables again.`], hasToken: true };
  }
  return { title: "The token was not accepted", sentences: [sentence(detail), `A token of this server's operator shows the tables. ${kept}`], hasToken: true };
}

/**
 * Only published queries are answered, and none is published to this client.
 *
 * @param {string} detail names the role, where there are roles @param {Record<string, any> | null} claims @returns {Page}
 */
function publishedOnly(detail, claims) {
  const role = /(?:^|, and )the role (.*) may ask published queries only/.exec(detail)?.[1];
  if (role === undefined) {
    return { title: "This server answers published queries only", sentences: [
      "None is published. Its operator can publish some in the configuration, or let everyone who reaches it ask queries of their own:"], commands: ["freshet serve FILE --allow-queries"] };
  }
  if (claims === null) {
    return { title: "This server shows its tables to those with a token", sentences: [`Without one you have the role ${role}, to which nothing is published. A token stays in this tab and is forgotten with it.`], hasToken: true };
  }
  // If the claim is called something else than `role`, only the server knows the role.
  if (role === "anonymous" && claims.role !== role) return unknownRole(role, claims);
  return { title: `The role ${role} may read no table`, sentences: [
    "The server knows your token and its role. Its operator decides in the configuration what the role may read (queries: any, and tables), or publishes queries to it.", "A token of another role may show more:"], hasToken: true };
}

/** @param {string} role that the server gave instead @param {Record<string, any>} claims @returns {Page} */
function unknownRole(role, { role: named }) {
  const title = typeof named === "string" ? `This server has no role ${named}` : "The token names no role of this server";
  return { title, sentences: [`The token is accepted, and with it you have the role ${role}, to which nothing is published. Its operator gives out tokens with roles of the configuration:`], hasToken: true };
}

/**
 * The server has several databases, and the client may use none of them here.
 *
 * @param {Record<string, any> | null} claims @returns {Page}
 */
function withoutDatabase(claims) {
  return { title: "There is no database here that you may use", sentences: [
    "The server has several, or none yet. Its operator decides which of them a token is for.", claims === null ? "A token may show one:" : "Another token may show one:"], hasToken: true };
}

/**
 * Queries are answered, and there is no table to ask.
 *
 * @param {Record<string, any> | null} claims @returns {Page}
 */
function withoutTables(claims) {
  const role = typeof claims?.role === "string" ? claims.role : "anonymous";
  return { title: "There is no table that you may read", sentences: [
    `The server's configuration gives the role ${role} no table, or the file has none yet. Tables appear here as soon as there are some that you may read.`,
    claims === null ? "A token may show more:" : "A token of another role may show more:"], hasToken: true };
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

/** @param {string} table that an address names @returns {Page} */
export function noTablePage(table) {
  return { title: `There is no table ${table}`, sentences: ["It was dropped or renamed, or you may not read it. The tables that there are stand at the left."] };
}

/**
 * @param {string} gone a table @param {import("./address.js").Address} successor the same view of what it is probably called now
 * @returns {Page}
 */
export function successorPage(gone, successor) {
  return { title: `The table ${gone} is gone`, sentences: [`The table ${successor.table} appeared when it went, and has the same columns: it is probably ${gone} under another name.`],
    link: { title: `Open ${successor.table}`, href: formatAddress(successor) } };
}

/**
 * Shows a page in place of the tables.
 *
 * @param {Page} page
 */
export function showPage({ title, sentences, commands = [], link, hasToken }) {
  const contents = element("div", { className: "state-page" }, element("h2", {}, title),
    ...sentences.filter(Boolean).map((text) => element("p", {}, text)), ...commands.map((command) => element("pre", {}, element("code", {}, command))));
  if (link) contents.append(element("p", {}, element("a", { className: "button primary", href: link.href }, link.title)));
  if (hasToken) contents.append(tokenForm());
  part("table-frame").replaceChildren(contents);
}

/** A field for a token: another token may allow to read or write more. */
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
