#!/usr/bin/env python3
"""Kills, stops and cuts off everything that replicates a file, and looks whether all copies and all clients agree in the end.

    scripts/replicas.py [--freshet PATH] [--seconds 600] [--seed N] [--history FILE]

A broker (nats-server), the server beside the writers, and two replicas, one of them in a network namespace of its own where that may
be made. Foreign programs write to the file, clients write through all servers, and every few seconds something happens to a process,
the broker's storage, the network or the schema. Between, at quiet points, all tables of all files are compared by SELECT, every client
of every server with a fresh SELECT, and every write that was acknowledged has to be there. Ends with 1 at the first difference. All choices follow from the seed, each actor's from a
generator of its own, and what happened is a history (scripts/history.py) that scripts/check-history.py reads at the end. A thread of
this program that ends with an exception fails the run as well, and so does a server that has found one of its lists or rows wrong.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import socketserver
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples/clients/python"))
import freshet  # noqa: E402
import history  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--freshet", default=".build/release/freshet")
parser.add_argument("--seconds", type=int, default=600)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--keep", action="store_true", help="leave the folder with files and logs")
parser.add_argument("--history", default=os.path.join(tempfile.gettempdir(), "freshet-replicas.jsonl"))
options = parser.parse_args()
story = history.Story(options.seed, options.history, seconds=options.seconds)
failures = history.thread_failures()
chance, balancer_chance = story.random("faults"), story.random("balancer")
NATS = shutil.which("nats-server") or "/usr/sbin/nats-server"


def free_port(host="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Network:
    """A namespace with one end of a cable: the other end's address is the broker's. Without the right to make one there is none."""

    def __init__(self):
        self.name, self.cable = f"freshet{os.getpid()}", f"fr{os.getpid()}"
        self.host, self.inside = "127.0.0.1", None
        steps = [
            f"ip netns add {self.name}",
            f"ip link add {self.cable}a type veth peer name {self.cable}b netns {self.name}",
            f"ip addr add 10.213.7.1/24 dev {self.cable}a",
            f"ip link set {self.cable}a up",
            f"ip -n {self.name} addr add 10.213.7.2/24 dev {self.cable}b",
            f"ip -n {self.name} link set {self.cable}b up",
            f"ip -n {self.name} link set lo up",
        ]
        if all(subprocess.run(step.split(), stderr=subprocess.DEVNULL).returncode == 0 for step in steps):
            self.host, self.inside = "10.213.7.1", "10.213.7.2"
        else:
            self.remove()
            print("no network namespace can be made here: nothing is cut off")

    def set(self, state):
        if self.inside:
            subprocess.run(["ip", "link", "set", f"{self.cable}a", state], check=True)

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.name], stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "link", "del", f"{self.cable}a"], stderr=subprocess.DEVNULL)


class Process:
    def __init__(self, name, command):
        self.name, self.command, self.process = name, command, None
        self.log = open(folder / f"{name}.log", "a")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, cwd=folder)

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait()


class Server(Process):
    def __init__(self, name, role, host="127.0.0.1", namespace=None):
        self.host, self.port, self.file = host, free_port() if host == "127.0.0.1" else 8080, folder / f"{name}.sqlite"
        prefix = ["ip", "netns", "exec", namespace] if namespace else []
        super().__init__(name, [
            *prefix, os.path.abspath(options.freshet), "serve", str(self.file), "--host", host, "--port", str(self.port),
            "--allow-everyone-to-read-and-write", role, url,
        ])

    def write(self, number):
        """True if the write was acknowledged, False if it was refused, None if that is unknown."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            body = {"statements": [{"sql": "INSERT OR IGNORE INTO acknowledged(id, text) VALUES (?, ?)", "params": [number, self.name]}]}
            connection.request("POST", "/v1/transactions", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


class Balancer(socketserver.ThreadingTCPServer):
    """Sends every connection to another server, as a load balancer does."""

    allow_reuse_address, daemon_threads = True, True

    def handle_error(self, request, client_address):
        failures.append(f"balancer: {sys.exc_info()[1]!r}")
        super().handle_error(request, client_address)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            for server in balancer_chance.sample(servers, len(servers)):
                try:
                    with socket.create_connection((server.host, server.port), timeout=2) as other:
                        other.settimeout(None)
                        back = threading.Thread(target=self.copy, args=(other, self.request), daemon=True)
                        back.start()
                        # Long connections are sent elsewhere.
                        threading.Timer(balancer_chance.uniform(3, 20), self.end, args=(other,)).start()
                        self.copy(self.request, other)
                        return
                except OSError:
                    continue

        @staticmethod
        def end(other):
            try:
                other.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

        def copy(self, source, target):
            try:
                while data := source.recv(1 << 16):
                    target.sendall(data)
            except OSError:
                pass
            self.end(target)


class Contents:
    """The contents of the newest versions that clients have had, to show how two contents of one version differ."""

    def __init__(self):
        self.known, self.lock = {}, threading.Lock()

    def compare(self, client, version, rows):
        with self.lock:
            first, had = self.known.setdefault((client.number, version), (client.url, rows))
            if len(self.known) > 3_000:
                self.known.pop(next(iter(self.known)))
        if had != rows:
            differing = [[row for row in some if row not in others][:5] for some, others in ((had, rows), (rows, had))]
            failures.append(f"version {version} of {client.number} is {len(had)} rows at {first} and {len(rows)} at {client.url}: {differing}")


contents_of_versions = Contents()


class Client(threading.Thread):
    """A list, through one server or through the balancer."""

    queries = [
        {"from": "item", "select": ["id", "name", "n"], "sectionBy": "n % 5", "orderBy": ["name", "id"]},
        {"from": "plain JOIN item ON item.id = plain.a", "select": ["plain.a", "plain.b", "item.name"], "key": ["plain.rowid"], "orderBy": ["plain.b"]},
        {"from": "item", "select": ["id", "n"], "where": "n > 50", "orderBy": ["n DESC"], "limit": 20},
    ]
    statements = [
        "SELECT id, name, n FROM item ORDER BY n % 5, name, id",
        "SELECT plain.rowid, plain.a, plain.b, item.name FROM plain JOIN item ON item.id = plain.a ORDER BY plain.b, plain.rowid",
        "SELECT id, n FROM item WHERE n > 50 ORDER BY n DESC, id LIMIT 20",
    ]

    def __init__(self, host, port, number):
        super().__init__(daemon=True)
        self.url, self.number, self.rows, self.messages = f"ws://{host}:{port}/v1/live", number % 3, None, 0
        self.start()

    def run(self):
        while True:
            try:
                for live in freshet.follow(self.url, self.queries[self.number]):
                    self.rows = [row for rows in live.rows for row in rows]
                    self.messages += 1
                    contents_of_versions.compare(self, live.version, self.rows)
                    story.add(self.url, "message", "ok", list=self.number, version=live.version, digest=history.digest(self.rows))
            except SystemExit:
                # A table was missing when the query was compiled, so the list subscribes again.
                time.sleep(0.5)


class ForeignWriter(threading.Thread):
    """Transactions of every kind by a connection that knows nothing of anybody."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.random, self.may_write, self.is_idle, self.count = story.random("foreign", number), threading.Event(), threading.Event(), 0
        self.is_idle.set()
        self.start()

    def run(self):
        connection = sqlite3.connect(app, timeout=60, isolation_level=None)
        while True:
            if not self.may_write.is_set():
                self.is_idle.set()
                self.may_write.wait()
                self.is_idle.clear()
            try:
                connection.execute("BEGIN IMMEDIATE")
                for _ in range(self.random.choice([1, 1, 1, 3, 40])):
                    self.write(connection)
                connection.execute("COMMIT" if self.random.random() < 0.95 else "ROLLBACK")
                self.count += 1
            except sqlite3.Error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            time.sleep(self.random.choice([0, 0, 0.001, 0.02]))

    def write(self, connection):
        r, n = self.random, self.random.randrange(400)
        sql, values = r.choice([
            ("INSERT OR REPLACE INTO item(id, name, n) VALUES (?, ?, ?)", (n, f"name {r.randrange(90)}", r.randrange(100))),
            ("UPDATE item SET n = n + 1, name = name || ? WHERE id % 40 = ?", ("'é", n % 40)),
            ("UPDATE OR IGNORE item SET id = id + 1 WHERE id = ?", (n,)),
            ("DELETE FROM item WHERE id BETWEEN ? AND ?", (n, n + r.randrange(4))),
            ("INSERT INTO plain(a, b) VALUES (?, ?)", (n, r.choice([1.5, "text", b"\0\1", None, 1 << 60]))),
            ("DELETE FROM plain WHERE rowid % 30 = ?", (n % 30,)),
            ("INSERT OR REPLACE INTO pair(k, l, v) VALUES (?, ?, zeroblob(?))", (r.choice("abcABC"), n % 9, r.choice([3, 3, 9_000]))),
            ("DELETE FROM pair WHERE l = ?", (n % 9,)),
            ("INSERT INTO search(title, body) VALUES (?, ?)", (f"title {n}", "some words " * r.randrange(9))),
            ("DELETE FROM search WHERE rowid = ?", (n,)),
            ("INSERT INTO counted(text) VALUES (?)", (f"counted {n}",)),
            ("DELETE FROM counted WHERE id % 7 = ?", (n % 7,)),
        ])
        connection.execute(sql, values)


class ClientWriter(threading.Thread):
    """Writes through a server, and remembers what was acknowledged."""

    def __init__(self, server, first):
        super().__init__(daemon=True)
        self.server, self.first, self.acknowledged, self.asked, self.may_write, self.is_idle = server, first, [], 0, threading.Event(), threading.Event()
        self.is_idle.set()
        self.start()

    def run(self):
        while True:
            if not self.may_write.is_set():
                self.is_idle.set()
                self.may_write.wait()
                self.is_idle.clear()
            self.asked += 1
            result = self.server.write(self.first + self.asked)
            if result:
                self.acknowledged.append(self.first + self.asked)
            # A refusal by a replica may be of an answer that was lost on the way.
            story.add(self.server.name, "write", "acknowledged" if result else "unknown", file="writer", id=self.first + self.asked)
            time.sleep(0.02)


def contents(path):
    """Every table's rows with their rowids, and the schema without pages."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
    try:
        connection.text_factory = bytes
        connection.execute("BEGIN")
        objects = connection.execute("SELECT type, name, tbl_name, sql, rootpage > 0 FROM sqlite_schema WHERE tbl_name NOT LIKE '\\_freshet%' ESCAPE '\\'").fetchall()
        result = {"schema": sorted(map(repr, objects))}
        for kind, name, _, sql, is_stored in objects:
            if kind != b"table" or not is_stored:
                continue
            name = name.decode()
            rowid = "" if b"WITHOUT ROWID" in sql else "rowid, "
            # repr tells 1 from 1.0 and text from blobs.
            rows = connection.execute(f'SELECT {rowid}* FROM "{name}"').fetchall()
            kinds = connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()
            result[name] = (kinds, sorted(map(repr, rows)))
        return result
    finally:
        connection.close()


def difference():
    """What is not as it should be; None when all is well."""
    expected = contents(app)
    for server in servers[1:]:
        try:
            found = contents(server.file)
        except sqlite3.Error as error:
            return f"{server.name}: {error}"
        if found != expected:
            tables = [name for name in set(expected) | set(found) if expected.get(name) != found.get(name)]
            return f"{server.name} differs in {tables}"
    connection = sqlite3.connect(app)
    rows = [connection.execute(sql).fetchall() for sql in Client.statements]
    ids = [row[0] for row in connection.execute("SELECT id FROM acknowledged")]
    there = set(ids)
    connection.close()
    for writer in client_writers:
        lost = set(writer.acknowledged) - there
        if lost:
            return f"FATAL {len(lost)} acknowledged writes through {writer.server.name} are lost: {sorted(lost)[:5]}"
    looked = []
    for client in clients:
        held = client.rows and [tuple(freshet_value(value) for value in row) for row in client.rows]
        looked.append((client, held or [], rows[client.number]))
        if (held or []) != rows[client.number]:
            return f"a client of {client.url} with query {client.number} differs: {len(held or [])} rows, not {len(rows[client.number])}"
    # Only a state that does not change belongs to a quiet point.
    story.add("checker", "file", "ok", file="writer", ids=ids, quiet=True)
    for client, held, expected in looked:
        story.add(client.url, "list", "ok", list=client.number, quiet=True, digest=history.digest(held), expected=history.digest(expected))
    return None


def freshet_value(value):
    if isinstance(value, dict) and "$int" in value:
        return int(value["$int"])
    if isinstance(value, dict) and "$blob" in value:
        import base64
        return base64.b64decode(value["$blob"])
    return value


def settle(seconds=90):
    for writer in foreign_writers + client_writers:
        writer.may_write.clear()
    for writer in foreign_writers + client_writers:
        writer.is_idle.wait(60)
    start = time.time()
    found = difference()
    while found and not found.startswith("FATAL") and time.time() - start < seconds:
        time.sleep(0.1)
        found = difference()
    if found:
        story.add("checker", "list", found, list="all", quiet=True, digest="", expected="difference")
        print(f"DIFFERENT after {time.time() - start:.1f} s: {found}; seed {options.seed}; files and logs in {folder}", flush=True)
        os._exit(end(1, keep=True))
    return time.time() - start


def resume():
    for writer in foreign_writers + client_writers:
        writer.may_write.set()


def schema_change():
    connection = sqlite3.connect(app, timeout=60, isolation_level=None)
    column = f"extra{chance.randrange(3)}"
    for sql in chance.choice([
        [f"ALTER TABLE item ADD COLUMN {column} TEXT DEFAULT 'x'"], [f"ALTER TABLE item DROP COLUMN {column}"],
        ["ALTER TABLE pair RENAME TO pairs", "ALTER TABLE pairs RENAME TO pair"], ["CREATE INDEX IF NOT EXISTS by_n ON item(n)"], ["DROP INDEX IF EXISTS by_n"],
        ["CREATE TABLE IF NOT EXISTS another(x PRIMARY KEY, y) WITHOUT ROWID", "INSERT OR REPLACE INTO another VALUES (1, random())"],
        ["DROP TABLE IF EXISTS another"], ["CREATE VIEW IF NOT EXISTS v AS SELECT * FROM item"], ["DROP VIEW IF EXISTS v"], ["ANALYZE"],
    ]):
        try:
            connection.execute(sql)
        except sqlite3.Error:
            pass
    connection.close()


def vacuum():
    connection = sqlite3.connect(app, timeout=60, isolation_level=None)
    try:
        connection.execute("VACUUM")
    except sqlite3.Error:
        pass
    connection.close()


def restart(process, how=signal.SIGKILL, pause=None):
    process.kill(how)
    time.sleep(chance.choice([0, 0.1, 1]) if pause is None else pause)
    process.start()


def delete_storage():
    broker.kill()
    shutil.rmtree(folder / "js", ignore_errors=True)
    broker.start()


def hold(process, seconds):
    process.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.process.send_signal(signal.SIGCONT)


def cut():
    network.set("down")
    time.sleep(chance.choice([0.5, 3, 8]))
    network.set("up")


faults = {
    "kill the publisher": lambda: restart(servers[0]), "end the publisher": lambda: restart(servers[0], signal.SIGTERM),
    "kill a replica": lambda: restart(chance.choice(servers[1:])), "end a replica": lambda: restart(chance.choice(servers[1:]), signal.SIGTERM),
    "kill the broker": lambda: restart(broker), "delete the broker's storage": delete_storage,
    "pause a replica": lambda: hold(servers[1], chance.choice([1, 6])), "pause the publisher": lambda: hold(servers[0], chance.choice([1, 4])),
    "pause the broker": lambda: hold(broker, chance.choice([1, 6])), "cut the network": cut, "change the schema": schema_change, "vacuum": vacuum,
    "kill all": lambda: [restart(process, pause=0) for process in [servers[0], broker, *servers[1:]]],
}


def complaints():
    """What servers have said of themselves that must not be, although they have mended it."""
    wrong = "a list differed from its query", "rows of the replica are not those"
    return [f"{log.name}: {line}" for log in sorted(folder.glob("*.log")) for line in log.read_text().splitlines() if any(text in line for text in wrong)]


def end(code, keep=False):
    for process in [*servers, broker]:
        process.process.kill()
        process.process.wait()
    network.remove()
    if not keep and not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return code


folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-replicas-"))
network = Network()
app = folder / "writer.sqlite"
url = f"nats://{network.host}:{free_port(network.host)}/shop"
setup = sqlite3.connect(app)
setup.executescript("""
    PRAGMA journal_mode = WAL;
    CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, n INT);
    CREATE TABLE plain(a, b);
    CREATE TABLE pair(k TEXT COLLATE NOCASE, l INT, v, PRIMARY KEY (k, l)) WITHOUT ROWID;
    CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, text UNIQUE);
    CREATE TABLE acknowledged(id INTEGER PRIMARY KEY, text);
    CREATE VIRTUAL TABLE search USING fts5(title, body);
    CREATE TRIGGER t AFTER INSERT ON item BEGIN INSERT INTO plain VALUES (NEW.id, NEW.name); END;
""")
setup.close()
broker = Process("broker", [NATS, "-js", "-sd", str(folder / "js"), "-a", network.host, "-p", url.rsplit(":", 1)[1].split("/")[0]])
servers = [Server("writer", "--publish"), Server("copy1", "--replicate")]
servers.append(Server("copy2", "--replicate", network.inside or "127.0.0.1", network.name if network.inside else None))
balancer = Balancer(("127.0.0.1", 0), Balancer.Handler)
threading.Thread(target=balancer.serve_forever, daemon=True).start()
foreign_writers = [ForeignWriter(number) for number in range(2)]
client_writers = [ClientWriter(server, 1_000_000_000 * (number + 1)) for number, server in enumerate(servers)]
clients = [Client(server.host, server.port, number) for number, server in enumerate(servers)]
clients += [Client("127.0.0.1", balancer.server_address[1], number) for number in range(3)]
print(f"seed {options.seed}", flush=True)
counts, settled, start = {}, [], time.time()
try:
    while time.time() - start < options.seconds and not failures:
        resume()
        for _ in range(chance.randint(1, 4)):
            time.sleep(chance.uniform(0.5, 3))
            name = chance.choice(list(faults))
            counts[name] = counts.get(name, 0) + 1
            story.add(name, "fault", "ok")
            faults[name]()
        time.sleep(chance.uniform(0, 2))
        settled.append(settle())
        print(f"{time.time() - start:.0f} s: equal after {settled[-1]:.1f} s", flush=True)
    assert all(client.messages > 1 for client in clients), "a client got nothing"
    written = sum(len(writer.acknowledged) for writer in client_writers)
    print(json.dumps({
        "seconds": options.seconds, "seed": options.seed, "quiet points": len(settled), "slowest": round(max(settled), 1),
        "transactions of foreign programs": sum(writer.count for writer in foreign_writers), "acknowledged writes": written,
        "acknowledged through": {writer.server.name: len(writer.acknowledged) for writer in client_writers}, "lost": 0, "faults": counts,
    }, indent=1))
    story.close()
    checker = pathlib.Path(__file__).parent / "check-history.py"
    code = subprocess.run([sys.executable, checker, options.history]).returncode
    failures += complaints()
    if failures:
        print(f"FAILED: {failures}; seed {options.seed}", flush=True)
        code = 1
except KeyboardInterrupt:
    code = 1
sys.exit(end(code, keep=code != 0))
