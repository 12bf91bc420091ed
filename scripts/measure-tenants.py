#!/usr/bin/env python3
"""Measures what many databases in one server cost, each figure with its baseline in the same run.

    scripts/measure-tenants.py [--freshet PATH] [--files 10000] [--open 1000] [--rounds 300]
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
import urllib.request

from served import Served
from websockets.asyncio.client import connect

ROWS = 1_000


def make(file, rows=ROWS):
    with sqlite3.connect(file) as database:
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, n INT)")
        database.executemany("INSERT INTO item(name, n) VALUES (?, ?)", [(f"row {n}", n) for n in range(rows)])
    database.close()


class Server(Served):
    def __init__(self, program, path, most=2_000):
        super().__init__(
            program, "serve", path, "--no-state", "--self-check", "idle",
            env={**os.environ, "FRESHET_OPEN_DATABASES": str(most), "FRESHET_DATABASE_IDLE": "600"})

    def start(self):
        begun = time.perf_counter()
        super().start()
        self.seconds = time.perf_counter() - begun
        return self

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read()

    @property
    def status(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return {"kB": int(re.search(r"VmRSS:\s+(\d+)", text)[1]), "threads": int(re.search(r"Threads:\s+(\d+)", text)[1]),
                "descriptors": len(os.listdir(f"/proc/{self.process.pid}/fd"))}

    @property
    def processor(self):
        """Seconds."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def follow(server, path):
    socket = await connect(server.url.replace("http", "ws") + path, max_size=None, compression=None)
    await socket.recv()
    await socket.send(json.dumps({"type": "subscribe", "id": "l", "query": {"from": "item", "orderBy": ["n", "id"]}, "window": {"offset": 0, "limit": 20}}))
    await socket.recv()
    return socket


async def commits(server, socket, file, rounds):
    """Median milliseconds from before a commit to its patch, and the server's milliseconds of processor time for each."""
    database = sqlite3.connect(file, isolation_level=None)
    times, before = [], server.processor
    for number in range(rounds):
        await asyncio.sleep(0.06)
        start = time.perf_counter()
        database.execute("UPDATE item SET name = ? WHERE id = 3", (f"changed {number}",))
        await socket.recv()
        times.append(time.perf_counter() - start)
    database.close()
    return statistics.median(times) * 1e3, (server.processor - before) / rounds * 1e3


class Noise:
    """A neighbour: a program or clients of another database, as long as it lasts."""

    def __init__(self, kind, server, folder):
        self.processes = []
        url, file = server.url, folder / "loud.sqlite"
        if kind == "a neighbour written to at full speed":
            code = f"""import sqlite3, itertools
database = sqlite3.connect({str(file)!r}, isolation_level=None, timeout=10)
for number in itertools.count(): database.execute("UPDATE item SET n = ? WHERE id = ?", (number % 1000, number % 1000))"""
            self.programs(code, 1)
        elif kind == "a neighbour with endless queries":
            endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) AS n FROM c"
            code = f"""import urllib.request, urllib.parse
while True:
    try: urllib.request.urlopen({url!r} + "/db/loud/v1/snapshot?key=n&sql=" + urllib.parse.quote({endless!r}), timeout=40).read()
    except Exception: pass"""
            self.programs(code, 6)
        elif kind == "a neighbour with a damaged file":
            code = f"""import urllib.request, time
while True:
    try: urllib.request.urlopen({url!r} + "/db/damaged/v1/snapshot?from=item", timeout=40).read()
    except Exception: time.sleep(0.005)"""
            self.programs(code, 2)

    def programs(self, code, count):
        self.processes = [subprocess.Popen(["nice", "python3", "-c", code]) for _ in range(count)]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


