#!/usr/bin/env python3
"""Measures in Chromium how long the page takes until its first row is painted, and how many frames a second it paints while rows change.

    scripts/python.sh scripts/measure-page.py [PUBLIC ...]

For each folder of static files (by default public/), in turns, so that a machine that is now fast and now slow is the same for all: the median
time from navigation to the first row of a table of 50,000, with an empty cache and with a full one. Then, for the last, frames while 200 rows a second
change, and how long it takes until the first rows of another sort, filter, search or section of a table of LARGE_ROWS (1,000,000) × 20 are painted, beside the time
that SQLite takes for those rows. Uses FRESHET_BIN, by default .build/release/freshet.
"""
import contextlib
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from playwright.sync_api import sync_playwright
from served import Served

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = os.environ.get("FRESHET_BIN", str(ROOT / ".build/release/freshet"))
CHROMIUM = os.environ.get("CHROMIUM") or subprocess.run(
    [ROOT / "scripts/chromium.sh"], check=True, capture_output=True, text=True).stdout.strip()
ROUNDS = int(os.environ.get("ROUNDS", "11"))
FIRST_ROW = """async () => {
  const rows = () => document.querySelectorAll(".live-row[data-state=shown]");
  const isSeen = () => [...rows()].some((row) => row.getClientRects().length && row.textContent.trim());
  while (!isSeen()) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now();
}"""
LARGE_ROWS = int(os.environ.get("LARGE_ROWS", "1000000"))
# The actions in the page, and the first rows as SQLite alone has them.
CRITERIA = {
    "sorted, no index": ("#/orders?sort=total", "SELECT * FROM orders ORDER BY total, id LIMIT 200"),
    "sorted, index": ("#/orders?sort=name", "SELECT * FROM orders ORDER BY name, id LIMIT 200"),
    "filtered": ("#/orders?where=status%3D'void'", "SELECT * FROM orders WHERE status = 'void' ORDER BY id LIMIT 200"),
    "searched, a rare word": ("#/orders?search=zebra",
                              "SELECT * FROM orders WHERE id IN (SELECT rowid FROM orders_fts WHERE orders_fts MATCH 'zebra*') ORDER BY id LIMIT 200"),
    "searched, a letter": ("#/orders?search=s",
                           "SELECT * FROM orders WHERE id IN (SELECT rowid FROM orders_fts WHERE orders_fts MATCH 's*') ORDER BY id LIMIT 200"),
    "in sections": ("#/orders?section=county", "SELECT * FROM orders ORDER BY county, id LIMIT 200"),
}
# The first rows of what the address says now are painted.
ANSWERED = """async () => {
  const list = () => document.querySelector("live-list.table-list");
  const rows = () => list()?.querySelectorAll(".live-row[data-state=shown]") ?? [];
  const isSeen = () => !("outdated" in list().dataset) && [...rows()].some((row) => row.getClientRects().length && row.textContent.trim());
  while (!list() || !isSeen()) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
}"""
FRAMES = """(milliseconds) => new Promise((done) => {
  const times = [];
  const step = (now) => {
    times.push(now);
    if (now - times[0] < milliseconds) requestAnimationFrame(step);
    else done(times);
  };
  requestAnimationFrame(step);
})"""


class Server(Served):
    """A server of the static files of a folder."""

    def __init__(self, public, database):
        super().__init__(BINARY, "serve", database, "--public", public, "--allow-writes")
        self.start()


def make_database(path):
    subprocess.run(["sqlite3", str(path)], check=True, text=True, capture_output=True, input="""
        PRAGMA journal_mode = WAL;
        CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT, county TEXT, status TEXT, depth REAL, spud_date TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        INSERT INTO well SELECT i, 'Well ' || i, 'County ' || (i % 254), 'Producing', i % 9000, date('1990-01-01', (i % 9000) || ' days') FROM n;
        """)


def make_large_database(path):
    choose = random.Random(1)
    words = ["".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=choose.randint(3, 9))) for _ in range(5_000)] + ["zebra"]
    kinds = ["open", "closed", "paid", "new"]
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    numbers = [f"c{number} INTEGER" for number in range(13)]
    connection.execute(f"CREATE TABLE orders(id INTEGER PRIMARY KEY, name TEXT, status TEXT, county TEXT, note TEXT, total REAL, created TEXT, {', '.join(numbers)})")
    connection.executemany(f"INSERT INTO orders VALUES ({', '.join('?' * 20)})", (
        (row, f"{choose.choice(words)} {row}", "void" if row % 1000 == 0 else choose.choice(kinds), f"County {choose.randrange(254)}",
         " ".join(choose.choices(words, k=6)), choose.random() * 1000, f"20{choose.randrange(10, 26)}-01-01",
         *(choose.randrange(1_000_000) for _ in numbers))
        for row in range(1, LARGE_ROWS + 1)))
    connection.executescript("""
        CREATE INDEX orders_name ON orders(name);
        CREATE VIRTUAL TABLE orders_fts USING fts5(name, note, content='orders', content_rowid='id');
        INSERT INTO orders_fts(orders_fts) VALUES('rebuild');
        PRAGMA wal_checkpoint(TRUNCATE);
        """)
    connection.close()


