// A WebSocket for Node versions that have none: as much of RFC 6455 as the client and a server on this machine need.
import { randomBytes } from "node:crypto";
import { request } from "node:http";

export class NodeSocket {
  readyState = 0;
  #connection = null;
  #received = Buffer.alloc(0);

  constructor(url, protocol) {
    const headers = {
      Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": protocol,
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
    };
    const asked = request(String(url).replace(/^ws/, "http"), { headers });
    asked.on("upgrade", (_, connection, head) => this.#opened(connection, head));
    asked.on("response", () => this.#closed());
    asked.on("error", () => this.#closed());
    asked.end();
  }

  #opened(connection, head) {
    this.#connection = connection;
    connection.on("data", (bytes) => this.#take(bytes));
    connection.on("close", () => this.#closed());
    connection.on("error", () => {});
    this.readyState = 1;
    this.onopen?.();
    if (head.length > 0) this.#take(head);
  }

  #closed() {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose?.({ code: 1006 });
  }

  #take(bytes) {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const data = this.#received;
      if (data.length < 2) return;
      const short = data[1] & 0x7f;
      const start = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (data.length < start) return;
      const length = short === 126 ? data.readUInt16BE(2) : short === 127 ? Number(data.readBigUInt64BE(2)) : short;
      if (data.length < start + length) return;
      this.#received = data.subarray(start + length);
      const payload = data.subarray(start, start + length);
      if ((data[0] & 0x0f) === 1) this.onmessage?.({ data: payload.toString() });
      else if ((data[0] & 0x0f) === 9) this.#write(10, payload);
      else if ((data[0] & 0x0f) === 8) this.close();
    }
  }

  send(text) {
    this.#write(1, Buffer.from(text));
  }

  #write(opcode, payload) {
    const length = payload.length < 126 ? [payload.length | 0x80] : [126 | 0x80, payload.length >> 8, payload.length & 0xff];
    const mask = randomBytes(4);
    const masked = Buffer.from(payload.map((byte, index) => byte ^ mask[index % 4]));
    this.#connection?.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length]), mask, masked]));
  }

  close() {
    this.readyState = 3;
    this.#connection?.end();
  }

  /** Breaks the connection: sent messages still arrive, and messages on their way back are lost. */
  break() {
    this.#connection?.destroy();
    this.#closed();
  }
}
