#!/usr/bin/env python3
"""Breaks what a server stands on, and looks whether anything is lost or wrong afterwards.

    scripts/faults.py [--freshet PATH] [--seed N] [kill|disk|calls|wakes|errors|descriptors|memory|stop|clock ...]     all without a name

Each fault ends with the same question: are the rows that were acknowledged in the file, and does a client that was there all the time
hold what a fresh SELECT gives? All choices follow from the seed, and what happened is a history (scripts/history.py, in --history) that
scripts/check-history.py reads at the end. Needs root for `disk` (a small tmpfs), strace for `calls` and `wakes`, and a C compiler for `clock`; what is not
there is said and passed over. Servers listen on loopback, and only those that were started here are ended.
"""

import argparse
import atexit
import base64
import http.client
import itertools
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import history

parser = argparse.ArgumentParser()
parser.add_argument("faults", nargs="*")
parser.add_argument("--freshet", default=".build/release/freshet")
parser.add_argument("--kills", type=int, default=200)
parser.add_argument("--seconds", type=int, default=60, help="of errors")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--history", default=os.path.join(tempfile.gettempdir(), "freshet-faults.jsonl"))
options = parser.parse_args()
failures = history.thread_failures()
story = history.Story(options.seed, options.history, faults=options.faults, kills=options.kills, seconds=options.seconds)


class Server:
    """A server over a file, with whatever stands in front of the command."""

    def __init__(self, folder, prefix=(), limits=None, env=None):
        self.path = os.path.join(folder, "app.sqlite")
        self.log = open(os.path.join(folder, "log"), "a+")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [*prefix, options.freshet, "serve", self.path, "--allow-writes", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, start_new_session=True, preexec_fn=limits, env=env
        )
        atexit.register(self.end, signal.SIGKILL)

    def wait(self, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            if self.process.poll() is not None:
                return False
            try:
                if self.ask("GET", "/healthz", timeout=2)[0] == 200:
                    return True
            except OSError:
                time.sleep(0.02)
        return False

    def ask(self, method, path, body=None, timeout=20):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def insert(self, number, text=""):
        body = {"statements": [{"sql": "INSERT INTO t(id, a) VALUES (?, ?)", "params": [number, text]}]}
        # `internal` means that the row may be in the file.
        outcome = "unknown"
        try:
            status, answer = self.ask("POST", "/v1/transactions", body)
            outcome = "acknowledged" if status == 200 else "unknown" if answer["code"] == "internal" else "refused"
        finally:
            story.add("client", "write", outcome, file=self.path, id=number)
        return status, answer

    def rows(self):
        status, answer = self.ask("GET", "/v1/snapshot?from=t&select=id&limit=1000000&shape=arrays")
        return [row[0] for row in answer["rows"]] if status == 200 else None

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
        self.process.wait(30)
        return self.process.returncode


class List:
    """A client that subscribes and applies what comes: ids alone, in order."""

    def __init__(self, server):
        self.path, self.epoch = server.path, None
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: freshet.v1\r\n\r\n".encode()
        )
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]
        self.ids = None
        self.send({"type": "subscribe", "id": "q", "query": {"from": "t", "select": ["id"]}})
        while self.ids is None:
            self.take(self.receive())

    def fill(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise OSError("closed")
        self.buffer += data

    def send(self, message):
        data = json.dumps(message).encode()
        length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(data))
        self.socket.sendall(b"\x81" + length + bytes(4) + data)

    def receive(self):
        def need(count):
            while len(self.buffer) < count:
                self.fill()

        need(2)
        length, offset = self.buffer[1] & 127, 2
        if length >= 126:
            size = 2 if length == 126 else 8
            need(2 + size)
            length, offset = int.from_bytes(self.buffer[2 : 2 + size], "big"), 2 + size
        need(offset + length)
        opcode = self.buffer[0] & 15
        data, self.buffer = self.buffer[offset : offset + length], self.buffer[offset + length :]
        if opcode == 9:
            self.socket.sendall(b"\x8a" + bytes([0x80 | len(data)]) + bytes(4) + data)
        if opcode == 8:
            raise OSError(f"closed: {data!r}")
        return json.loads(data) if opcode == 1 else {"type": "none"}

    def take(self, message):
        kind = message["type"]
        if kind == "hello":
            self.epoch = message["epoch"]
        if kind == "snapshot":
            self.ids = [row[0] for row in message["rows"]]
        elif kind == "rows" and "window" not in message and not message.get("complete") is None:
            self.ids += [row[0] for row in message["rows"]]
        elif kind == "error" and message["fatal"]:
            raise OSError(f"ended: {message}")
        elif kind == "patch":
            for path in message.get("deleted", []):
                del self.ids[path[1]]
            for _, item, row in message.get("inserted", []):
                self.ids.insert(item, row[0])
        if kind == "patch" or kind in ("snapshot", "rows") and message.get("complete"):
            story.add("list", "message", kind, list=self.path, connection=id(self), epoch=self.epoch, commit=message.get("commit"),
                      version=message.get("to") or message.get("version"), digest=history.digest(self.ids))

    def catch_up(self, wanted, seconds=30):
        """Waits until the list holds these rows."""
        self.socket.settimeout(seconds)
        end = time.time() + seconds
        while self.ids != wanted and time.time() < end:
            self.take(self.receive())
        return self.ids == wanted


