// @ts-check
/**
 * SQL with values in it, made safe: sql`county = ${county}` keeps text and values apart, and the values travel as
 * parameters. Usable wherever a query takes a fragment, and for the statements of `transact`.
 */

/** Text of SQL with values in its gaps. Made by `sql`. */
export class SQLFragment {
  /** @param {readonly string[]} strings one more than `values` @param {readonly any[]} values */
  constructor(strings, values) {
    this.strings = strings;
    this.values = values;
    Object.freeze(this);
  }
}

/** @param {readonly string[]} strings @param {any[]} values */
export function sql(strings, ...values) {
  return new SQLFragment(strings, values.map(checked));
}

/** @param {string} name */
sql.identifier = (name) => new SQLFragment([`"${String(name).replaceAll('"', '""')}"`], []);

/** @param {any[]} parts @param {string} [separator] */
sql.join = (parts, separator = ", ") =>
  new SQLFragment(["", ...parts.slice(1).map(() => separator), ""].slice(0, parts.length + 1), parts.map(checked));

/** @param {any} value @returns {any} */
function checked(value) {
  if (Array.isArray(value)) return value.map(checked);
  if (value === true) return 1;
  if (value === false) return 0;
  const isKnown = value === null || ["string", "number", "bigint"].includes(typeof value)
    || value instanceof Uint8Array || value instanceof SQLFragment;
  if (!isKnown) throw new TypeError(`SQLite has no values like ${value}: give a string, number, bigint, null or Uint8Array`);
  return value;
}

/** Gives every bound value a unique name. */
class Binder {
  #count = 0;
  /** @type {Record<string, any>} */
  bound = {};

  /** @param {Record<string, any>} taken */
  constructor(taken) {
    this.taken = taken;
  }

  /** @param {any} value @returns {string} */
  text(value) {
    if (value instanceof SQLFragment) {
      return value.strings.reduce((text, string, index) => text + this.text(value.values[index - 1]) + string);
    }
    if (Array.isArray(value)) return `(${value.map((element) => this.text(element)).join(", ")})`;
    let name;
    do name = `v${this.#count += 1}`; while (Object.hasOwn(this.taken, name));
    this.bound[name] = value;
    return `:${name}`;
  }
}

/**
 * A query with its fragments as text and their values among its `params`.
 *
 * @param {Record<string, any>} query @returns {Record<string, any>}
 */
export function plainQuery(query) {
  const { params, ...parts } = query;
  const binder = new Binder(params ?? {});
  const plain = withText(parts, binder);
  return withParameters(plain, params, binder);
}

/**
 * A statement of a transaction: a fragment, or text with parameters.
 *
 * @param {SQLFragment | {sql: string | SQLFragment, params?: any} | string} statement @returns {{sql: string, params?:
 *   any}}
 */
export function plainStatement(statement) {
  if (typeof statement === "string") return { sql: statement };
  const { sql: text, params } = statement instanceof SQLFragment ? { sql: statement, params: undefined } : statement;
  const binder = new Binder(params ?? {});
  const plain = { sql: text instanceof SQLFragment ? binder.text(text) : text };
  return /** @type {{sql: string}} */ (withParameters(plain, params, binder));
}

/**
 * The statements that `transact` runs, or the name of published ones.
 *
 * @param {import("../freshet.js").Transaction} transaction @returns {Record<string, any>} members of the message
 */
export function plainTransaction(transaction) {
  const { name, params } = /** @type {any} */ (transaction);
  const isPublished = typeof name === "string" && !(transaction instanceof SQLFragment);
  if (isPublished) return { name, ...(params !== undefined && { params }) };
  return { statements: [transaction].flat().map((statement) => plainStatement(/** @type {any} */ (statement))) };
}

/** @param {any} part @param {Binder} binder @returns {any} */
function withText(part, binder) {
  if (part instanceof SQLFragment) return binder.text(part);
  if (Array.isArray(part)) return part.map((element) => withText(element, binder));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withText(value, binder)]));
}

/** @param {Record<string, any>} plain @param {any} params @param {Binder} binder */
function withParameters(plain, params, binder) {
  if (Object.keys(binder.bound).length === 0) return params === undefined ? plain : { ...plain, params };
  if (Array.isArray(params)) throw new TypeError("sql`…` binds by name: it cannot be mixed with ? and an array of params");
  return { ...plain, params: { ...params, ...binder.bound } };
}
