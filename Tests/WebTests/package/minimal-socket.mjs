// As much of a WebSocket as a test needs, for versions of Node that have none: text, no extensions (RFC 6455).
import { randomBytes } from "node:crypto";
import { request } from "node:http";

export class MinimalSocket {
  readyState = 0;
  #bytes = Buffer.alloc(0);
  #parts = [];

  constructor(url, protocol) {
    const { hostname, port, pathname, search } = new URL(url);
    const headers = {
      Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": protocol,
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
    };
    request({ hostname, port, path: pathname + search, headers })
      .on("error", () => this.#ended())
      .on("response", () => this.#ended())
      .on("upgrade", (_, socket, head) => {
        this.socket = socket;
        socket.on("data", (data) => this.#take(data)).on("close", () => this.#ended()).on("error", () => {});
        this.readyState = 1;
        this.onopen?.();
        this.#take(head);
      })
      .end();
  }

  send(text) {
    this.#write(1, Buffer.from(text));
  }

  close() {
    this.readyState = 2;
    this.socket?.end();
  }

  #write(opcode, payload) {
    const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 255];
    const mask = randomBytes(4);
    length[0] |= 0x80;
    this.socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length]), mask, payload.map((byte, index) => byte ^ mask[index % 4])]));
  }

  #take(data) {
    this.#bytes = Buffer.concat([this.#bytes, data]);
    for (;;) {
      if (this.#bytes.length < 2) return;
      const [first, short] = this.#bytes;
      const start = { 126: 4, 127: 10 }[short] ?? 2;
      if (this.#bytes.length < start) return;
      const length = { 126: () => this.#bytes.readUInt16BE(2), 127: () => Number(this.#bytes.readBigUInt64BE(2)) }[short]?.() ?? short;
      if (this.#bytes.length < start + length) return;
      const payload = this.#bytes.subarray(start, start + length);
      this.#bytes = this.#bytes.subarray(start + length);
      this.#frame(first & 15, Boolean(first & 0x80), payload);
    }
  }

  #frame(opcode, isLast, payload) {
    if (opcode === 8) return this.socket.end();
    if (opcode === 9) return this.#write(10, payload);
    if (opcode > 2) return undefined;
    this.#parts.push(payload);
    if (!isLast) return undefined;
    const data = Buffer.concat(this.#parts.splice(0)).toString();
    return this.onmessage?.({ data });
  }

  #ended() {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose?.({ code: 1006 });
  }
}
