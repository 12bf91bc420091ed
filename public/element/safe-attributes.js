// @ts-check
/**
 * Decides which attributes may get values of rows. Values are untrusted text: none of them may become code. Pure.
 */

/** Elements whose text or attributes are code or another page, or change this page. */
const refusedElements = new Set([
  "script", "style", "iframe", "frame", "object", "embed", "applet", "base", "meta", "link", "template",
  "animate", "animatemotion", "animatetransform", "set",
]);

/** Attributes whose value is an address that is loaded, followed or sent to. */
const addresses = new Set([
  "href", "xlink:href", "src", "action", "formaction", "poster", "cite", "background", "data", "ping", "manifest",
]);

/** Attributes that hold style, markup, or several addresses. */
const refusedAttributes = new Set([
  "style", "srcdoc", "srcset", "imagesrcset", "is", "nonce", "slot", "http-equiv", "popovertarget", "commandfor",
  "command", "xmlns", "xml:base", "part", "form", "target", "sandbox", "integrity",
]);

const allowedProtocols = new Set(["http:", "https:", "mailto:", "tel:"]);

/** @param {string} element name of an element */
export function isRefusedElement(element) {
  return refusedElements.has(element.toLowerCase());
}

/** @param {string} attribute its name */
export function isRefusedAttribute(attribute) {
  const name = attribute.toLowerCase();
  return name.startsWith("on") || refusedAttributes.has(name) || !/^[a-z_][\w.:-]*$/.test(name);
}

/**
 * Whether a value may go into an attribute that may be bound.
 *
 * @param {string} attribute @param {string} value @param {string} base the page's address
 */
export function isSafeValue(attribute, value, base) {
  if (!addresses.has(attribute.toLowerCase())) return true;
  try {
    const { protocol } = new URL(value, base);
    // A page with another protocol, such as `file:` or an application's own, may link to addresses with the same
    // protocol.
    return allowedProtocols.has(protocol) || (protocol === new URL(base).protocol && !isProgram(protocol));
  } catch {
    // An invalid address leads nowhere.
    return false;
  }
}

/** @param {string} protocol */
function isProgram(protocol) {
  return ["javascript:", "data:", "vbscript:", "blob:", "about:"].includes(protocol);
}
