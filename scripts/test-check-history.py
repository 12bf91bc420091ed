#!/usr/bin/env python3
"""Tests of check-history.py: a good history passes, and each kind of violation is found, and nothing else."""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import threading

folder = pathlib.Path(__file__).parent
sys.path.insert(0, str(folder))
import history  # noqa: E402

specification = importlib.util.spec_from_file_location("check_history", folder / "check-history.py")
check_history = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_history)


def events(*details):
    begin = {"time": 0, "seed": 7, "actor": "run", "operation": "begin", "outcome": "ok"}
    return [json.dumps(event) for event in [begin, *({"time": 1, "seed": 7, "actor": "a", "outcome": "ok", **detail} for detail in details)]]


def write(number, outcome="acknowledged", file="f"):
    return {"operation": "write", "id": number, "outcome": outcome, "file": file}


def look(*ids, file="f"):
    return {"operation": "file", "file": file, "ids": list(ids)}


def message(commit, version, contents, actor="a", epoch="e", connection=1):
    return {"operation": "message", "list": "q", "actor": actor, "epoch": epoch, "commit": commit, "version": version, "digest": contents, "connection": connection}


GOOD = [
    write(1), write(2, "unknown"), write(3, "unknown"), write(4, "refused"), look(1, 3), write(1, file="g"), look(1, file="g"),
    # A write that was asked for again may be there from the first time.
    write(5, "refused"), write(5, "acknowledged"), look(1, 3, 5),
    {"operation": "list", "list": "q", "digest": "x", "expected": "x", "quiet": True},
    # While things happen a list may be behind.
    {"operation": "list", "list": "q", "digest": "x", "expected": "y", "quiet": False},
    message(4, "v4", "x"), message(5, "v5", "y"), message(4, "v4", "x", actor="b"), message(1, "w1", "z", epoch="other"),
    # Another server, which is behind.
    message(3, "v3", "w", connection=2), {"operation": "file", "file": "f", "outcome": "failed"},
]  # fmt: skip
BAD = {
    "lost": [write(1), write(2), look(1)],
    "lost later": [write(1), look(1), look()],
    "there more than once": [write(1), look(1, 1)],
    "refused, and there": [write(1, "refused"), look(1)],
    "never written": [write(1), look(1, 2)],
    "not what SELECT gives": [{"operation": "list", "list": "q", "digest": "x", "expected": "y", "quiet": True}],
    "commit fell": [message(5, "v5", "x"), message(4, "v4", "y")],
    "two contents": [message(5, "v5", "x"), message(5, "v5", "y", actor="b")],
    "seed 8": [{**write(1), "seed": 8}],
    "not an event": [{"operation": "write", "outcome": "acknowledged"}],
}


def check_threads(story, file):
    """A thread that outlives the history adds nothing to it and goes on; one that ends with an exception is found."""
    failures = history.thread_failures()
    file.seek(0)
    before = file.readlines()
    story.close()
    late = threading.Thread(target=story.add, args=("a", "write", "acknowledged"), kwargs={"id": 2, "file": "f"})
    late.start()
    late.join()
    file.seek(0)
    assert failures == [] and file.readlines() == before, failures
    with contextlib.redirect_stderr(io.StringIO()):
        broken = threading.Thread(target=lambda: 1 // 0, name="broken")
        broken.start()
        broken.join()
    assert failures == ["broken: ZeroDivisionError: integer division or modulo by zero"], failures


def main():
    problems, counts = check_history.check(events(*GOOD))
    assert problems == [] and counts["acknowledged"] == 3, problems
    for expected, details in BAD.items():
        problems, _ = check_history.check(events(*details))
        assert len(problems) == 1 and expected.removesuffix(" later") in problems[0], (expected, problems)
    assert check_history.check(['{"time": 1'])[0], "half a line"
    assert check_history.check([])[0], "nothing"
    with tempfile.NamedTemporaryFile("r") as file:
        story = history.Story(7, file.name)
        story.add("a", "write", "acknowledged", id=1, file="f")
        assert check_history.check(file.readlines())[0] == []
        draws = [story.random("a", 1).random() for _ in range(2)] + [history.Story(7).random("a", 1).random()]
        assert len(set(draws)) == 1 and story.random("a", 2).random() not in draws
        check_threads(story, file)
    print(f"check-history.py: {len(BAD)} kinds of violations are found")


if __name__ == "__main__":
    main()
