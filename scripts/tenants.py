#!/usr/bin/env python3
"""Serves a folder of databases that other processes write to, replace, delete and make, and compares each list with its file.

    scripts/tenants.py [--freshet PATH] [--files 200] [--open 40] [--seconds 30] [--seed N]

Every row says whose it is: one in the list of another database is a crossing. Now and then writers pause, and every list must have the rows
that SELECT gives; the server is killed and started again in between. Exit status 1 where a list differs.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import pathlib
import random
import re
import sqlite3
import sys
import tempfile
import time
import urllib.request

from served import Served

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/src"))
import freshet  # noqa: E402

SELECT = "SELECT id, owner, n FROM item ORDER BY n, id"


def make(file, owner, rows):
    """A database that is whole when it gets its name."""
    fresh = file.with_name(f".{file.name}")
    with sqlite3.connect(fresh) as database:
        database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE item(id INTEGER PRIMARY KEY, owner TEXT, n INT)")
        database.executemany("INSERT INTO item(owner, n) VALUES (?, ?)", [(owner, n) for n in range(rows)])
    database.close()
    for ending in ["-wal", "-shm"]:
        pathlib.Path(f"{file}{ending}").unlink(missing_ok=True)
    fresh.rename(file)


def write(number, writers, folder, files, seed, may_write, is_quiet, is_over):
    """A program that changes files: no other one changes the same."""
    chance = random.Random(seed + number)
    mine = files[number::writers]
    while not is_over.is_set():
        if not may_write.is_set():
            is_quiet[number].set()
            may_write.wait(0.05)
            continue
        is_quiet[number].clear()
        owner = chance.choice(mine)
        file = folder / f"{owner}.sqlite"
        action = chance.random()
        if action < 0.01:
            make(file, owner, chance.randrange(5, 50))
        elif action < 0.015:
            for ending in ["", "-wal", "-shm"]:
                pathlib.Path(f"{file}{ending}").unlink(missing_ok=True)
        elif file.exists():
            try:
                with sqlite3.connect(f"file:{file}?mode=rw", uri=True, timeout=10, isolation_level=None) as database:
                    database.execute("BEGIN IMMEDIATE")
                    for _ in range(chance.randrange(1, 4)):
                        database.execute(*chance.choice([
                            ("INSERT INTO item(owner, n) VALUES (?, ?)", (owner, chance.randrange(100))),
                            ("UPDATE item SET n = ? WHERE id = ?", (chance.randrange(100), chance.randrange(1, 60))),
                            ("DELETE FROM item WHERE id = ?", (chance.randrange(1, 60),)),
                        ]))
                    database.execute("COMMIT")
                database.close()
            except sqlite3.OperationalError:
                pass
        else:
            make(file, owner, chance.randrange(5, 50))


class Server(Served):
    def __init__(self, program, folder, most):
        super().__init__(
            program, "serve", folder / "data", "--state", folder / "state",
            env={**os.environ, "FRESHET_OPEN_DATABASES": str(most), "FRESHET_DATABASE_IDLE": "2"})

    def metric(self, name):
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=20) as answer:
            return next(float(line.split()[1]) for line in answer.read().decode().splitlines() if line.startswith(f"{name} "))

    def cost(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return {
            "open": int(self.metric("freshet_databases_open")), "descriptors": len(os.listdir(f"/proc/{self.process.pid}/fd")),
            "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]), "MB": int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024,
        }


class Follower:
    """A client of one database."""

    def __init__(self, url, name):
        self.name = name
        self.client = freshet.connect(url, database=name, timeout=20)
        self.list = None

    async def open(self):
        await self.client
        self.list = await self.client.subscribe("item", order_by=["n", "id"])

    def rows(self):
        return [tuple(row) for row in self.list.rows]

    async def difference(self, folder):
        """None: its list is as its file; else in what they differ."""
        file = folder / "data" / f"{self.name}.sqlite"
        deadline = time.monotonic() + 20
        while True:
            if not file.exists():
                return None
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
                wanted = database.execute(SELECT).fetchall()
            database.close()
            try:
                await asyncio.wait_for(self.list.caught_up(), 5)
                found = self.rows()
            except (freshet.FreshetError, asyncio.TimeoutError) as error:
                found = [repr(error)]
            if found == wanted:
                return None
            if time.monotonic() > deadline:
                return {"database": self.name, "found": found[:5], "wanted": wanted[:5], "rows": [len(found), len(wanted)]}
            await asyncio.sleep(0.1)

    async def close(self):
        await self.client.close()


async def follow(options, folder, files, server, chance, writers):
    """Clients come and go until the time is over; then what was seen."""
    seen = {"seconds": options.seconds, "files": options.files, "quiet points": 0, "lists compared": 0, "opened": 0, "kills": 0, "not opened": 0, "crossed": 0,
            "differences": [], "most": {}}
    followers = []
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        while len(followers) < options.open and time.monotonic() < end:
            batch = [Follower(server.url, chance.choice(files)) for _ in range(min(10, options.open - len(followers)))]
            for follower, failure in zip(batch, await asyncio.gather(*(one.open() for one in batch), return_exceptions=True)):
                if failure is None:
                    followers.append(follower)
                    seen["opened"] += 1
                else:
                    # The file was just deleted, or too many databases are open.
                    seen["not opened"] += 1
                    await follower.close()
        await asyncio.sleep(0.5)
        writers.pause()
        differences = await asyncio.gather(*(follower.difference(folder) for follower in followers))
        seen["quiet points"] += 1
        seen["lists compared"] += len(followers)
        seen["differences"] += [difference for difference in differences if difference]
        seen["crossed"] += sum(1 for follower in followers for _, owner, _ in follower.rows() if owner != follower.name)
        seen["most"] = max(seen["most"], server.cost(), key=lambda cost: cost.get("open", 0))
        if chance.random() < 0.1:
            server.kill()
            server.start()
            seen["kills"] += 1
        writers.go_on()
        for follower in chance.sample(followers, len(followers) // 4):
            followers.remove(follower)
            await follower.close()
    for follower in followers:
        await follower.close()
    return seen


class Writers:
    def __init__(self, count, folder, files, seed):
        self.may_write, self.is_over = multiprocessing.Event(), multiprocessing.Event()
        self.are_quiet = [multiprocessing.Event() for _ in range(count)]
        self.may_write.set()
        arguments = (count, folder / "data", files, seed, self.may_write, self.are_quiet, self.is_over)
        self.processes = [multiprocessing.Process(target=write, args=(number, *arguments), daemon=True) for number in range(count)]
        for process in self.processes:
            process.start()

    def pause(self):
        self.may_write.clear()
        for is_quiet in self.are_quiet:
            is_quiet.wait(30)

    def go_on(self):
        for is_quiet in self.are_quiet:
            is_quiet.clear()
        self.may_write.set()

    def stop(self):
        self.is_over.set()
        for process in self.processes:
            process.join(10)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--freshet", default=".build/release/freshet")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--open", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    files = [f"{chance.choice(['', 'in/', 'in/deep/'])}t{number}" for number in range(options.files)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in files:
            file = folder / "data" / f"{name}.sqlite"
            file.parent.mkdir(parents=True, exist_ok=True)
            make(file, name, 30)
        server = Server(options.freshet, folder, options.open + 10)
        server.start()
        writers = Writers(3, folder, files, options.seed)
        try:
            seen = asyncio.run(follow(options, folder, files, server, chance, writers))
        finally:
            writers.stop()
            server.process.terminate()
            server.process.wait(30)
    print(json.dumps(seen, indent=1))
    return 1 if seen["differences"] or seen["crossed"] or not seen["lists compared"] else 0


if __name__ == "__main__":
    sys.exit(main())