async def isolation(program, folder, rounds):
    """The 99th percentile from commit to patch beside each noise, in milliseconds, and how often that of silence."""
    for name in ["quiet", "loud", "damaged"]:
        make(folder / f"{name}.sqlite")
    with open(folder / "damaged.sqlite", "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(64 << 10))
    figures = {}
    with Server(program, folder) as server:
        socket = await follow(server, "/db/quiet/v1/live")
        loud = await follow(server, "/db/loud/v1/live")
        drain = asyncio.create_task(listen(loud))
        silence = None
        for kind in ["silence", "a neighbour written to at full speed", "a neighbour with endless queries", "a neighbour with a damaged file"]:
            noise = Noise(kind, server, folder)
            await asyncio.sleep(1)
            times = []
            database = sqlite3.connect(folder / "quiet.sqlite", isolation_level=None)
            for number in range(rounds):
                await asyncio.sleep(0.02)
                start = time.perf_counter()
                database.execute("UPDATE item SET name = ? WHERE id = 3", (f"{kind} {number}",))
                await socket.recv()
                times.append((time.perf_counter() - start) * 1e3)
            database.close()
            noise.stop()
            times.sort()
            p99 = times[int(len(times) * 0.99)]
            silence = silence or p99
            figures[f"p99 beside {kind}"] = f"{p99:.2f} ms, {p99 / silence:.1f} times (p50 {times[len(times) // 2]:.2f} ms)"
        drain.cancel()
        await socket.close()
    return figures


async def listen(socket):
    async for _ in socket:
        pass


def first_list(program, folder, rounds):
    """Median milliseconds of a first list: of a closed file in a folder, and of a server that has only that file."""
    many, one = [], []
    query = "v1/snapshot?from=item&orderBy=n,id&limit=20"
    with Server(program, folder) as server:
        server.get("/healthz")
        for number in range(rounds):
            start = time.perf_counter()
            server.get(f"/db/t{number}/{query}")
            many.append(time.perf_counter() - start)
            with Server(program, folder / f"t{number}.sqlite") as single:
                single.get("/healthz")
                start = time.perf_counter()
                single.get(f"/{query}")
                one.append(time.perf_counter() - start)
    return statistics.median(many) * 1e3, statistics.median(one) * 1e3


async def measure(options, folder):
    figures = {}
    program = options.freshet
    template = folder / "template.sqlite"
    make(template)
    data = folder / "data"
    data.mkdir()
    for number in range(options.files):
        if number < options.open:
            shutil.copy(template, data / f"t{number}.sqlite")
        else:
            os.link(template, data / f"t{number}.sqlite")
    with Server(program, data / "t0.sqlite") as server:
        figures["start, one file"] = f"{server.seconds:.3f} s"
        few = server.status
        socket = await follow(server, "/v1/live")
        await commits(server, socket, data / "t0.sqlite", 20)
        alone = await commits(server, socket, data / "t0.sqlite", options.rounds)
        await socket.close()
    with Server(program, data) as server:
        figures[f"start, {options.files} files"] = f"{server.seconds:.3f} s"
        server.get("/v1/databases")
        closed = server.status
        figures["a closed file"] = f"{(closed['kB'] - few['kB']) * 1024 / options.files:.0f} B (with one list of all names; a server of one file has {few['kB']} kB)"
        sockets = [await follow(server, f"/db/t{number}/v1/live") for number in range(10)]
        before = server.status
        for number in range(10, options.open):
            sockets.append(await follow(server, f"/db/t{number}/v1/live"))
        after = server.status
        count = options.open - 10
        figures["an open file with a list and a client"] = (
            f"{(after['kB'] - before['kB']) / count:.0f} kB, {(after['descriptors'] - before['descriptors']) / count:.1f} descriptors (its socket among them), "
            f"{(after['threads'] - before['threads']) / count:.2f} threads; {after['threads']} threads in all")
        await asyncio.sleep(3)
        start, used = time.monotonic(), server.processor
        await asyncio.sleep(20)
        figures[f"idle, {options.open} open files"] = f"{(server.processor - used) / (time.monotonic() - start) * 100:.2f} % of a processor"
        await commits(server, sockets[0], data / "t0.sqlite", 20)
        among = await commits(server, sockets[0], data / "t0.sqlite", options.rounds)
        figures[f"commit to patch, p50, one of {options.open} open / the only one"] = f"{among[0]:.3f} / {alone[0]:.3f} ms: {among[0] / alone[0]:.2f}"
        figures["processor time of a commit"] = f"{among[1]:.2f} / {alone[1]:.2f} ms: {among[1] / max(alone[1], 1e-9):.2f}"
        for socket in sockets:
            await socket.close()
    many, one = first_list(program, data, 20)
    figures["first list of a closed file / of a server that has only that file"] = f"{many:.1f} / {one:.1f} ms: {many / one:.2f}"
    (folder / "isolation").mkdir()
    return figures | await isolation(program, folder / "isolation", options.rounds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--freshet", default=".build/release/freshet")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--open", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, figure in asyncio.run(measure(options, pathlib.Path(folder))).items():
            print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
