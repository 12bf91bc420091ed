"""Histories of runs that break things: JSON lines, one an event, which scripts/check-history.py reads.

An event has `time` (seconds since the run began), `actor`, `operation` and `outcome`, and what the operation is about. Operations:

    begin      of a run: seed, arguments
    write      of one id: outcome `acknowledged`, `refused` or `unknown` (nothing came back)
    file       the ids that a file has: `ids`; `quiet` when nothing else happened meanwhile
    list       what a client holds: `list` names the query, with a digest of its rows; `quiet` as above, then with `expected`
    message    what a client was sent: `epoch`, `commit`, `version`, and the digest of what it holds then
    fault      what was broken: outcome says how it went

All choices of a run follow from its seed: each actor draws from a generator of its own, so that threads cannot exchange their draws.
"""

import hashlib
import json
import random
import threading
import time


class Story:
    """The seed of a run and its history. Threads may share it."""

    def __init__(self, seed, path=None, **arguments):
        self.seed, self.start, self.lock = seed, time.monotonic(), threading.Lock()
        self.file = open(path, "w") if path else None
        self.events = 0
        self.add("run", "begin", "ok", arguments=arguments)

    def random(self, *actor):
        """The generator of one actor: the same for a seed, whatever other actors do."""
        return random.Random(f"{self.seed} {actor}")

    def add(self, actor, operation, outcome, **details):
        with self.lock:
            event = {"time": round(time.monotonic() - self.start, 4), "seed": self.seed, "actor": actor, "operation": operation, "outcome": outcome}
            self.events += 1
            if self.file:
                self.file.write(json.dumps({**event, **details}) + "\n")
                self.file.flush()

    def close(self):
        """The history is complete: what threads that still run add is counted alone."""
        with self.lock:
            file, self.file = self.file, None
        if file:
            file.close()


def thread_failures():
    """A list that gets a sentence for every thread that ends with an exception from now on. If it is not empty, the run
    must end with 1."""
    failures = []
    usual = threading.excepthook

    def hook(arguments):
        usual(arguments)
        failures.append(f"{arguments.thread.name if arguments.thread else 'a thread'}: {arguments.exc_type.__name__}: {arguments.exc_value}")

    threading.excepthook = hook
    return failures


def digest(rows):
    """The digest of rows in their order."""
    return hashlib.sha256(json.dumps(rows, default=str).encode()).hexdigest()[:16]
