// @ts-check
/** The schema of the file, as the server reports it, or why it does not. */

import { request } from "./session.js";

/**
 * @typedef {object} Column
 * @property {string} name @property {string} type as declared @property {boolean} notNull
 * @property {number} key place in the primary key from 1, or 0
 * @property {boolean} [generated] @property {string} [default] SQL
 * @property {string[]} [values] texts that a CHECK allows
 */
/** @typedef {{columns: string[], table: string, references: string[], onDelete?: string}} ForeignKey what `onDelete` says happens to the rows that refer to a deleted one */
/**
 * @typedef {object} Table
 * @property {string} name @property {"table" | "view" | "virtual" | "shadow"} kind @property {Column[]} columns
 * @property {string[]} [key] columns that identify a row; older servers do not say
 * @property {boolean} [withoutRowid] @property {string} [module] @property {string} [content] @property {string} [contentRowid]
 * @property {ForeignKey[]} [foreignKeys] @property {boolean} [triggers] whether its changes may change other rows
 */
/**
 * `ok`; `unavailable`: the file is missing, locked or damaged; `unauthenticated`; `published`: only published queries are
 * answered; `offline`: there is no answer from the server.
 *
 * @typedef {"ok" | "unavailable" | "unauthenticated" | "published" | "offline"} SchemaStatus
 */
/** @typedef {{status: SchemaStatus, tables: Table[], writes?: "any" | "none", detail: string, code: string, hasRoles?: boolean}} Schema `hasRoles`: asked where there are no tables */

/** @type {Record<number, SchemaStatus>} */
const statuses = { 200: "ok", 401: "unauthenticated", 403: "published" };

/** With roles, only the operator may read the server's status. */
async function areThereRoles() {
  return (await request("v1/server")).status === 403;
}

/** @returns {Promise<Schema>} never rejected */
export async function loadSchema() {
  try {
    const answer = await request("v1/schema");
    const body = await answer.json();
    const status = statuses[answer.status] ?? "unavailable";
    const hasRoles = status === "ok" && body.tables.length === 0 && await areThereRoles();
    return { status, tables: body.tables ?? [], ...(hasRoles && { hasRoles }), writes: body.writes, detail: body.detail ?? "", code: body.code ?? "" };
  } catch {
    return { status: "offline", tables: [], detail: "", code: "" };
  }
}

/**
 * Whether any statement may be written. Servers that do not report it with the schema report it with their readiness.
 *
 * @param {Schema} schema @returns {Promise<boolean>} never rejected
 */
export async function mayWrite({ status, writes }) {
  if (status !== "ok" || writes !== undefined) return writes === "any";
  const answer = await request("readyz").catch(() => null);
  return Boolean(answer?.ok && (await answer.json()).writable);
}
