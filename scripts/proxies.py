#!/usr/bin/env python3
"""Serves a list behind each proxy of docs/guides/reverse-proxy.md, as the page has it but for names, ports and certificates.

    scripts/proxies.py [--freshet PATH] [caddy|nginx|haproxy ...]     all that are installed without a name

Tried are a page over HTTP/2, a list over WebSocket and its patch, events as they come, the client's address in the log, and requests
that two programs could read in two ways: the proxy refuses the path /v1/smuggled, so the server must never see it.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import tempfile
import time

NAME = "lists.example.org"
PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/guides/reverse-proxy.md"
QUERY = {"from": "item", "orderBy": ["id"]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"error: {what} did not happen in {seconds} s")
        time.sleep(0.02)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def documented(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)[1]


class Proxy:
    """A running proxy between its own port and the server's."""

    def __init__(self, name, folder, server):
        self.name, self.port = name, free_port()
        text = documented(name).replace("127.0.0.1:8080", f"127.0.0.1:{server}")
        certificate, key = folder / "lists.pem", folder / "lists.key"
        if name == "caddy":
            text = text.replace(f"{NAME} {{", f"https://{NAME}:{self.port} {{\n\ttls {certificate} {key}\n\trespond /v1/smuggled* 403")
            text = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text
            command = ["caddy", "run", "--adapter", "caddyfile", "--config"]
        elif name == "nginx":
            text = text.replace("listen 443", f"listen 127.0.0.1:{self.port}").replace("/etc/ssl", str(folder))
            text = text.replace("location / {", "location /v1/smuggled { return 403; }\n  location / {")
            places = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
            text = f"daemon off; pid {folder}/pid; events {{}} http {{ access_log off; {places}\n{text}\n}}"
            command = ["nginx", "-p", str(folder), "-e", "stderr", "-c"]
        else:
            text = text.replace("bind :443", f"bind 127.0.0.1:{self.port}").replace("/etc/ssl", str(folder))
            text = text.replace("  option forwardfor", "  http-request deny if { path_beg /v1/smuggled }\n  option forwardfor")
            command = ["haproxy", "-f"]
        file = folder / f"{name}.conf"
        file.write_text(text)
        self.log = open(folder / f"{name}.log", "w")
        environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
        self.process = subprocess.Popen([*command, str(file)], stdout=self.log, stderr=self.log, env=environment)
        until(f"{name} listening ({file.parent}/{name}.log)", lambda: self.process.poll() is None and listens(self.port))

    def connect(self, source="127.0.0.1"):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=10, source_address=(source, 0))
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(plain, server_hostname=NAME)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def head(path, *lines, method="GET"):
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {NAME}", *lines, "", ""]).encode()


def read_until(client, end, limit=1 << 20):
    got = b""
    while end not in got:
        more = client.recv(4096)
        if not more or len(got) > limit:
            sys.exit(f"error: {end!r} did not come: {got[-500:]!r}")
        got += more
    return got


def read_message(client):
    """One text frame of a server: not masked."""
    start = client.read(2)
    length = start[1] & 127
    if length == 126:
        length = struct.unpack(">H", client.read(2))[0]
    elif length == 127:
        length = struct.unpack(">Q", client.read(8))[0]
    return json.loads(client.read(length))


def requests(log):
    """What the server says it was asked: lines that it has written whole."""
    lines = log.read_text().rpartition("\n")[0].splitlines()
    return [line for line in map(json.loads, lines) if "path" in line]


def logged(log, path):
    """What the server was asked until it was asked for this path: it answers before it writes the line."""
    until(f"a line of {path} in the log", lambda: any(line["path"] == path for line in requests(log)))
    return requests(log)


def check_page(proxy):
    curl = ["curl", "-sk", "--http2", "--resolve", f"{NAME}:{proxy.port}:127.0.0.1", "-o", "/dev/null", "-w", "%{http_code} %{http_version}"]
    answer = subprocess.run([*curl, f"https://{NAME}:{proxy.port}/v1/snapshot?from=item"], capture_output=True, text=True).stdout
    assert answer == "200 2", f"a snapshot over HTTP/2: {answer}"


def check_list(proxy, write):
    with proxy.connect() as client:
        key = base64.b64encode(os.urandom(16)).decode()
        upgrade = ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        client.sendall(head("/v1/live", *upgrade))
        answer = client.makefile("rb")
        assert b" 101 " in answer.readline()
        while answer.readline() != b"\r\n":
            pass
        assert read_message(answer)["type"] == "hello"
        text = json.dumps({"type": "subscribe", "id": "a", "query": QUERY, "window": {"offset": 0, "limit": 10}}).encode()
        size = bytes([0x80 | len(text)]) if len(text) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(text))
        client.sendall(b"\x81" + size + b"\0\0\0\0" + text)
        assert read_message(answer)["type"] == "snapshot"
        write()
        assert read_message(answer)["type"] == "patch"


def check_events(proxy, write):
    with proxy.connect() as client:
        client.sendall(head("/v1/subscriptions?from=item&orderBy=id", "Accept: text/event-stream"))
        read_until(client, b"event: snapshot")
        write()
        start = time.monotonic()
        read_until(client, b"event: patch")
        assert time.monotonic() - start < 2, "an event came late: the proxy buffers"


