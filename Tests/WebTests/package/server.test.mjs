// Rendering on a server.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { createElement as h } from "react";
import { renderToString } from "react-dom/server";
import { connect } from "freshet";
import { FreshetProvider } from "freshet/react";
import { FakeSocket } from "../client/fake-socket.mjs";
import { begin, end, last, List, open, provided, waiting } from "./react-world.mjs";

const suspense = { suspense: true };

beforeEach(begin);
afterEach(end);

test("a server renders an empty list without a client, and nothing is opened", () => {
  const page = h(FreshetProvider, { client: null }, h(List), waiting(h(List, { options: suspense })));
  assert.equal(renderToString(page), "<ul></ul><!--$--><ul></ul><!--/$-->");
  assert.deepEqual([last.status, last.rows, open()], ["closed", [], []]);
});

test("rendering alone opens nothing", () => {
  const client = connect("http://here", { WebSocket: FakeSocket });
  assert.equal(renderToString(provided(client, h(List))), "<ul></ul>");
  assert.deepEqual([last.status, last.isPending, open()], ["connecting", true, []]);
  client.close();
});
