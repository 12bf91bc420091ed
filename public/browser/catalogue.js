// @ts-check
/** The tables of a file, and how they refer to each other. Pure. */

/** @typedef {import("../shell/schema.js").Table} Table */
/** @typedef {import("../shell/schema.js").Column} Column */
/**
 * Columns of one table, and the columns of another that they refer to (`references`); `isKey`: those are the other's
 * key.
 *
 * @typedef {{columns: string[], table: string, references: string[], isKey: boolean, onDelete?: string}} Reference
 */
/** @typedef {{index: string, rowid: string}} Search a full-text index, and the column whose values are its rowids */

/** Names of tables that migration tools and frameworks create for themselves. */
const bookkeeping = /migration|^alembic|^django_|^android_metadata$|^ar_internal|^schema_|^sqlite_|^_|^flyway|^room_master/i;

export class Catalogue {
  /** @param {Table[]} tables */
  constructor(tables) {
    this.tables = tables;
    this.byName = new Map(tables.map((table) => [table.name, table]));
  }

  /** The tables in three groups. The last has virtual tables and the shadow tables with their data. */
  get groups() {
    const of = (/** @type {string[]} */ ...kinds) => this.tables.filter(({ kind }) => kinds.includes(kind));
    return { tables: of("table").filter((table) => !this.isShadow(table)), views: of("view"), others: this.tables.filter((table) =>
      table.kind === "virtual" || this.isShadow(table)) };
  }

  /** @param {Table} table one that a virtual table keeps its own data in */
  isShadow({ name, kind }) {
    if (kind === "shadow") return true;
    const owner = /^(.*)_(data|idx|content|docsize|config|node|parent|rowid|segments|segdir|stat)$/.exec(name)?.[1];
    return owner !== undefined && this.byName.get(owner)?.kind === "virtual";
  }

  /** The table to show first: preferably one with the user's own data. */
  get first() {
    const { tables, views, others } = this.groups;
    return tables.find(({ name }) => !bookkeeping.test(name)) ?? tables[0] ?? views[0] ?? others[0] ?? null;
  }

  /**
   * The columns that identify a row; null for views, which have none.
   *
   * @param {Table} table @returns {string[] | null}
   */
  keyOf({ kind, key, columns }) {
    if (kind === "view") return null;
    if (key?.length) return key;
    const declared = columns.filter((column) => column.key > 0).sort((left, right) => left.key - right.key);
    return declared.length > 0 ? declared.map(({ name }) => name) : ["rowid"];
  }

  /**
   * Whether the rows of a table have a rowid that is not one of the columns.
   *
   * @param {Table} table
   */
  hasHiddenRowid(table) {
    const { columns, withoutRowid, kind } = table;
    const [only, another] = columns.filter(({ key }) => key > 0);
    return kind === "table" && !withoutRowid && !(only && !another && /^integer$/i.test(only.type));
  }

  /**
   * The references from the rows of a table to others.
   *
   * @param {Table} table @returns {Reference[]}
   */
  referencesFrom({ foreignKeys = [] }) {
    return foreignKeys.filter(({ table }) => this.find(table)).map(({ columns, table, references, onDelete }) => {
      const target = /** @type {Table} */ (this.find(table));
      const key = this.keyOf(target) ?? [];
      const named = references?.length ? references : key;
      return { columns, table: target.name, references: named, isKey: named.join("\n") === key.join("\n"), ...(onDelete && { onDelete }) };
    });
  }

  /**
   * The references to the rows of a table: `table` and `columns` are the other table's.
   *
   * @param {Table} table @returns {Reference[]}
   */
  referencesTo(table) {
    return this.tables.flatMap((other) => this.referencesFrom(other).filter((reference) => reference.table === table.name)
      .map((reference) => ({ ...reference, table: other.name })));
  }

  /**
   * References may write names of tables in another case.
   *
   * @param {string} name
   */
  find(name) {
    return this.byName.get(name) ?? this.tables.find((table) => table.name.toLowerCase() === name.toLowerCase());
  }

  /**
   * The full-text index over a table.
   *
   * @param {Table} table @returns {Search | null}
   */
  searchOf(table) {
    if (isFullText(table)) return { index: table.name, rowid: "rowid" };
    const index = this.tables.find((other) => isFullText(other) && (other.content
      ? other.content.toLowerCase() === table.name.toLowerCase()
      : other.module === undefined && other.name.toLowerCase() === `${table.name.toLowerCase()}_fts`));
    return index ? { index: index.name, rowid: index.contentRowid ?? "rowid" } : null;
  }
}

/**
 * Older servers do not say of what kind a virtual table is; then its name has to.
 *
 * @param {Table} table
 */
function isFullText({ kind, module, name }) {
  return kind === "virtual" && (module === undefined ? /fts/i.test(name) : /^fts5$/i.test(module));
}