def check_address(proxy, log):
    """The client's own claim about its address is not believed."""
    with proxy.connect(source="127.0.0.5") as client:
        client.sendall(head("/v1/queries", "X-Forwarded-For: 192.0.2.9", "Connection: close"))
        read_until(client, b"\r\n\r\n")
    addresses = {line["address"] for line in logged(log, "/v1/queries") if line["path"] == "/v1/queries"}
    assert addresses == {"127.0.0.5"}, f"the client's address is {addresses}"


def ambiguous():
    """Requests of which one reader sees one, and another two."""
    inner = head("/v1/smuggled", "X: x")
    chunked, length = "Transfer-Encoding: chunked", f"Content-Length: {len(inner) + 5}"
    last = b"0\r\n\r\n" + inner
    for lines in [
        [length, chunked], [chunked, length], ["Content-Length: 5", chunked], [length, "Transfer-Encoding: xchunked"],
        [length, "Transfer-Encoding : chunked"], [length, "Transfer-Encoding:\tchunked"], [length, "Transfer-Encoding: \x0bchunked"],
        [length, "Transfer-Encoding: chunked, identity"], [length, "Transfer-Encoding: identity", chunked],
        [length, "Transfer-Encoding:\r\n chunked"], [length, "X: x\n" + chunked], [length, "transfer_encoding: chunked"],
        [length, "Content-Length: 0"], ["Content-Length: 0", length], [f"Content-Length: +{len(inner) + 5}"],
        [f"Content-Length: {len(inner) + 5}, 0"], [length, "Connection: Content-Length"], [length, "Connection: Transfer-Encoding", chunked],
        [length, "Expect: 100-continue", chunked], [length, "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"],
    ]:
        for method in ["POST", "GET"]:
            yield head("/v1/snapshot", "Content-Type: application/json", *lines, method=method) + last
    for size in [b"0;x\n", b"00000000000000000000\r\n", b"0x0\r\n", b"-0\r\n", b"0 \r\n", b"100000000000000000\r\n"]:
        yield head("/v1/snapshot", chunked, method="POST") + size + b"\r\n" + inner
    yield head("/v1/snapshot", chunked, method="POST") + b"1\r\nZ\r\nQ\r\n" + last
    yield head("/v1/snapshot%0d%0aX:%20y%0d%0a%0d%0aGET%20/v1/smuggled%20HTTP/1.1", "Connection: close")
    yield head("/v1/live", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 7", "Sec-WebSocket-Key: x") + inner


def check_smuggling(proxy, log):
    count = 0
    for request in ambiguous():
        with proxy.connect() as client:
            client.settimeout(0.3)
            client.sendall(request)
            try:
                while client.recv(4096):
                    pass
            except (TimeoutError, ConnectionError, ssl.SSLError):
                pass
        count += 1
    # If the proxy and the server disagreed about requests on a connection, the next client would get another's answer.
    check_page(proxy)
    with proxy.connect() as client:
        client.sendall(head("/v1/last", "Connection: close"))
        read_until(client, b"\r\n\r\n")
    smuggled = [line for line in logged(log, "/v1/last") if line["path"].startswith("/v1/smuggled")]
    assert not smuggled, f"requests came through that the proxy did not see: {smuggled}"
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("proxies", nargs="*", default=["caddy", "nginx", "haproxy"])
    parser.add_argument("--freshet", default=".build/release/freshet")
    options = parser.parse_args()
    path = f"{os.environ['PATH']}:/usr/sbin"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        database, log, port = folder / "app.sqlite", folder / "access.log", free_port()
        rows = sqlite3.connect(database, isolation_level=None)
        rows.executescript("PRAGMA journal_mode = WAL; CREATE TABLE item(id INTEGER PRIMARY KEY, n); INSERT INTO item(n) VALUES (0)")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}", "-days", "2", "-addext",
             f"subjectAltName=DNS:{NAME}", "-keyout", folder / "lists.key", "-out", folder / "lists.pem"], check=True, capture_output=True)
        (folder / "lists-with-key.pem").write_text((folder / "lists.pem").read_text() + (folder / "lists.key").read_text())
        server = subprocess.Popen(
            [options.freshet, "serve", str(database), "--port", str(port), "--trust-proxy", "127.0.0.1", "--allow-host", NAME,
             "--access-log", str(log), "--state", str(folder / "state"), "--log-level", "error"])
        try:
            until("freshet listening", lambda: listens(port))
            for name in options.proxies:
                if not shutil.which(name, path=path):
                    print(f"skipped: {name} is not installed")
                    continue
                log.write_text("")
                server.send_signal(1)
                proxy = Proxy(name, folder, port)
                try:
                    write = lambda: rows.execute("UPDATE item SET n = n + 1")
                    check_page(proxy)
                    check_list(proxy, write)
                    check_events(proxy, write)
                    check_address(proxy, log)
                    count = check_smuggling(proxy, log)
                    print(f"{name}: HTTP/2, lists, events, addresses; {count} ambiguous requests, none of them smuggled")
                finally:
                    proxy.stop()
        finally:
            server.terminate()
            server.wait(20)


if __name__ == "__main__":
    main()
