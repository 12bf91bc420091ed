#!/usr/bin/env python3
"""Sends mutated messages to a server over WebSocket, as fast as it takes them.

    scripts/fuzz-messages.py [--freshet PATH] [--messages 200000] [--seed N]

A client that behaves follows a list on the same server all the time: it must hear of every commit within two seconds, and its list be right.
The server must not end, and must answer or close, never hang.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import random
import sqlite3
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--freshet", default=".build/release/freshet")
parser.add_argument("--messages", type=int, default=200_000)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
options = parser.parse_args()
random.seed(options.seed)

# The clients and the server are those of faults.py.
sys.argv = [sys.argv[0], "--freshet", options.freshet, "none"]
spec = importlib.util.spec_from_file_location("faults", pathlib.Path(__file__).with_name("faults.py"))
faults = importlib.util.module_from_spec(spec)
spec.loader.exec_module(faults)

SEEDS = [
    {"type": "subscribe", "id": "a", "query": {"from": "t"}},
    {"type": "subscribe", "id": "b", "query": {"from": "t", "select": ["id", "a"], "where": "id > :n", "params": {"n": 3}, "orderBy": ["a DESC"],
     "sectionBy": {"by": "id % 3", "order": "DESC"}, "limit": 10, "key": ["id"], "alongside": {"n": "SELECT count(*) FROM t"}}, "window": {"offset": 0, "limit": 5},
     "minInterval": 10, "shape": "objects"},
    {"type": "window", "id": "a", "offset": 0, "limit": 10},
    {"type": "fetch", "id": "a", "offset": 0, "limit": 10},
    {"type": "locate", "id": "a", "key": 1},
    {"type": "requery", "id": "a", "query": {"from": "t", "orderBy": ["a"]}},
    {"type": "resync", "id": "a"},
    {"type": "unsubscribe", "id": "a"},
    {"type": "transact", "id": "w", "statements": [{"sql": "UPDATE t SET a = ? WHERE id = ?", "params": ["x", 1]}]},
    {"type": "transact", "id": "w", "name": "nosuch", "params": {"x": {"$int": "9223372036854775807"}}},
    {"type": "ping", "id": "p"},
    {"type": "authenticate", "id": "t", "token": "a.b.c"},
]  # fmt: skip
WORDS = ["id", "a", "t", "t u", "1", "'x'", "NULL", "(SELECT 1)", "max(id)", "a COLLATE NOCASE", "sqlite_master", ") OR (1", ";", "--", "/*", ":n", "?",
         "json_each('[1]')", "x" * 1_000, "\u0000", "é", "1e999", -1, 0, 2**53, 2**63, 1.5, True, None, [], {}, [[[]]], {"$blob": "!"}]  # fmt: skip


def mutated(value, depth=0):
    # A message that is not an object ends the connection: rarely.
    if random.random() < (0.08 if depth else 0.0005):
        return random.choice(WORDS)
    if isinstance(value, dict):
        result = {key: mutated(item, depth + 1) for key, item in value.items() if random.random() > 0.04}
        if random.random() < 0.05:
            result[str(random.choice(WORDS))] = random.choice(WORDS)
        return result
    if isinstance(value, list):
        return [mutated(item, depth + 1) for item in value for _ in range(1 if random.random() > 0.05 else random.choice([0, 2, 50]))]
    if isinstance(value, str) and random.random() < 0.1:
        place = random.randrange(len(value) + 1)
        return value[:place] + str(random.choice(WORDS))[:40] + value[place:]
    return value


def message():
    text = json.dumps(mutated(random.choice(SEEDS))).encode()
    if random.random() < 0.001:
        text = bytearray(text)
        for _ in range(random.randrange(1, 4)):
            if text:
                text[random.randrange(len(text))] = random.randrange(256)
    return bytes(text)


def frame(data):
    if len(data) < 126:
        head = bytes([0x80 | len(data)])
    elif len(data) < 1 << 16:
        head = bytes([0x80 | 126]) + len(data).to_bytes(2, "big")
    else:
        head = bytes([0x80 | 127]) + len(data).to_bytes(8, "big")
    return b"\x81" + head + bytes(4) + data


sent = 0
connections = 0
BATCH = 50


class Reader(threading.Thread):
    """Takes what the server says, and tells when the answer to the last ping has come, or the end."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.heard, self.awaited, self.is_closed = client, threading.Event(), None, False
        self.start()

    def run(self):
        rest = b""
        try:
            while data := self.client.socket.recv(1 << 16):
                rest = rest[-64:] + data
                if self.awaited and self.awaited in rest:
                    self.heard.set()
        except OSError:
            pass
        self.is_closed = True
        self.heard.set()


def fuzz(server, done):
    global sent, connections
    while not done.is_set():
        try:
            client = faults.List(server)
        except OSError:
            time.sleep(0.05)
            continue
        connections += 1
        reader = Reader(client)
        try:
            while not done.is_set() and not reader.is_closed and random.random() > 0.02:
                # Only messages that the server has read count.
                reader.heard.clear()
                name = f"k{random.randrange(1 << 60)}"
                reader.awaited = name.encode()
                batch = [message() for _ in range(BATCH)] + [json.dumps({"type": "ping", "id": name}).encode()]
                client.socket.sendall(b"".join(map(frame, batch)))
                # The server does not read a session with many slow queries until they are answered. That is not an
                # error.
                if not reader.heard.wait(5):
                    break
                if not reader.is_closed:
                    sent += BATCH
        except OSError:
            pass
        client.socket.close()


with tempfile.TemporaryDirectory(prefix="freshet-messages-") as folder:
    faults.make(folder)
    with sqlite3.connect(os.path.join(folder, "app.sqlite")) as db:
        db.executemany("INSERT INTO t VALUES (?, ?)", [(number, "x" * (number % 7)) for number in range(200)])
    configuration = os.path.join(folder, "freshet.yaml")
    pathlib.Path(configuration).write_text("messagesPerSecond: 0\n")
    os.environ["FRESHET_MESSAGES_PER_SECOND"] = "0"
    server = faults.Server(folder)
    assert server.wait()
    witness = faults.List(server)
    done = threading.Event()
    threads = [threading.Thread(target=fuzz, args=(server, done)) for _ in range(4)]
    for thread in threads:
        thread.start()
    slowest, start, number = 0.0, time.time(), 1_000
    try:
        while sent < options.messages:
            number += 1
            before = time.time()
            with sqlite3.connect(server.path, timeout=30) as db:
                db.execute("INSERT INTO t(id) VALUES (?)", (number,))
            witness.socket.settimeout(20)
            while number not in witness.ids:
                witness.take(witness.receive())
            slowest = max(slowest, time.time() - before)
            assert server.process.poll() is None, "the server has ended"
            time.sleep(0.1)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert faults.agree(server, witness), "a list is wrong"
    assert slowest < 2, f"a list waited {slowest:.1f} s"
    server.end()
    print(
        f"{sent} messages in {connections} connections, {time.time() - start:.0f} s, seed {options.seed}: "
        f"the list of a client beside them was right, and at most {slowest * 1_000:.0f} ms behind"
    )
