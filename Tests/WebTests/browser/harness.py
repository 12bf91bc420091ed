"""Shared parts of the tests of pages: a real server over a real database, and a real browser.

FRESHET_BIN names the program, FRESHET_ROWS the number of wells, CHROMIUM the browser. Screenshots go to
.build/screenshots.
"""
import asyncio
import contextlib
import functools
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from history import thread_failures  # noqa: E402
from served import Served  # noqa: E402
from playwright.sync_api import Error, expect, sync_playwright  # noqa: E402

SCREENSHOTS = ROOT / ".build" / "screenshots"
ROWS = int(os.environ.get("FRESHET_ROWS", "244292"))
IN_ORDER = "FROM well ORDER BY county, name, id"
# Seconds to wait for an expected state, which comes later on a busy machine.
PATIENCE = 30
expect.set_options(timeout=PATIENCE * 1000)


def program():
    named = os.environ.get("FRESHET_BIN")
    built = [ROOT / ".build" / kind / "freshet" for kind in ("release", "debug")]
    for path in [pathlib.Path(named)] if named else built:
        if path.exists():
            return str(path)
    sys.exit("build freshet first, or say where it is with FRESHET_BIN")


class Shell:
    """The sqlite3 shell on `database`: another process, another library, no knowledge of Freshet."""

    def sql(self, text):
        """The shell's output."""
        return subprocess.run(
            ["sqlite3", "-cmd", ".timeout 5000", self.database, text], check=True, capture_output=True, text=True
        ).stdout.strip()


class Demo(Shell):
    """`freshet demo` over a database of its own, which survives the server."""

    def __init__(self, folder, public=ROOT / "public", rows=ROWS):
        self.folder = folder
        self.public = public
        self.rows = rows
        self.database = str(pathlib.Path(folder) / f"wells-{rows}.sqlite")
        self.process = None
        self.port = 0
        self.url = ""

    def start(self, writes_per_second=0):
        log = open(pathlib.Path(self.folder) / "log", "w+")
        self.process = subprocess.Popen(
            [program(), "demo", "--rows", str(self.rows), "--writes-per-second", str(writes_per_second),
             "--port", str(self.port), "--public", str(self.public)],
            env={**os.environ, "FRESHET_CACHE": self.folder}, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            log.seek(0)
            found = re.search(r"Open (http://[^/]*:(\d+)/)", log.read())
            if found:
                self.port = int(found[2])
                self.url = found[1]
                return self.url
            time.sleep(0.02)
        log.seek(0)
        sys.exit(f"the server did not start:\n{log.read()}")

    def writer(self):
        """The id of the second process, if there is one."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return int(found.stdout) if found.stdout.strip() else None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()


class Server(Served, Shell):
    """`freshet serve` for a given database."""

    def __init__(self, database, public=ROOT / "public", *options):
        super().__init__(program(), "serve", database, "--public", public, *options)
        self.database = database

    def start(self):
        super().start()
        self.url += "/"
        return self


def eventually(read, is_right=bool, what="it", seconds=PATIENCE, wait=time.sleep):
    """Calls `read` until its value is right, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        value = read()
        if is_right(value):
            return value
        assert time.monotonic() < deadline, f"{what}: {str(value)[:1000]}"
        wait(0.02)


@contextlib.contextmanager
def mounted(demo, prefix):
    """The server below a path, as a reverse proxy would have it."""
    async def pump(reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connected(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        if not head.split(" ")[1].startswith(prefix):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return writer.close()
        head = head.replace(f" {prefix}", " /", 1).replace("Connection: keep-alive", "Connection: close")
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", demo.port)
        to_writer.write(head.encode("latin-1"))
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(pump(reader, to_writer), pump(to_reader, writer))

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    # The proxy has a thread of its own, because the tests' thread runs a loop already.
    proxy = asyncio.run_coroutine_threadsafe(asyncio.start_server(connected, "127.0.0.1", 0), loop).result()
    try:
        yield f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}{prefix}"
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        loop.call_soon_threadsafe(loop.call_later, 0.1, loop.stop)
        thread.join()


@contextlib.contextmanager
def another_origin(folder):
    """Serves the files of a folder from another web server."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Page:
    """A page, with the errors that it reports."""

    def __init__(self, page):
        self.page = page
        self.errors = []
        page.on("console", self.said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def wait(self, seconds):
        """Waits by Playwright's own function, which handles the page's events meanwhile."""
        self.page.wait_for_timeout(1000 * seconds)

    def said(self, message):
        # Ignored errors: browsers request an icon that no page names, and older servers have no list of open lists.
        if message.type == "error" and not message.location["url"].endswith(("/favicon.ico", "/v1/server")):
            self.errors.append(message.text)


@contextlib.contextmanager
def another_page(page, **options):
    """A second window of the same size."""
    other = type(page)(page.page.context.browser.new_page(**options))
    try:
        yield other
    finally:
        other.page.close()


@contextlib.contextmanager
def public_with(*pages):
    """The folder of static files plus some more files, because the server serves only files in one folder."""
    with tempfile.TemporaryDirectory() as folder:
        public = pathlib.Path(folder) / "public"
        shutil.copytree(ROOT / "public", public)
        for page in pages:
            shutil.copy(page, public)
        yield public


@contextlib.contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def run(tests, prepare, *arguments):
    """Runs functions one after the other; the last line is "N passed, N failed". Arguments pick tests by words. A thread that ends with an
    exception fails the test that is running."""
    wanted = [test for test in tests if not sys.argv[1:] or any(word in test.__name__ for word in sys.argv[1:])]
    failed = 0
    failures = thread_failures()
    for function in wanted:
        title = function.__name__.replace("_", " ")
        failures.clear()
        try:
            prepare()
            function(*arguments)
            assert not failures, f"a thread ended with an exception: {failures}"
            print(f"ok      {title}", flush=True)
        except (AssertionError, Error) as error:
            failed += 1
            line = traceback.extract_tb(error.__traceback__)
            where = next(frame for frame in reversed(line) if "WebTests" in frame.filename)
            print(f"failed  {title}\n        {where.name}, line {where.lineno}: {error or where.line}", flush=True)
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return failed


def tests():
    """A list, and a decorator that adds to it."""
    found = []

    def test(function):
        found.append(function)
        return function

    return found, test
