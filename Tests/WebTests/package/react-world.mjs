// Shared parts of the hook's tests: components, a socket whose other end is the test, and a record of React's warnings.
import assert from "node:assert/strict";
import { Component, createElement as h, memo, StrictMode, Suspense } from "react";
import renderer from "react-test-renderer";
import { connect } from "freshet";
import { FreshetProvider, useLiveQuery } from "freshet/react";
import { FakeSocket, turns } from "../client/fake-socket.mjs";

export const { act } = renderer;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

/** React's warnings. A test must end without any. */
export const complaints = [];
console.error = (...words) => complaints.push(words.map(String).join(" "));

export const rowsOf = (...names) => names.map((name, index) => [index + 1, name]);
export const snapshot = (names, members = {}) => ({
  type: "snapshot", version: "1", commit: 1, columns: ["id", "name"], key: ["id"], total: names.length,
  sections: [{ name: "", indexTitle: "", count: names.length }], offset: 0, rows: rowsOf(...names), complete: true, ...members });
export const patch = (total, members) => ({ type: "patch", from: "1", to: "2", commit: 2, total, ...members });

/** Rows that were rendered, by name, in order. */
export const rendered = [];
const Item = memo(({ row }) => {
  rendered.push(row.name);
  return h("li", null, row.name);
});

/** The last result of the hook. */
export let last;
export function List({ query = { from: "bank" }, options }) {
  last = useLiveQuery(query, options);
  return h("ul", null, last.rows.map((row) => h(Item, { key: row.id, row })));
}

export class Boundary extends Component {
  state = { error: null };
  static getDerivedStateFromError = (error) => ({ error });
  render() {
    return this.state.error ? h("p", null, this.state.error.code ?? this.state.error.message) : this.props.children;
  }
}

export const kinds = {
  plain: (element) => element,
  strict: (element) => h(StrictMode, null, element),
};

export function begin() {
  FakeSocket.all = [];
  rendered.length = 0;
  complaints.length = 0;
}

export function end() {
  assert.deepEqual(complaints, []);
}

export const provided = (client, ...children) => h(FreshetProvider, { client }, ...children);
export const waiting = (element) => h(Suspense, { fallback: h("i", null, "waiting") }, element);

/** @returns the rendered tree, and a client whose socket is open */
export async function mounted(elementOf, wrap = kinds.plain) {
  const client = connect("http://here", { WebSocket: FakeSocket });
  await turns();
  FakeSocket.last.open();
  let tree;
  await act(async () => {
    tree = renderer.create(wrap(elementOf(client)), { unstable_isConcurrent: true });
  });
  return {
    client, tree, update: (element) => act(async () => tree.update(wrap(element))), unmount: () => act(async () => tree.unmount()),
    close: () => act(async () => client.close()),
  };
}

/** The text that a tree shows. */
export function shown({ tree }) {
  const textOf = (node) => (typeof node === "string" ? node : (node?.children ?? []).map(textOf).join(" "));
  return [tree.toJSON()].flat().map(textOf).join(" ");
}

/** Messages of a type that clients have sent. */
export const sent = (type) => FakeSocket.all.flatMap((socket) => socket.sent).filter((message) => message.type === type);
/** Subscriptions that are open. */
export const open = () => {
  const over = new Set(sent("unsubscribe").map(({ id }) => id));
  return sent("subscribe").map(({ id }) => id).filter((id) => !over.has(id));
};
export const say = (message, id = "1", socket = FakeSocket.last) => act(async () => {
  socket.say({ id, ...message });
});