def make(folder):
    path = os.path.join(folder, "app.sqlite")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
    return path


def foreign(path, *numbers):
    """Rows that another program has written."""
    for number in numbers:
        story.add("foreign", "write", "acknowledged", file=path, id=number)


def in_file(path):
    with sqlite3.connect(path) as db:
        return [row[0] for row in db.execute("SELECT id FROM t ORDER BY id")]


def agree(server, client=None):
    """Whether a fresh snapshot, and a client, hold what the file holds."""
    wanted = in_file(server.path)
    story.add("checker", "file", "ok", file=server.path, ids=wanted, quiet=True)
    rows = None
    for _ in range(100):
        rows = server.rows()
        if rows == wanted:
            break
        time.sleep(0.1)
    holds = [("snapshot", rows)]
    if client:
        client.catch_up(wanted)
        holds.append(("client", client.ids))
    for actor, held in holds:
        story.add(actor, "list", "ok", list=server.path, quiet=True, digest=history.digest(held), expected=history.digest(wanted))
    return all(held == wanted for _, held in holds)


def kill(folder):
    make(folder)
    acknowledged, unsure = set(), set()
    next_id = 0
    chance = story.random("kill")
    for _ in range(options.kills):
        server = Server(folder)
        assert server.wait(), "the server does not start"
        done = threading.Event()
        lock = threading.Lock()

        def write():
            nonlocal next_id
            while not done.is_set():
                with lock:
                    next_id += 1
                    number = next_id
                unsure.add(number)
                try:
                    if server.insert(number)[0] == 200:
                        acknowledged.add(number)
                except (OSError, http.client.HTTPException):
                    return

        writers = [threading.Thread(target=write) for _ in range(3)]
        for writer in writers:
            writer.start()
        time.sleep(chance.uniform(0.01, 0.25))
        server.end(signal.SIGKILL)
        story.add("kill", "fault", "ok")
        done.set()
        for writer in writers:
            writer.join()
    server = Server(folder)
    assert server.wait()
    rows = set(in_file(server.path))
    lost, made_up = acknowledged - rows, rows - unsure
    assert not lost and not made_up, f"lost {sorted(lost)[:5]}, made up {sorted(made_up)[:5]}"
    assert agree(server)
    with sqlite3.connect(server.path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    server.end()
    return f"{options.kills} kills, {len(acknowledged)} acknowledged writes, 0 lost"


def disk(folder):
    if os.geteuid() != 0:
        return None
    small = os.path.join(folder, "small")
    os.mkdir(small)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", small], check=True)
    try:
        make(small)
        server = Server(small)
        assert server.wait()
        client = List(server)
        written = refused = 0
        for number in range(1, 400):
            status, answer = server.insert(number, "x" * 20_000)
            if status == 200:
                written += 1
            else:
                assert answer["code"] == "overloaded", answer
                refused += 1
                if refused == 5:
                    break
        assert written and refused == 5
        assert agree(server, client), "lists are wrong while the disk is full"
        subprocess.run(["mount", "-o", "remount,size=30m", small], check=True)
        assert server.insert(1_000)[0] == 200, "it does not go on"
        assert agree(server, client)
        server.end()
        return f"{written} writes, then {refused} refused with overloaded; lists right, and writes go on when there is room"
    finally:
        subprocess.run(["umount", "-l", small], check=True)


# The calls that fail, their errors, and whether only calls on the database's files fail.
CALLS = [
    ("pread64", "EIO", True), ("pwrite64", "EIO", True), ("pwrite64", "ENOSPC", True), ("fsync,fdatasync", "EIO", True),
    ("mmap", "ENOMEM", True), ("openat", "EMFILE", True), ("ftruncate,fallocate", "ENOSPC", True), ("accept,accept4", "EMFILE", False),
    ("sendmsg", "ENOBUFS", False),
]  # fmt: skip


def calls(folder):
    """Every Nth call of a kind fails once the server runs; then the failures end."""
    if not shutil.which("strace"):
        return None
    total = ended = 0
    for call, error, is_of_files in CALLS:
        for every in (2, 7, 31):
            own = os.path.join(folder, f"{call.split(',')[0]}-{error}-{every}")
            os.mkdir(own)
            make(own)
            server = Server(own)
            assert server.wait()
            client = List(server)
            acknowledged = set()
            files = [part for suffix in ("", "-wal", "-shm") for part in ("-P", server.path + suffix)]
            tracer = subprocess.Popen(
                ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", *(files if is_of_files else []),
                 "-e", f"inject={call}:error={error}:when={every}+{every}", "-p", str(server.process.pid)],
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            time.sleep(0.3)
            story.add("calls", "fault", "ok", call=call, error=error, every=every)
            for number in range(1, 41):
                try:
                    if server.insert(number)[0] == 200:
                        acknowledged.add(number)
                except OSError:
                    pass
                if number % 10 == 0:
                    try:
                        server.ask("GET", "/v1/snapshot?from=t", timeout=5)
                    except OSError:
                        pass
            tracer.send_signal(signal.SIGINT)
            tracer.wait(10)
            total += 1
            if server.process.poll() is not None:
                ended += 1
                print(f"    {call} {error} every {every}: the server has ended: {server.process.returncode}")
                server = Server(own)
                assert server.wait()
                client = None
            assert acknowledged <= set(in_file(server.path)), f"{call} {error} every {every}: an acknowledged write is lost"
            try:
                assert agree(server, client), f"{call} {error} every {every}: a list is wrong"
            except OSError:
                # The client's own connection may have been what failed.
                assert agree(server, List(server)), f"{call} {error} every {every}: a list is wrong"
            server.end()
    assert not ended, f"the server ended {ended} times"
    return f"{total} runs of {len(CALLS)} kinds, none ended the server, 0 acknowledged writes lost, lists right afterwards"


def wakes(folder):
    """Reads and writes of the pipes fail that threads wake each other with, and writes of libwebsockets' eventfd, whose
    reads never fail when it can be read."""
    if not shutil.which("strace"):
        return None
    slowest, failed = 0, 0
    for call, error, when in itertools.product(("read", "write"), ("EIO", "EINTR"), ("1", "3+3", "1+1")):
        own = os.path.join(folder, f"{call}-{error}-{when}")
        os.mkdir(own)
        make(own)
        server = Server(own)
        assert server.wait()
        client = List(server)
        descriptors = pathlib.Path(f"/proc/{server.process.pid}/fd")
        kinds = ("pipe:",) if call == "read" else ("pipe:", "anon_inode:[eventfd]")
        pipes = {os.readlink(each) for each in descriptors.iterdir() if os.readlink(each).startswith(kinds)}
        log = os.path.join(own, "calls")
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-y", "-o", log, "-e", f"trace={call}", *(part for path in sorted(pipes) for part in ("-P", path)),
             "-e", f"inject={call}:error={error}:when={when}", "-p", str(server.process.pid)], stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(0.5)
        for number in range(1, 9):
            start = time.time()
            # Every second write is another program's.
            if number % 2:
                assert server.insert(number)[0] == 200, f"{call} {error} {when}: a write fails"
            else:
                with sqlite3.connect(server.path) as db:
                    db.execute("INSERT INTO t(id) VALUES (?)", (number,))
                foreign(server.path, number)
            assert client.catch_up(list(range(1, number + 1)), 10), f"{call} {error} {when}: a list stays stale"
            slowest = max(slowest, time.time() - start)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(10)
        failed += pathlib.Path(log).read_text().count("(INJECTED)")
        assert agree(server, client)
        assert server.end() == 0, f"{call} {error} {when}: the server does not end in order"
    return f"{failed} reads and writes failed in 12 runs: all servers ended in order, no list was more than {slowest:.1f} s behind"


