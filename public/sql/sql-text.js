// @ts-check
/** Typed SQL: its statements one by one, and whether one only reads. Pure. */

/** Comments, texts, names in quotes, words, and any other character. */
const token = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|[\p{L}_$][\p{L}\p{N}_$]*|[\s\S]/gu;

/** @param {string} text */
function tokensOf(text) {
  return text.match(token) ?? [];
}

/** @param {string} part @returns {boolean} whether it says nothing */
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
 * Whether a statement is a SELECT: its first verb outside of parentheses says so, behind any WITH.
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
 * The same rows with numbers, for a SELECT whose rows nothing else tells apart.
 *
 * @param {string} select @param {string} column the name of their number
 */
export function numbered(select, column) {
  // A comment at its end would swallow the parenthesis.
  return `SELECT row_number() OVER () AS "${column}", * FROM (${select}\n)`;
}
