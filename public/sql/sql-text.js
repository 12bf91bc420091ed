// @ts-check
/** Typed SQL: its statements one by one, and whether one only reads. Pure. */

/** A token: a comment, text, quoted name, word, or any other character. */
const token = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|[\p{L}_$][\p{L}\p{N}_$]*|[\s\S]/gu;

/** @param {string} text */
function tokensOf(text) {
  return text.match(token) ?? [];
}

/** @param {string} part @returns {boolean} whether it is white space or a comment */
const isBlank = (part) => /^\s$|^--|^\/\*/.test(part);

/**
 * The statements between semicolons, without those that end them.
 *
 * @param {string} text @returns {string[]}
 */
export function statementsIn(text) {
  /** @type {string[][]} */
  const statements = [[]];
  for (const part of tokensOf(text)) {
    if (part === ";") statements.push([]);
    else statements[statements.length - 1].push(part);
  }
  return statements.filter((parts) => !parts.every(isBlank)).map((parts) => parts.join("").trim());
}

/**
 * Whether a statement is a SELECT: its first verb outside of parentheses, after any WITH, is SELECT or VALUES.
 *
 * @param {string} statement
 */
export function isReading(statement) {
  let depth = 0;
  for (const part of tokensOf(statement)) {
    if (part === "(") depth += 1;
    else if (part === ")") depth -= 1;
    else if (depth === 0 && /^(select|values|insert|replace|update|delete)$/i.test(part)) return /^(select|values)$/i.test(part);
  }
  return false;
}

/**
 * Adds row numbers to a SELECT whose columns may not identify its rows.
 *
 * @param {string} select @param {string} column the name of the column with the numbers
 */
export function numbered(select, column) {
  // The line break keeps a comment at its end from swallowing the parenthesis.
  return `SELECT row_number() OVER () AS "${column}", * FROM (${select}\n)`;
}
