#!/usr/bin/env python3
"""Measures replication on this machine: lag, throughput, what it costs writers, subscribers on several replicas, a large snapshot.

    scripts/measure-replicas.py [lag|throughput|cost|subscribers|snapshot ...] [--freshet PATH]     all without a name

Broker, writer's server and replicas run on loopback, beside the programs that load and watch them, so on few processors what is
measured is an upper bound. Prints one JSON object for each measurement.
"""

import argparse
import base64
import http.client
import json
import multiprocessing
import os
import pathlib
import select
import shutil
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("measurements", nargs="*")
parser.add_argument("--freshet", default=".build/release/freshet")
parser.add_argument("--megabytes", type=int, default=1024, help="of the snapshot")
options = parser.parse_args()
NATS = shutil.which("nats-server") or "/usr/sbin/nats-server"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A broker, a file, its server and replicas, all of which end with it."""

    def __init__(self, publishes=True):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-measure-"))
        self.app, self.processes, self.ports = self.folder / "app.sqlite", [], {}
        self.url = f"nats://127.0.0.1:{free_port()}/m"
        connection = sqlite3.connect(self.app)
        connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE item(id INTEGER PRIMARY KEY, t INT, text);")
        connection.close()
        if publishes:
            self.start(NATS, "-js", "-sd", str(self.folder / "js"), "-a", "127.0.0.1", "-p", self.url.rsplit(":", 1)[1].split("/")[0])

    def start(self, *command):
        log = open(self.folder / "log", "a")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log))
        return self.processes[-1]

    def serve(self, name, *role):
        path = self.app if name == "app" else self.folder / f"{name}.sqlite"
        self.ports[name] = free_port()
        process = self.start(os.path.abspath(options.freshet), "serve", str(path), "--port", str(self.ports[name]), *role)
        end = time.time() + 180
        while time.time() < end:
            try:
                if self.get(name, "/readyz")[0] == 200:
                    return process
            except OSError:
                pass
            time.sleep(0.02)
        raise SystemExit(f"{name} does not become ready: {(self.folder / 'log').read_text()[-2000:]}")

    def get(self, name, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[name], timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def writer(path, rate, seconds, rows=1, queue=None):
    """Makes commits of `rows` rows at a rate a second; 0: as fast as possible."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    number, start, times = 0, time.monotonic(), []
    while time.monotonic() - start < seconds:
        if rate:
            due = start + number / rate
            pause = due - time.monotonic()
            if pause > 0:
                time.sleep(pause)
        begun = time.monotonic_ns()
        if rows == 1:
            connection.execute("INSERT INTO item(t, text) VALUES (?, ?)", (begun, "x" * 100))
        else:
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO item(t, text) VALUES (?, ?)", ((begun, "x" * 100) for _ in range(rows)))
            connection.execute("COMMIT")
        times.append(time.monotonic_ns() - begun)
        number += 1
    connection.close()
    if queue:
        queue.put((number, time.monotonic() - start, times))


def load(*arguments):
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=writer, args=arguments, kwargs={"queue": queue})
    process.start()
    return process, queue


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def watch(path, process, last):
    """Follows until the writer has ended and all of its rows have come. Returns the lag of each row, in milliseconds.
    """
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    lags, seen = [], 0
    while process.is_alive() or seen < last():
        rows = connection.execute("SELECT id, t FROM item WHERE id > ?", (seen,)).fetchall()
        now = time.monotonic_ns()
        for number, begun in rows:
            lags.append((now - begun) / 1e6)
            seen = number
        time.sleep(0.0005)
    return lags


