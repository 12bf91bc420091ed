// @ts-check
/** The client's types, under shorter names. */

/** @typedef {import("../freshet.js").Client} Client */
/** @typedef {import("../freshet.js").LiveList} LiveList */
/** @typedef {import("../freshet.js").ListState} ListState */
/** @typedef {import("../freshet.js").ListStatus} Status */
/** @typedef {import("../freshet.js").ChangeEvent} ChangeEvent */
/** @typedef {import("../freshet.js").Section} Section */
/** @typedef {import("../freshet.js").Window} Window */
/** @typedef {import("../freshet.js").Row} Row */
/** @typedef {import("../freshet.js").IndexPath} Path `[section, item]` */
/** @typedef {import("../freshet.js").Query} Query */
/** @typedef {import("../freshet.js").Message} Message */

export {};
