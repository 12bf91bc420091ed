// @ts-check
/** One value as a whole, for the panel of a row. */

import { element } from "../shell/dom.js";
import { hexOf } from "./affinity.js";
import { cellText, pictureType, sizeText } from "./cell-text.js";

/** @typedef {import("../freshet.js").SQLValue} SQLValue */
/** @typedef {import("../shell/schema.js").Column} Column */

/** How many bytes of a BLOB are shown. */
const shownBytes = 256;

/** @param {SQLValue} value @param {Column} column @returns {HTMLElement} */
export function valueView(value, column) {
  if (value === null) return element("p", { className: "whole nothing" }, "NULL");
  if (value === "") return element("p", { className: "whole nothing" }, "empty text");
  if (value instanceof Uint8Array) return blobView(value, column);
  const whole = element("p", { className: "whole" });
  if (typeof value === "string" && /^https?:\/\/\S+$/.test(value)) {
    whole.append(element("a", { href: value, target: "_blank", rel: "noreferrer noopener" }, value));
    return whole;
  }
  whole.append(String(value));
  const { text, kind } = cellText(value, column);
  if (kind === "date" && typeof value !== "string") whole.append(element("span", { className: "quiet" }, ` ${text} UTC`));
  if (kind === "boolean") whole.append(element("span", { className: "quiet" }, ` ${text}`));
  return whole;
}

/** @param {Uint8Array} bytes @param {Column} column */
function blobView(bytes, { name }) {
  const type = pictureType(bytes);
  const save = element("a", { className: "save-blob", download: name, href: dataAddress(bytes, type ?? "application/octet-stream") }, "Save");
  const about = element("p", { className: "quiet" }, `${cellText(bytes, { name, type: "BLOB" }).text} `, save);
  if (type) return element("div", {}, element("img", { src: dataAddress(bytes, type), alt: `${name}, ${sizeText(bytes.length)}` }), about);
  return element("div", {}, element("pre", { className: "bytes" }, hexDump(bytes)), about);
}

/** @param {Uint8Array} bytes @param {string} type */
function dataAddress(bytes, type) {
  let text = "";
  // Converted in parts, because a call takes a limited number of arguments.
  for (let start = 0; start < bytes.length; start += 8192) text += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return `data:${type};base64,${btoa(text)}`;
}

/** @param {Uint8Array} bytes */
function hexDump(bytes) {
  const lines = [];
  for (let start = 0; start < Math.min(bytes.length, shownBytes); start += 8) {
    lines.push(hexOf(bytes.subarray(start, start + 8)).replace(/(..)/g, "$1 ").trim());
  }
  return lines.join("\n") + (bytes.length > shownBytes ? "\n…" : "");
}
