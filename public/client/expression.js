// @ts-check
/**
 * SQL expressions that can be evaluated here: columns, `substr`, `upper` and `lower` of texts. What is more than that is the
 * server's to know. Pure.
 */

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {(row: Row) => SQLValue | undefined} Evaluator undefined: not for this row */
/** @typedef {{evaluate: Evaluator, column: string | null}} Expression `column`: where it is a column and nothing else */

const token = /\s*(?:("(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(-?\d+)(?![\w.])|([.,()]))/y;

/** @param {string} name as SQL writes it */
function unquoted(name) {
  if (name[0] === "[") return name.slice(1, -1);
  return /["`]/.test(name[0]) ? name.slice(1, -1).replaceAll(name[0] + name[0], name[0]) : name;
}

/** @param {string} text @returns {{name?: string, number?: number, sign?: string}[] | null} */
function tokens(text) {
  const list = [];
  token.lastIndex = 0;
  while (text.slice(token.lastIndex).trim() !== "") {
    const match = token.exec(text);
    if (!match) return null;
    const [, name, number, sign] = match;
    list.push({ name: name && unquoted(name), number: number === undefined ? undefined : Number(number), sign });
  }
  return list;
}

/**
 * The name of a column, with its table's where that is written.
 *
 * @param {string} text @returns {string[] | null} one or two names; null where it is anything else
 */
export function columnNames(text) {
  const list = tokens(text);
  if (list?.length === 1 && list[0].name !== undefined) return [list[0].name];
  if (list?.length === 3 && list[0].name !== undefined && list[1].sign === "." && list[2].name !== undefined) return [list[0].name, list[2].name];
  return null;
}

/**
 * @param {string} text @param {(names: string[]) => string | null} resolve the column of the rows that a name stands for
 * @returns {Expression | null} null: it cannot be evaluated here
 */
export function expressionOf(text, resolve) {
  const list = tokens(text);
  if (!list) return null;
  let at = 0;
  const takes = (/** @type {string} */ sign) => list[at]?.sign === sign && (at += 1) > 0;

  /** @returns {Expression | null} */
  const operand = () => {
    const name = list[at]?.name;
    if (name === undefined) return null;
    at += 1;
    if (takes("(")) return call(name.toLowerCase());
    const names = [name];
    if (takes(".")) names.push(list[at++]?.name ?? "");
    const column = resolve(names);
    return column === null ? null : { evaluate: (row) => row[column] ?? null, column };
  };

  /** @param {string} name @returns {Expression | null} */
  const call = (name) => {
    const inner = operand();
    const numbers = [];
    while (takes(",")) numbers.push(list[at++]?.number ?? NaN);
    const apply = functionOf(name, numbers);
    if (!inner || !apply || !takes(")")) return null;
    return {
      column: null,
      evaluate: (row) => {
        const value = inner.evaluate(row);
        // What a number is as a text is the server's to say.
        return value === null ? null : typeof value === "string" ? apply(value) : undefined;
      },
    };
  };

  const result = operand();
  return at === list.length ? result : null;
}

/** @param {string} name @param {number[]} numbers @returns {((text: string) => string) | null} */
function functionOf(name, numbers) {
  const [start, length = Infinity] = numbers;
  if (name === "upper" && numbers.length === 0) return (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
  if (name === "lower" && numbers.length === 0) return (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const isPlain = (name === "substr" || name === "substring") && numbers.length <= 2 && start >= 1 && length >= 0;
  return isPlain ? (text) => [...text].slice(start - 1, start - 1 + length).join("") : null;
}