def descriptors(folder):
    make(folder)
    server = Server(folder, limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
    assert server.wait()
    client = List(server)
    crowd = []
    for _ in range(200):
        try:
            crowd.append(socket.create_connection(("127.0.0.1", server.port), timeout=2))
        except OSError:
            break
    with sqlite3.connect(server.path) as db:
        db.execute("INSERT INTO t(id) VALUES (1)")
    foreign(server.path, 1)
    assert client.catch_up([1]), "who is connected hears nothing"
    for connection in crowd:
        connection.close()
    time.sleep(0.5)
    assert agree(server, client), "it does not come back"
    server.end()
    return f"{len(crowd)} connections to 64 descriptors: who is connected is served, and everybody afterwards"


def memory(folder):
    """The system has no memory left while lists are opened and clients write. The server may end; a supervisor starts it again."""
    with sqlite3.connect(make(folder)) as db:
        db.executemany("INSERT INTO t VALUES (-?, ?)", [(number, "x" * 100) for number in range(1, 50_000)])
    foreign(os.path.join(folder, "app.sqlite"), *range(-49_999, 0))
    # A trace of the place where it ended takes ten seconds and shows nothing here.
    environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    server = Server(folder, env=environment)
    assert server.wait()
    acknowledged, ended, refused = set(), 0, 0
    for room in (4, 16, 64, 128, 256, 512):  # MiB beyond what it has
        size = int(pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limit = size + (room << 20)
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, limit))
        for number in range(room * 1_000, room * 1_000 + 12):
            try:
                for part in range(5):
                    if server.insert(number * 5 + part)[0] == 200:
                        acknowledged.add(number * 5 + part)
                # Each query is different, so that no list is shared.
                wide = urllib.parse.quote(f"a || '{number}' || {'a || ' * 20} a AS long")
                if server.ask("GET", f"/v1/snapshot?from=t&select=id,{wide}&orderBy=long&limit=1000", timeout=20)[0] != 200:
                    refused += 1
            except OSError:
                pass
            if server.process.poll() is not None:
                break
        ended += server.process.poll() is not None
        server.end(signal.SIGKILL)
        lost = acknowledged - set(in_file(server.path))
        assert not lost, f"lost {sorted(lost)[:5]}"
        with sqlite3.connect(server.path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        server = Server(folder, env=environment)
        assert server.wait(), "the server does not start"
        assert agree(server, List(server)), "a list is wrong"
    server.end()
    return (
        f"6 servers with 4 to 512 MiB left: {refused} requests refused, {ended} servers ended; "
        f"{len(acknowledged)} acknowledged writes, 0 lost, lists right after a new start"
    )


def stop(folder):
    make(folder)
    server = Server(folder)
    assert server.wait()
    client = List(server)
    for round in range(5):
        os.kill(server.process.pid, signal.SIGSTOP)
        with sqlite3.connect(server.path, timeout=30) as db:
            for number in range(100):
                db.execute("INSERT INTO t(id) VALUES (?)", (round * 100 + number + 1,))
                db.commit()
                foreign(server.path, round * 100 + number + 1)
        time.sleep(1)
        os.kill(server.process.pid, signal.SIGCONT)
        assert agree(server, client), "a list is wrong after a stop"
    server.end()
    return "5 stops of a second with 100 commits each: lists right afterwards"


JUMPS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long offset(void) {
  long seconds = 0;
  FILE *file = fopen(getenv("JUMP"), "r");
  if (file && fscanf(file, "%ld", &seconds) != 1) seconds = 0;
  if (file) fclose(file);
  return seconds;
}
int clock_gettime(clockid_t id, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, now);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += offset();
  return result;
}
int gettimeofday(struct timeval *now, void *zone) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
  return 0;
}
time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
"""


def clock(folder):
    """The wall clock jumps; only what has dates of its own, such as a token, may notice."""
    source, library, jump = (os.path.join(folder, name) for name in ("jumps.c", "jumps.so", "jump"))
    pathlib.Path(source).write_text(JUMPS)
    if not shutil.which("cc") or subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"]).returncode:
        return None
    make(folder)
    pathlib.Path(jump).write_text("0")
    server = Server(folder, env={**os.environ, "LD_PRELOAD": library, "JUMP": jump})
    assert server.wait()
    client = List(server)
    for number, offset in enumerate([86_400, -86_400, 10 * 365 * 86_400, -3_600, 0], 1):
        pathlib.Path(jump).write_text(str(offset))
        assert server.insert(number)[0] == 200
        assert agree(server, client), f"a list is wrong after a jump of {offset} s"
    server.end()
    return "5 jumps between -1 day and +10 years: lists go on"


# Failures of file system calls, one in a hundred; and a kill now and then.
ERRORS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long state;
static int percent = -1;
static __thread int is_asking;

static unsigned below(unsigned limit) {
  pthread_mutex_lock(&lock);
  if (!state) state = strtoull(getenv("ERRORS_SEED"), 0, 10) * 2 + 1;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  unsigned result = (unsigned)(state >> 33) % limit;
  pthread_mutex_unlock(&lock);
  return result;
}

/* Errors are switched on by a file, looked at once in a hundred calls; and only the database's files have them. */
static int fails(int descriptor) {
  static unsigned calls;
  if (is_asking) return 0;
  is_asking = 1;
  if (calls++ % 100 == 0) percent = access(getenv("ERRORS"), F_OK) == 0;
  int result = 0;
  if (percent == 1 && below(100) == 0) {
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    result = strstr(path, "app.sqlite") != 0;
  }
  is_asking = 0;
  return result;
}

#define REAL(type, name, ...)   static type (*real)(__VA_ARGS__);   if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static ssize_t read_some(ssize_t (*real)(int, void *, size_t, off_t), int fd, void *to, size_t n, off_t at) {
  if (!fails(fd)) return real(fd, to, n, at);
  if (below(2) && n > 1) return real(fd, to, 1 + below((unsigned)n - 1), at);
  errno = EIO;
  return -1;
}
static ssize_t write_some(ssize_t (*real)(int, const void *, size_t, off_t), int fd, const void *from, size_t n, off_t at) {
  if (!fails(fd)) return real(fd, from, n, at);
  if (below(3) == 0 && n > 1) return real(fd, from, 1 + below((unsigned)n - 1), at);
  errno = below(2) ? ENOSPC : EIO;
  return -1;
}
ssize_t pread64(int fd, void *to, size_t n, off_t at) { REAL(ssize_t, "pread64", int, void *, size_t, off_t); return read_some(real, fd, to, n, at); }
ssize_t pread(int fd, void *to, size_t n, off_t at) { REAL(ssize_t, "pread", int, void *, size_t, off_t); return read_some(real, fd, to, n, at); }
ssize_t pwrite64(int fd, const void *from, size_t n, off_t at) { REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t); return write_some(real, fd, from, n, at); }
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) { REAL(ssize_t, "pwrite", int, const void *, size_t, off_t); return write_some(real, fd, from, n, at); }
#define SYNC(name, which)   int name(int fd) { REAL(int, #name, int); if (which && fails(fd)) { errno = EIO; return -1; } return real(fd); }
SYNC(fsync, 1)
SYNC(fdatasync, 1)
int ftruncate64(int fd, off_t n) { REAL(int, "ftruncate64", int, off_t); if (fails(fd)) { errno = ENOSPC; return -1; } return real(fd, n); }
"""


