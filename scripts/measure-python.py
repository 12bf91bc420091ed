#!/usr/bin/env python3
"""How long the Python client takes for a list of 200,000 rows: from subscribing to the rows, and to frames of three libraries.

    scripts/measure-python.py [--freshet PATH] [--rows 200000]

Run it with a Python that has websockets, and pandas, polars and pyarrow for what concerns them. The goal is 2 s to the rows.
"""

import argparse
import asyncio
import importlib.util
import os
import pathlib
import sqlite3
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/src"))
import freshet  # noqa: E402


def make(file, rows):
    with sqlite3.connect(file) as database:
        database.executescript(
            "PRAGMA journal_mode = WAL; "
            "CREATE TABLE reading(id INTEGER PRIMARY KEY, sensor TEXT, at DATETIME, value REAL, is_valid BOOLEAN)")
        database.executemany(
            "INSERT INTO reading VALUES (?, ?, datetime('2026-01-01', ? || ' seconds'), ?, ?)",
            ((n, f"sensor {n % 100}", n, n / 7, n % 2) for n in range(rows)))
    database.close()


class Clock:
    """Prints how long each step took, and how long this process had a processor for it."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        return time.perf_counter(), time.process_time()

    def print(self, what):
        wall, processor = (end - start for start, end in zip(self.start, self.now()))
        print(f"{wall:6.2f} s  {processor:6.2f} s of the processor  {what}", flush=True)
        self.start = self.now()


async def measure(url, rows):
    async with freshet.connect(url) as client:
        clock = Clock()
        # The first run of the query on the server.
        await client.subscribe("reading", window=(0, 0))
        clock.print("the server's first run, without rows")
        readings = await client.subscribe("reading")
        clock.print(f"{len(readings):,} rows")
        assert len(readings.rows) == rows
        clock.print("rows as a list")
        typed = await client.subscribe("reading", convert=True)
        clock.print("the same with dates and booleans")
        assert typed.rows[0][4] is False
        clock.print("their rows as a list")
        for name, frame in {"pandas": "to_pandas", "pyarrow": "to_arrow", "polars": "to_polars"}.items():
            if importlib.util.find_spec(name):
                importlib.import_module(name)
                clock = Clock()
                getattr(readings, frame)()
                clock.print(f"{frame}()")
        await client.transact("UPDATE reading SET value = 0 WHERE id = 1")
        await readings.caught_up()
        clock.print("a change of one row")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--freshet", default=".build/release/freshet")
    parser.add_argument("--rows", type=int, default=200_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "readings.sqlite"
        make(file, options.rows)
        os.environ.setdefault("FRESHET_BIN", str(pathlib.Path(options.freshet).resolve()))
        with freshet.serve(str(file), allow_writes=True) as url:
            asyncio.run(measure(url, options.rows))


if __name__ == "__main__":
    main()
