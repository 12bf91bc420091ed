"""HTTP/2 with TLS: what a page may do over one connection, and that WebSocket stays beside it."""
import json
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import tempfile

from harness import Server, chromium, run, tests

TESTS, test = tests()
STREAMS = 100


def certificate(folder):
    """One that the browser is told to take."""
    files = [str(pathlib.Path(folder) / name) for name in ("certificate.pem", "key.pem")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True)
    return files


@test
def a_hundred_event_streams_are_live_in_one_page(browser, server):
    page = browser.new_context(ignore_https_errors=True).new_page()
    page.goto(f"{server.url}healthz")
    protocol = page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol")
    assert protocol == "h2", protocol
    page.evaluate("""count => {
      window.events = { snapshot: 0, patch: 0, error: 0 };
      window.streams = Array.from({ length: count }, (_, index) => {
        const source = new EventSource(`/v1/subscriptions?from=item&where=id+%3E+${index}`);
        for (const name of Object.keys(events)) source.addEventListener(name, () => { events[name] += 1 });
        return source;
      });
    }""", STREAMS)
    page.wait_for_function(f"events.snapshot === {STREAMS}", timeout=20_000)
    server.sql("UPDATE item SET name = name || '!' WHERE id = 100")
    page.wait_for_function(f"events.patch === {STREAMS}", timeout=20_000)
    # Requests go on beside them, long ones too.
    lengths = page.evaluate("""async () => {
      const ask = async limit => (await (await fetch(`/v1/snapshot?from=item&limit=${limit}`)).json()).rows.length;
      return Promise.all([1, 1000, 2, 1000].map(ask));
    }""")
    assert lengths == [1, 1000, 2, 1000], lengths
    assert page.evaluate("events.error") == 0
    page.evaluate("streams.forEach(source => source.close())")
    page.wait_for_timeout(200)
    assert page.evaluate("fetch('/healthz').then(answer => answer.status)") == 200


@test
def a_body_of_a_megabyte_arrives_and_a_longer_one_is_refused(browser, server):
    page = browser.new_context(ignore_https_errors=True).new_page()
    page.goto(f"{server.url}healthz")
    statuses = page.evaluate("""async () => {
      const ask = async padding => (await fetch("/v1/snapshot", {
        method: "POST", signal: AbortSignal.timeout(20_000), headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ query: { from: "item" }, window: { offset: 0, limit: 1 } }) + " ".repeat(padding),
      })).status;
      return [await ask(0), await ask(1_000_000), await ask(3_000_000), await ask(0)];
    }""")
    assert statuses == [200, 200, 413, 200], statuses


class Upload:
    """A POST on a connection of its own, as fast as the server's windows allow.

    After the first ones each frame is a record of TLS, as browsers have it: libwebsockets takes the head of the last frame for more than the
    body's length where it comes with the end of the one before.
    """

    DATA, HEADERS, SETTINGS, GOAWAY, WINDOW_UPDATE = 0, 1, 4, 7, 8
    FRAME = 16_000

    def __init__(self, port, body):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("localhost", port), 20), server_hostname="localhost")
        self.body = body
        self.sent = 0
        # What a client may send before it has heard of the server.
        self.stream_window = self.window = 65_535

    @staticmethod
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    def head(self):
        text = lambda value: bytes([len(value)]) + value.encode()
        # :method POST, :scheme https, :path, :authority, content-type and content-length by their numbers in HPACK's table.
        fields = (b"\x83\x87\x04" + text("/v1/snapshot") + b"\x01" + text("localhost")
                  + b"\x0f\x10" + text("application/json") + b"\x0f\x0d" + text(str(len(self.body))))
        return self.frame(self.HEADERS, 4, 1, fields)

    def data(self):
        """The frames that may be sent now."""
        while self.sent < len(self.body) and min(self.stream_window, self.window) > 0:
            count = min(self.stream_window, self.window, self.FRAME, len(self.body) - self.sent)
            is_last = self.sent + count == len(self.body)
            yield self.frame(self.DATA, int(is_last), 1, self.body[self.sent:self.sent + count])
            self.sent += count
            self.stream_window -= count
            self.window -= count

    def read(self, count):
        bytes_read = b""
        while len(bytes_read) < count:
            more = self.socket.recv(count - len(bytes_read))
            assert more, "the server closed the connection"
            bytes_read += more
        return bytes_read

    def answer(self):
        start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(self.SETTINGS, 0, 0, b"")
        self.socket.sendall(start + self.head() + b"".join(self.data()))
        answer = b""
        while True:
            head = self.read(9)
            kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
            payload = self.read(int.from_bytes(head[:3], "big"))
            assert kind != self.GOAWAY, payload
            if kind == self.SETTINGS and not flags & 1:
                for at in range(0, len(payload), 6):
                    name, value = struct.unpack(">HI", payload[at:at + 6])
                    if name == 4:
                        self.stream_window += value - 65_535
                self.socket.sendall(self.frame(self.SETTINGS, 1, 0, b""))
            if kind == self.WINDOW_UPDATE:
                credit = struct.unpack(">I", payload)[0]
                if stream:
                    self.stream_window += credit
                else:
                    self.window += credit
            if kind == self.DATA:
                answer += payload
                if flags & 1:
                    return answer.decode()
            for frame in self.data():
                self.socket.sendall(frame)


