// @ts-check
/** Order, widths and visibility of a table's columns, as the user arranged them. Immutable. Pure. */

/**
 * @typedef {object} ColumnLayout
 * @property {string[]} order names of columns; columns that are missing here come last, in the table's order
 * @property {string[]} hidden @property {Record<string, number>} widths in pixels, of those that were resized
 */

/** @type {ColumnLayout} */
export const noLayout = { order: [], hidden: [], widths: {} };

/**
 * The columns in the user's order, with the key's first, because these stay in view.
 *
 * @param {ColumnLayout} layout @param {string[]} columns @param {string[]} key
 */
export function orderedColumns({ order }, columns, key) {
  const rank = new Map(order.map((name, index) => [name, index]));
  const others = columns.filter((name) => !key.includes(name));
  const sorted = others.map((name, index) => ({ name, rank: rank.get(name) ?? order.length + index }))
    .sort((left, right) => left.rank - right.rank).map(({ name }) => name);
  return [...key, ...sorted];
}

/** @param {ColumnLayout} layout @param {string[]} columns @param {string[]} key */
export function visibleColumns(layout, columns, key) {
  return orderedColumns(layout, columns, key).filter((name) => key.includes(name) || !layout.hidden.includes(name));
}

/**
 * @param {ColumnLayout} layout @param {string[]} all ordered @param {string} name
 * @param {string | null} before null: at the end @returns {ColumnLayout}
 */
export function moved(layout, all, name, before) {
  const others = all.filter((other) => other !== name);
  const at = before === null ? others.length : others.indexOf(before);
  return { ...layout, order: [...others.slice(0, at), name, ...others.slice(at)] };
}

/**
 * @param {ColumnLayout} layout @param {string} name @param {number | null} width null: its natural width @returns
 * {ColumnLayout}
 */
export function resized(layout, name, width) {
  const { [name]: _, ...others } = layout.widths;
  return { ...layout, widths: width === null ? others : { ...others, [name]: Math.round(width) } };
}

/** @param {ColumnLayout} layout @param {string} name @param {boolean} isShown @returns {ColumnLayout} */
export function shown(layout, name, isShown) {
  const others = layout.hidden.filter((other) => other !== name);
  return { ...layout, hidden: isShown ? others : [...others, name] };
}

/** Layouts of tables, kept by the browser for this server. */
export class LayoutStore {
  /** @param {Pick<Storage, "getItem" | "setItem"> | null} storage null: nothing is kept @param {string} place the server's address */
  constructor(storage, place) {
    this.storage = storage;
    this.place = place;
  }

  /** @param {string} table @returns {ColumnLayout} */
  read(table) {
    try {
      const { order, hidden, widths } = JSON.parse(this.storage?.getItem(this.#name(table)) ?? "{}");
      return { order: order ?? [], hidden: hidden ?? [], widths: widths ?? {} };
    } catch {
      return noLayout;
    }
  }

  /** @param {string} table @param {ColumnLayout} layout */
  write(table, layout) {
    try {
      this.storage?.setItem(this.#name(table), JSON.stringify(layout));
    } catch {
      // Storage may be full or forbidden: the layout then lasts as long as the page.
    }
  }

  /** @param {string} table */
  #name(table) {
    return `freshet columns ${this.place} ${table}`;
  }
}
