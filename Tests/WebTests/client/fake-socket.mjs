// A socket whose other end the test plays. There is no other network.

/** A client asks by HTTP why a socket did not open. */
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

  /** As Node 20 does when nothing listens: without `close`. */
  fail() {
    this.close();
    this.onerror({});
  }
}

/** Lets everything go on that waits for nothing but its turn. */
export async function turns() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
