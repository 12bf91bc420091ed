import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "../../../public/shell/place.js";

test("a page knows where the addresses of its server and of its database begin", () => {
  const places = {
    "/": ["/", null, "/"], "/_/": ["/", null, "/"], "/index.html": ["/", null, "/"], "/lists/": ["/lists/", null, "/lists/"],
    "/lists/_/": ["/lists/", null, "/lists/"], "/_/index.html": ["/", null, "/"],
    "/db/acme/": ["/", "acme", "/db/acme/"], "/db/acme/_/": ["/", "acme", "/db/acme/"],
    "/x/db/tenants%2Facme/_/": ["/x/", "tenants/acme", "/x/db/tenants%2Facme/"], "/a_/": ["/a_/", null, "/a_/"],
  };
  for (const [path, [root, name, folder]] of Object.entries(places)) assert.deepEqual(placeOf(path), { root, name, folder }, path);
});
