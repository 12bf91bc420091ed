"""HTTP/2 with TLS: what a page may do over one connection, and that WebSocket stays beside it."""
import pathlib
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