def newest(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    return connection.execute("SELECT ifnull(max(id), 0) FROM item").fetchone()[0]


def lag():
    cluster = Cluster()
    cluster.serve("app", "--publish", cluster.url)
    cluster.serve("copy", "--replicate", cluster.url)
    process, queue = load(cluster.app, 1_000, 20)
    lags = watch(cluster.folder / "copy.sqlite", process, lambda: newest(cluster.app))
    number, seconds, _ = queue.get()
    print(json.dumps({"lag, insert to row in a replica's file": {
        "commits a second": round(number / seconds), "p50 ms": round(percentile(lags, 0.5), 1), "p99 ms": round(percentile(lags, 0.99), 1),
        "max ms": round(max(lags), 1), "rows": len(lags)}}), flush=True)
    cluster.end()


def throughput():
    cluster = Cluster()
    cluster.serve("app", "--publish", cluster.url)
    cluster.serve("copy", "--replicate", cluster.url)
    start = time.monotonic()
    process, queue = load(cluster.app, 0, 10, 1_000)
    lags = watch(cluster.folder / "copy.sqlite", process, lambda: newest(cluster.app))
    end = time.monotonic() - start
    number, seconds, _ = queue.get()
    print(json.dumps({"throughput, 1,000-row commits": {
        "rows a second written": round(number * 1_000 / seconds), "rows a second in the replica": round(len(lags) / end),
        "p99 lag ms": round(percentile(lags, 0.99), 1), "rows": len(lags)}}), flush=True)
    cluster.end()


def cost():
    """One after the other, five times: nobody, a server without a log, one with it. Medians of the times of commits at 200 a second."""
    times = {"nobody": [], "serve": [], "serve --publish": []}
    for _ in range(5):
        for name in times:
            cluster = Cluster(publishes=name == "serve --publish")
            if name != "nobody":
                cluster.serve("app", *(["--publish", cluster.url] if "publish" in name else []))
            time.sleep(0.5)
            process, queue = load(cluster.app, 200, 3)
            _, _, measured = queue.get()
            process.join()
            times[name].append(statistics.median(measured[100:]) / 1e3)
            cluster.end()
    middle = {name: round(statistics.median(found), 1) for name, found in times.items()}
    print(json.dumps({"a foreign writer's commit, 200 a second": {
        "median µs": middle, "with the log": round(middle["serve --publish"] / middle["nobody"], 3),
        "range": {name: [round(min(found), 1), round(max(found), 1)] for name, found in times.items()}}}), flush=True)


def subscribe(port):
    connection = socket.create_connection(("127.0.0.1", port))
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: freshet.v1\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(4_096)
    message = json.dumps({"type": "subscribe", "id": "q", "query": {"from": "item", "orderBy": ["id DESC"], "limit": 20}}).encode()
    connection.sendall(b"\x81" + bytes([0x80 | 126]) + len(message).to_bytes(2, "big") + bytes(4) + message)
    return connection


def crowd(port, count, ready, go, queue):
    """Subscribers that read and count bytes."""
    sockets = [subscribe(port) for _ in range(count)]
    poll = select.epoll()
    by_number = {each.fileno(): each for each in sockets}
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    ready.set()
    bytes_read = 0
    while not go.is_set():
        for number, _ in poll.poll(0.1):
            data = by_number[number].recv(1 << 16)
            if not data:
                raise SystemExit("a subscriber was sent away")
            bytes_read += len(data)
    queue.put(bytes_read)


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def subscribers(each=250):
    found = {}
    for count in (1, 2, 3):
        cluster = Cluster()
        cluster.serve("app", "--publish", cluster.url)
        replicas = [cluster.serve(f"copy{number}", "--replicate", cluster.url) for number in range(count)]
        stop, queue, crowds = multiprocessing.Event(), multiprocessing.Queue(), []
        for number in range(count):
            ready = multiprocessing.Event()
            crowds.append(multiprocessing.Process(target=crowd, args=(cluster.ports[f"copy{number}"], each, ready, stop, queue)))
            crowds[-1].start()
            ready.wait()
        time.sleep(1)
        before = [processor_seconds(process) for process in replicas]
        process, done = load(cluster.app, 20, 20)
        commits, _, _ = done.get()
        process.join()
        time.sleep(0.5)
        used = sum(processor_seconds(process) - earlier for process, earlier in zip(replicas, before))
        stop.set()
        received = sum(queue.get() for _ in crowds)
        for one in crowds:
            one.join()
        found[count] = {"subscribers": each * count, "µs a subscriber and commit": round(used / (each * count * commits) * 1e6, 2),
                        "bytes received": received}
        cluster.end()
    costs = [each["µs a subscriber and commit"] for each in found.values()]
    print(json.dumps({"subscribers on 1, 2, 3 replicas, 20 commits a second": {
        **found, "most against least": round(max(costs) / min(costs), 3)}}), flush=True)


def snapshot():
    cluster = Cluster()
    connection = sqlite3.connect(cluster.app)
    connection.execute("PRAGMA synchronous = OFF")
    # Half of the file is ordinary text, the other half is noise that cannot be compressed.
    rows = options.megabytes * 1_000
    words = "the quick brown fox jumps over the lazy dog and runs away again; "
    for first in range(0, rows, 10_000):
        connection.executemany("INSERT INTO item(t, text) VALUES (?, ?)", (
            (number, words * 8 if number % 2 else os.urandom(1_500)) for number in range(first, min(rows, first + 10_000))))
        connection.commit()
    connection.close()
    size = cluster.app.stat().st_size
    cluster.serve("app", "--publish", cluster.url)
    start = time.monotonic()
    cluster.serve("copy", "--replicate", cluster.url)
    seconds = time.monotonic() - start
    print(json.dumps({"a new replica": {"bytes": size, "seconds": round(seconds, 1), "seconds a GB": round(seconds / size * 1e9, 1)}}), flush=True)
    cluster.end()


for name in options.measurements or ["lag", "throughput", "cost", "subscribers", "snapshot"]:
    {"lag": lag, "throughput": throughput, "cost": cost, "subscribers": subscribers, "snapshot": snapshot}[name]()
