// A small model of a server that follows the protocol: one table, one list, and a network that the test controls.
// Nothing happens by itself: `read` takes one message of a client, `deliver` brings it one.
import { makePatch, snapshotOf, sorted, windowOf } from "./patch-writer.mjs";

export class ModelSocket {
  static all = [];
  readyState = 0;
  /** Messages from the client, and to it. */
  inbox = [];
  outbox = [];
  subscriptions = new Map();

  constructor() {
    ModelSocket.all.push(this);
  }

  static get last() {
    return this.all[this.all.length - 1];
  }

  send(text) {
    this.inbox.push(JSON.parse(text));
  }

  deliver() {
    const message = this.outbox.shift();
    this.delivering = message;
    if (message && this.readyState === 1) this.onmessage({ data: JSON.stringify(message) });
    this.delivering = null;
    return message !== undefined;
  }

  close() {
    this.readyState = 3;
  }

  /** Loses all messages on their way. */
  drop() {
    this.close();
    Object.assign(this, { inbox: [], outbox: [] });
    this.onclose({ code: 1006 });
  }
}

/** A transaction in the model's form: operations on rows, in JSON. */
export const statement = (operation) => ({ sql: JSON.stringify(operation) });

export class ModelServer {
  rows = new Map();
  /** How often each operation was done, by its number. */
  done = new Map();
  #epochs = 0;
  #commit = 0;
  #lastKey = 10_000;

  /** @param random a source of numbers @param remembers whether it knows `once` */
  constructor(random, remembers = true) {
    Object.assign(this, { random, remembers });
    this.restart();
  }

  get world() {
    return sorted([...this.rows].map(([id, { name, depth }]) => ({ section: name[0], row: [id, name, depth] })));
  }

  /** Restarts the server, which makes earlier versions invalid. */
  restart() {
    this.epoch = `epoch ${this.#epochs += 1}`;
    this.#commit = this.random(3);
    this.versions = new Map();
    this.outcomes = new Map();
    this.refusals = new Map();
  }

  open(socket) {
    socket.readyState = 1;
    socket.onopen();
    socket.outbox.push({ type: "hello", epoch: this.epoch, limits: this.remembers ? { transactionMemory: 1 } : {} });
  }

  /** Writes as another program. */
  write(change) {
    change(this.rows);
    this.#commit += 1;
  }

  /** Handles one message; false: none waits. */
  read(socket) {
    const message = socket.inbox.shift();
    if (!message) return false;
    switch (message.type) {
      case "subscribe": this.#subscribe(socket, message); break;
      case "transact": socket.outbox.push({ ...this.#transact(message), id: message.id }); break;
      case "window":
      case "fetch": this.#answer(socket, message); break;
      case "resync": throw new Error("the client lost its way");
      case "ping": socket.outbox.push({ type: "pong", id: message.id }); break;
    }
    return true;
  }

  /** Sends a subscription the patch that it lacks. */
  tell(socket, id) {
    const list = socket.subscriptions.get(id);
    if (!list || list.commit === this.#commit) return;
    const world = this.world;
    if (JSON.stringify(world) === JSON.stringify(list.world)) return;
    this.#send(socket, id, list.world, list.version, list.window);
  }

  #answer(socket, message) {
    this.tell(socket, message.id);
    const list = socket.subscriptions.get(message.id);
    if (message.type === "window") list.window = { offset: message.offset, limit: message.limit };
    socket.outbox.push({ ...rowsOf(list, message), id: message.id });
  }

  #subscribe(socket, { id, window = null, since }) {
    const held = this.versions.get(since);
    if (held) return this.#send(socket, id, held, since, window);
    const list = this.#list(window);
    socket.subscriptions.set(id, list);
    const offset = Math.min(window?.offset ?? 0, list.world.flatMap(({ rows }) => rows).length);
    socket.outbox.push({ ...snapshotOf(list.world, window, list.version), id, commit: this.#commit, offset });
    return undefined;
  }

  #send(socket, id, world, version, window) {
    const list = this.#list(window);
    const { patch } = makePatch(world, list.world, window, version, list.version);
    socket.subscriptions.set(id, { ...list, window: patch.window ?? null });
    socket.outbox.push({ ...patch, id, commit: this.#commit });
  }

  #list(window) {
    const version = `${this.epoch}, version ${this.versions.size}`;
    const { world } = this;
    this.versions.set(version, world);
    return { world, version, window, commit: this.#commit };
  }

  #transact({ once, statements }) {
    const known = this.outcomes.get(once);
    if (known && this.remembers) return known;
    if (this.random(10) === 0) return { type: "error", code: "overloaded", message: "later", retryable: true };
    const operation = JSON.parse(statements[0].sql);
    const outcome = this.#run(operation);
    this.outcomes.set(once, outcome);
    return outcome;
  }

  #run({ number, kind, row, isRefused, skew }) {
    const exists = this.rows.has(row.id);
    if (isRefused || (kind === "insert" && exists)) return { type: "error", code: "constraint", message: "no" };
    this.done.set(number, (this.done.get(number) ?? 0) + 1);
    const id = row.id ?? (this.#lastKey += 1);
    const isThere = kind === "insert" || exists;
    if (kind === "delete") this.rows.delete(id);
    else if (isThere) this.rows.set(id, { ...this.rows.get(id), ...row, ...skew });
    if (isThere) this.#commit += 1;
    return {
      type: "committed", changes: isThere ? 1 : 0, commit: this.#commit,
      results: [{ changes: isThere ? 1 : 0, lastInsertRowid: kind === "insert" ? id : null, ...(kind === "insert" && { columns: ["id"], rows: [[id]] }) }],
    };
  }
}

function rowsOf(list, { type, offset, limit }) {
  const rows = list.world.flatMap((section) => section.rows);
  const held = windowOf(rows, { offset, limit });
  return {
    type: "rows", version: list.version, offset: held[0]?.[0] ?? Math.min(offset, rows.length), rows: held.map(([, row]) => row), complete: true,
    ...(type === "window" && { window: { offset, limit } }),
  };
}
