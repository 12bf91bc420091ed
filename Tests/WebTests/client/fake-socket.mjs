// A socket whose other end is the test. There is no other network.

/** Replaces `fetch`, with which a client asks why a socket did not open. */
export const noNetwork = () => Promise.reject(new TypeError("There is no network"));
globalThis.fetch = noNetwork;

export class FakeSocket {
  static all = [];
  readyState = 0;
  sent = [];

  constructor(url, protocol) {
    Object.assign(this, { url: new URL(url), protocol });
    FakeSocket.all.push(this);
  }

  static get last() {
    return this.all[this.all.length - 1];
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  get lastSent() {
    return this.sent[this.sent.length - 1];
  }

  open() {
    this.readyState = 1;
    this.onopen();
    this.say({ type: "hello", epoch: "e" });
  }

  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }

  close() {
    this.readyState = 3;
  }

  drop(code = 1006) {
    this.close();
    this.onclose({ code });
  }

  /** Fails as in Node 20 when nothing listens: without `close`. */
  fail() {
    this.close();
    this.onerror({});
  }
}

/** Lets pending microtasks run. */
export async function turns() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
