// @ts-check
/**
 * Rows from a `<template>`: `data-text="column"` puts a column's value in as text, `data-attr="title:column, data-x:y"`
 * into attributes. No value can become markup, style or code (see safe-attributes.js).
 */

import { isRefusedAttribute, isRefusedElement, isSafeValue } from "./safe-attributes.js";

/** @typedef {(record: Record<string, any>) => void} Update puts values into the elements made from a template */

/**
 * @param {any} value of SQLite
 * @returns {string}
 */
export function textOf(value) {
  if (value === null || value === undefined) return "";
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return String(value);
}

/**
 * The pairs of a `data-attr`.
 *
 * @param {string} text `attribute:column, …`
 * @returns {{attribute: string, column: string}[]}
 */
export function parsePairs(text) {
  return text.split(",").map((pair) => pair.trim()).filter((pair) => pair !== "").map((pair) => {
    // Attributes may contain a colon (xlink:href), so the last one separates attribute and column.
    const colon = pair.lastIndexOf(":");
    return { attribute: pair.slice(0, colon).trim(), column: pair.slice(colon + 1).trim() };
  });
}

/** Refusals that were reported already: each is reported once, however many rows the template makes. */
const refusals = new Set();

/** @param {string} sentence */
function refuse(sentence) {
  if (refusals.has(sentence)) return;
  refusals.add(sentence);
  console.warn(`<live-list>: ${sentence}`);
}

/**
 * A copy of a template's content, and the function that fills it.
 *
 * @param {HTMLTemplateElement} template
 * @returns {{fragment: DocumentFragment, update: Update}}
 */
export function instantiate(template) {
  const fragment = document.importNode(template.content, true);
  /** @type {Update[]} */
  const updates = [];
  for (const element of fragment.querySelectorAll("[data-text], [data-attr]")) {
    const name = element.localName;
    if (isRefusedElement(name)) refuse(`values are not put into <${name}>`);
    else updates.push(...textUpdates(element), ...attributeUpdates(element));
  }
  return { fragment, update: (record) => updates.forEach((update) => update(record)) };
}

/** @param {Element} element @returns {Update[]} */
function textUpdates(element) {
  const column = element.getAttribute("data-text");
  if (!column) return [];
  return [(record) => {
    const text = textOf(record[column]);
    // Setting the same text again would make a new text node, and clear a selection in the old one.
    if (element.textContent !== text) element.textContent = text;
  }];
}

/** @param {Element} element @returns {Update[]} */
function attributeUpdates(element) {
  return parsePairs(element.getAttribute("data-attr") ?? "").flatMap(({ attribute, column }) => {
    if (isRefusedAttribute(attribute)) {
      refuse(`values are not put into the attribute "${attribute}"`);
      return [];
    }
    return [(/** @type {Record<string, any>} */ record) => setAttribute(element, attribute, record[column])];
  });
}

/** @param {Element} element @param {string} attribute @param {any} value NULL removes the attribute */
function setAttribute(element, attribute, value) {
  const text = value === null || value === undefined ? null : textOf(value);
  if (text === null || !isSafeValue(attribute, text, document.baseURI)) {
    element.removeAttribute(attribute);
    return;
  }
  if (element.getAttribute(attribute) !== text) element.setAttribute(attribute, text);
}

/**
 * The elements that show a column, inside an element made from a template.
 *
 * @param {Element} element @param {string} column
 * @returns {Element[]}
 */
export function showing(element, column) {
  return [...element.querySelectorAll("[data-text], [data-attr]")].filter((candidate) =>
    candidate.getAttribute("data-text") === column
    || parsePairs(candidate.getAttribute("data-attr") ?? "").some((pair) => pair.column === column));
}