def errors(folder):
    """One call in a hundred to the database's files fails or is short, in turns of some seconds, while a client and a foreign program write."""
    source, library, switch = (os.path.join(folder, name) for name in ("errors.c", "errors.so", "switch"))
    pathlib.Path(source).write_text(ERRORS)
    if not shutil.which("cc") or subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"]).returncode:
        return None
    make(folder)
    chance = story.random("errors")
    environment = {**os.environ, "LD_PRELOAD": library, "ERRORS": switch, "ERRORS_SEED": str(options.seed)}
    server = Server(folder, env=environment)
    assert server.wait()
    client = List(server)
    counts, number, turns, kills = {"acknowledged": 0, "refused": 0, "unknown": 0}, 0, 0, 0
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        turns += 1
        pathlib.Path(switch).touch()
        story.add("errors", "fault", "ok")
        for _ in range(chance.randrange(50, 300)):
            number += 1
            if chance.random() < 0.2:
                with sqlite3.connect(server.path, timeout=30) as db:
                    db.execute("INSERT INTO t(id, a) VALUES (?, ?)", (number, "x" * chance.choice([1, 1, 9_000])))
                db.close()
                foreign(server.path, number)
                continue
            try:
                status = server.insert(number, "x" * chance.choice([1, 100, 9_000]))[0]
                counts["acknowledged" if status == 200 else "refused"] += 1
            except OSError:
                counts["unknown"] += 1
        assert server.process.poll() is None, f"the server has ended: {server.process.returncode}"
        if chance.random() < 0.2:
            server.end(signal.SIGKILL)
            kills += 1
            story.add("kill", "fault", "ok")
            os.unlink(switch)
            server = Server(folder, env=environment)
            assert server.wait()
            client = List(server)
        else:
            os.unlink(switch)
        try:
            assert agree(server, client), "a list is wrong"
        except OSError as error:
            # A list may have ended with an error that its client has received.
            story.add("client", "list", str(error), list=server.path)
            client = List(server)
            assert agree(server, client), "a list is wrong"
        with sqlite3.connect(server.path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "the file is damaged"
        db.close()
    server.end()
    return f"{turns} turns, {number} writes, {kills} kills: {counts}; every acknowledged one is there, lists right after each turn"


FAULTS = {fault.__name__: fault for fault in (kill, disk, calls, wakes, errors, descriptors, memory, stop, clock)}
def main():
    failed = 0
    print(f"seed {options.seed}")
    for name in options.faults or FAULTS:
        with tempfile.TemporaryDirectory(prefix="freshet-faults-") as folder:
            start = time.time()
            try:
                result = FAULTS[name](folder)
                print(f"{name}: {result or 'not run: something that it needs is not here'} ({time.time() - start:.0f} s)", flush=True)
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"{name}: FAILED: {error}", flush=True)
                log = pathlib.Path(folder, "log")
                if log.exists():
                    print("".join(f"    | {line}\n" for line in log.read_text().splitlines()[-5:]))
    story.close()
    checked = subprocess.run([sys.executable, pathlib.Path(__file__).parent / "check-history.py", options.history])
    if failures:
        print(f"THREADS ended with exceptions: {failures}")
    sys.exit(1 if failed or failures or checked.returncode else 0)


if __name__ == "__main__":
    main()
