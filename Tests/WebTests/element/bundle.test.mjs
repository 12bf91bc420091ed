// The element and the client in one file, as pages load it.
import assert from "node:assert/strict";
import test from "node:test";

test("live-list.min.js exports connect and sql, and defines the element", async () => {
  const defined = new Map();
  Object.assign(globalThis, { HTMLElement: class {}, customElements: { define: (name, element) => defined.set(name, element) } });
  const { connect, sql, LiveListElement } = await import("../../../public/live-list.min.js");
  assert.equal(defined.get("live-list"), LiveListElement);
  assert.deepEqual(sql`state = ${"GA"}`.values, ["GA"]);
  const client = connect("http://127.0.0.1:1/", { WebSocket: class { close() {} } });
  assert.equal(client.status, "connecting");
  client.close();
});