def sqlite_time(path, sql):
    """Milliseconds for the rows, in a connection that has read nothing yet."""
    connection = sqlite3.connect(path)
    start = time.perf_counter()
    connection.execute(sql).fetchall()
    duration = 1000 * (time.perf_counter() - start)
    connection.close()
    return duration


def criteria(browser, public, path):
    """By what is done: milliseconds until its first rows are painted, from the whole table in the same page; by a link; of SQLite alone."""
    times = {name: ([], [], []) for name in CRITERIA}
    for _ in range(5):
        for name, (address, sql) in CRITERIA.items():
            changed, linked, alone = times[name]
            # A new server each time, because a list that was shown a moment ago would still be open.
            with running(public, path) as server:
                linked.append(time_of_link(browser, f"{server.url}/{address}"))
            with running(public, path) as server:
                changed.append(time_of_change(browser, f"{server.url}/#/orders", address.removeprefix("#")))
            alone.append(sqlite_time(path, sql))
    return times


@contextlib.contextmanager
def running(public, path):
    server = Server(public, path)
    try:
        yield server
    finally:
        server.stop()


def time_of_link(browser, url):
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.evaluate(ANSWERED)
    duration = 1000 * (time.perf_counter() - start)
    page.close()
    return duration


def time_of_change(browser, url, hash):
    page = browser.new_page()
    page.goto(url, wait_until="commit")
    page.locator(".table-title .count", has_text=f"{LARGE_ROWS:,} row").wait_for(timeout=60_000)
    duration = page.evaluate("""async (hash) => {
      const list = document.querySelector("live-list.table-list");
      // It may be answered before the next frame.
      const answered = new Promise((done) => {
        new MutationObserver(() => { if (!("outdated" in list.dataset)) done(); }).observe(list, { attributeFilter: ["data-outdated"] });
      });
      const start = performance.now();
      location.hash = hash;
      await answered;
      await (%s)();
      return performance.now() - start;
    }""" % ANSWERED, hash)
    page.close()
    return duration


def first_row(browser, url, *, cached):
    context = browser.new_context()
    try:
        page = context.new_page()
        if cached:
            page.goto(url)
            page.evaluate(FIRST_ROW)
            page.goto("about:blank")
        page.goto(url, wait_until="commit")
        return page.evaluate(FIRST_ROW)
    finally:
        context.close()


def frames(browser, url, database):
    """Frames a second, and the longest pause, while 200 rows a second change in the rows that are seen."""
    page = browser.new_page()
    page.goto(url)
    page.evaluate(FIRST_ROW)
    isOver = threading.Event()

    def write():
        shell = subprocess.Popen(["sqlite3", str(database)], stdin=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL)
        for change in range(1_000_000):
            if isOver.is_set():
                break
            # Ten of the first rows, twenty times a second.
            shell.stdin.write(f"UPDATE well SET depth = depth + 1 WHERE id BETWEEN {change % 3 * 10 + 1} AND {change % 3 * 10 + 10};\n")
            shell.stdin.flush()
            time.sleep(0.05)
        shell.stdin.close()
        shell.wait()

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(1)
    times = page.evaluate(FRAMES, 5_000)
    isOver.set()
    writer.join()
    page.close()
    pauses = [later - earlier for earlier, later in zip(times, times[1:])]
    return 1000 * len(pauses) / (times[-1] - times[0]), max(pauses), sorted(pauses)[len(pauses) * 99 // 100]


def main():
    folders = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or [ROOT / "public"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = pathlib.Path(folder) / "wells.sqlite"
        make_database(database)
        servers = [Server(public, database) for public in folders]
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            times = {(public, cached): [] for public in folders for cached in (False, True)}
            for _ in range(ROUNDS):
                for public, server in zip(folders, servers):
                    for cached in (False, True):
                        times[public, cached].append(first_row(browser, server.url + "/#/well", cached=cached))
            for (public, cached), all in times.items():
                low, middle, high = statistics.quantiles(all, n=4)
                print(f"{public}: first row with {'a full' if cached else 'an empty'} cache after {middle:.0f} ms ({low:.0f}–{high:.0f})")
            rate, longest, late = frames(browser, servers[-1].url + "/#/well", database)
            print(f"{folders[-1]}: {rate:.1f} frames a second while 200 rows a second change; "
                  f"between two of them {late:.0f} ms in 99 of 100, at most {longest:.0f} ms")
            large = pathlib.Path(folder) / "orders.sqlite"
            make_large_database(large)
            for name, all in criteria(browser, folders[-1], large).items():
                changed, linked, alone = (statistics.median(each) for each in all)
                print(f"{LARGE_ROWS:,} rows × 20, {name}: first rows after {changed:.0f} ms, by a link {linked:.0f} ms, SQLite alone {alone:.0f} ms")
            browser.close()
        finally:
            for server in servers:
                server.stop()


main()
