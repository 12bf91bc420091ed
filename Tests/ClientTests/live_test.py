"""The clients of examples/clients against a real server: another process writes at random, connections break, the server restarts, and in
the end each client shows what SQLite selects.

live_test.py NAME COMMAND...: the command is followed by the address, the query and the window. FRESHET_BIN names the server,
FRESHET_SEED the seed.
"""
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from served import Served  # noqa: E402

SEED = int(os.environ.get("FRESHET_SEED", "0")) or random.randrange(1, 1 << 31)
QUERY = {"from": "well", "select": ["name", "depth"], "sectionBy": "county", "orderBy": ["name"]}
ROWS = "SELECT id, name, depth FROM well ORDER BY county, name, id"
COUNTIES = "SELECT DISTINCT county FROM well ORDER BY county"
WINDOWS = [None, {"offset": 0, "limit": 7}, {"offset": 9, "limit": 5}]


class Server(Served):
    """`freshet serve`, at the same port each time."""

    def __init__(self, database):
        super().__init__(os.environ["FRESHET_BIN"], "serve", database)
        self.database = database
        self.start()


class BreakingWay:
    """A proxy to the server that breaks its connections when the test says so."""

    def __init__(self, server):
        self.server, self.ends = server, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            try:
                server = socket.create_connection(("127.0.0.1", self.server.port))
            except OSError:
                client.close()
                continue
            self.ends += [client, server]
            threading.Thread(target=self.pump, args=(client, server), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client), daemon=True).start()

    def pump(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        shut(source, target)

    def cut(self):
        ends, self.ends = self.ends, []
        shut(*ends)


def shut(*ends):
    """`shutdown` is needed: after `close`, a thread that reads from the socket would keep it open."""
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Client:
    """A client's process, and the last state that it printed."""

    def __init__(self, command, port, window, query=QUERY):
        arguments = [f"ws://127.0.0.1:{port}/v1/live", json.dumps(query), *([json.dumps(window)] if window else [])]
        self.process = subprocess.Popen(command + arguments, stdout=subprocess.PIPE, text=True)
        self.state = None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.state = json.loads(line)

    def rows(self):
        rows = self.state["rows"]
        # Some clients print sections of rows, with nulls outside the window; others print the rows that they hold.
        is_nested = any(row is None or isinstance(row, list) and row and (row[0] is None or isinstance(row[0], list)) for row in rows)
        return [row for section in rows for row in section if row] if is_nested else rows


def selected(database, text):
    output = subprocess.run(["sqlite3", "-json", "-cmd", ".timeout 5000", database, text], check=True, capture_output=True, text=True).stdout
    return [list(row.values()) for row in json.loads(output or "[]")]


def is_right(client, database):
    state = client.state
    if state is None:
        return False
    window = state["window"] or {"offset": 0, "limit": 10 ** 9}
    rows = selected(database, ROWS)[window["offset"]:window["offset"] + window["limit"]]
    return client.rows() == rows and [[name] for name in state["sections"]] == selected(database, COUNTIES)


def write(numbers, database):
    key = numbers.randrange(1, 60)
    county, name = numbers.choice("ABCDE"), numbers.choice("abcdefghij")
    text = numbers.choice([
        f"UPDATE well SET depth = {numbers.randrange(100)} WHERE id = {key}", f"UPDATE well SET county = '{county}' WHERE id = {key}",
        f"UPDATE well SET name = '{name}' WHERE id % 9 = {key % 9}", f"DELETE FROM well WHERE id = {key}",
        f"INSERT OR REPLACE INTO well VALUES ({key}, '{name}', {numbers.randrange(100)}, '{county}')",
        f"DELETE FROM well WHERE county = '{county}'"])
    subprocess.run(["sqlite3", "-cmd", ".timeout 5000", database, text], check=True)


def until_right(clients, database, when):
    deadline = time.monotonic() + 20
    while not all(is_right(client, database) for client in clients):
        assert all(client.process.poll() is None for client in clients), f"{when}: a client has ended"
        assert time.monotonic() < deadline, f"{when}: {[client.state for client in clients]}\n{selected(database, ROWS)}"
        time.sleep(0.02)


def check(command, folder):
    numbers = random.Random(SEED)
    database = str(pathlib.Path(folder) / "wells.sqlite")
    subprocess.run(["sqlite3", database, """PRAGMA journal_mode = WAL; CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT, depth INTEGER, county TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO well SELECT i, char(97 + i % 10), i, char(65 + i % 4) FROM n"""], check=True, stdout=subprocess.DEVNULL)
    server = Server(database)
    way = BreakingWay(server)
    clients = [Client(command, way.port, window) for window in WINDOWS]
    try:
        until_right(clients, database, "at first")
        for turn in range(12):
            for _ in range(numbers.randrange(1, 4)):
                write(numbers, database)
            if turn % 4 == 3:
                way.cut()
                write(numbers, database)
            if turn == 9:
                server.stop()
                write(numbers, database)
                server.start()
            if turn % 2:
                until_right(clients, database, f"turn {turn}")
        clients.append(Client(command, way.port, None, {"from": "nowhere"}))
        deadline = time.monotonic() + 10
        while not clients[-1].process.poll():
            assert time.monotonic() < deadline, "a query that is refused for good ends the client"
            time.sleep(0.02)
    finally:
        for client in clients:
            client.process.kill()
        server.stop()


def main():
    name, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        try:
            check(command, folder)
        except AssertionError as error:
            print(f"failed  {name}, FRESHET_SEED={SEED}: {error}")
            return 1
        print(f"ok      {name}: random writes, broken connections and a restart, {time.monotonic() - start:.1f} s")
        return 0


if __name__ == "__main__":
    sys.exit(main())