@test
def a_body_whose_begin_comes_with_its_head_arrives(browser, server):
    for count in [10, 50_000, 160_000]:
        text = "".join(f"{number:06}" for number in range(count))
        places = [0, count // 3, count - 1]
        select = ["id", "length(:text) AS length"] + [f"substr(:text, {6 * place + 1}, 6) AS p{place}" for place in places]
        query = {"from": "item", "where": "id = 1", "select": select, "params": {"text": text}}
        row = json.loads(Upload(server.port, json.dumps({"query": query}).encode()).answer())["rows"][0]
        assert row["length"] == len(text), row
        assert [row[f"p{place}"] for place in places] == [f"{place:06}" for place in places], row


@test
def nine_thousand_requests_are_answered_on_one_connection(browser, server):
    page = browser.new_context(ignore_https_errors=True).new_page()
    page.goto(f"{server.url}healthz")

    def connections():
        lines = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
        return {line[2] for line in lines if line[1].endswith(f":{server.port:04X}") and line[3] == "01"}

    before = connections()
    answered = page.evaluate("""async () => {
      let answered = 0;
      const ask = async () => {
        for (let index = 0; index < 180; index += 1) {
          const { status } = await fetch("/healthz");
          answered += status === 200;
        }
      };
      await Promise.all(Array.from({ length: 50 }, ask));
      return answered;
    }""")
    assert answered == 9_000, answered
    assert before and before <= connections(), "the connection was given up"


@test
def websocket_stays_on_a_connection_of_its_own(browser, server):
    page = browser.new_context(ignore_https_errors=True).new_page()
    page.goto(f"{server.url}healthz")
    answer = page.evaluate("""() => new Promise((resolve, reject) => {
      const socket = new WebSocket(`wss://${location.host}/v1/live`, "freshet.v1");
      socket.onopen = () => socket.send(JSON.stringify({ type: "subscribe", id: "a", query: { from: "item" } }));
      socket.onmessage = message => {
        const { type, total } = JSON.parse(message.data);
        if (type === "snapshot") resolve(total);
      };
      socket.onclose = event => reject(event.code);
    })""")
    assert answer == 1000, answer


def main():
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        database = str(pathlib.Path(folder) / "app.sqlite")
        subprocess.run(["sqlite3", database, """PRAGMA journal_mode = WAL; CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO item SELECT i, 'item ' || i FROM n"""],
                       check=True, capture_output=True)
        pem, key = certificate(folder)
        with Server(database, folder, "--tls-cert", pem, "--tls-key", key) as server:
            server.url = server.url.replace("127.0.0.1", "localhost")
            return run(TESTS, lambda: None, browser, server) > 0


if __name__ == "__main__":
    sys.exit(main())
