#!/usr/bin/env python3
"""Reads a history (scripts/history.py) and says what must not be in it.

    scripts/check-history.py FILE ...

Checked:
  - every acknowledged write is in every later look at its file, exactly once, and nothing is there that was never written;
  - what was refused is nowhere;
  - at quiet points every list is what a fresh SELECT gives;
  - within an epoch no client sees `commit` fall;
  - a version name stands for one content of one query, whoever has it.

Prints each violation with its line, and ends with 1 when there is any.
"""

import collections
import json
import sys


class Checker:
    def __init__(self):
        self.problems = []
        self.counts = collections.Counter()
        # The ids of each file, by the outcome of their writes.
        self.writes = collections.defaultdict(lambda: collections.defaultdict(set))
        # The contents of each version of a list, and the client that had them first.
        self.commits, self.versions = {}, {}
        self.faults = collections.deque(maxlen=5)

    def problem(self, line, text):
        self.problems.append(f"line {line}: {text}")

    def take(self, line, event):
        self.counts[event["operation"]] += 1
        check = getattr(self, "check_" + event["operation"], None)
        if check:
            check(line, event)

    def check_write(self, line, event):
        self.counts[event["outcome"]] += 1
        self.writes[event.get("file", "")][event["outcome"]].add(event["id"])

    def check_file(self, line, event):
        if event["outcome"] != "ok":
            return
        writes = self.writes[event.get("file", "")]
        there = collections.Counter(event["ids"])
        for problem, ids in (
            ("acknowledged, and lost", writes["acknowledged"] - there.keys()),
            ("there more than once", {number for number, count in there.items() if count > 1}),
            ("refused, and there all the same", (writes["refused"] - writes["acknowledged"] - writes["unknown"]) & there.keys()),
            ("there, and never written", there.keys() - set().union(*writes.values())),
        ):
            if ids:
                self.problem(line, f"{len(ids)} writes {problem}: {sorted(ids)[:5]}")

    def check_list(self, line, event):
        if event.get("quiet") and event["outcome"] == "ok" and event["digest"] != event["expected"]:
            self.problem(line, f"{event['actor']}: the list {event['list']} is not what SELECT gives")

    def check_message(self, line, event):
        place = event["actor"], event.get("connection"), event["list"]
        epoch, commit = event.get("epoch"), event.get("commit")
        if commit is not None:
            before = self.commits.get(place)
            if before and before[0] == epoch and commit < before[1]:
                self.problem(line, f"{event['actor']}: commit fell from {before[1]} to {commit} in epoch {epoch}")
            self.commits[place] = epoch, commit
        if event.get("version") is not None and event.get("digest") is not None:
            name = event["list"], event["version"]
            known, first = self.versions.setdefault(name, (event["digest"], f"line {line}, {event['actor']}"))
            if known != event["digest"]:
                faults = ", ".join(self.faults) or "nothing"
                self.problem(line, f"{event['actor']}: version {event['version']} of {event['list']} has two contents ({first}; after {faults})")

    def check_fault(self, line, event):
        self.faults.append(f"{event['actor']} at {event['time']} s")


def check(lines):
    """The problems of a history, and a count of its events."""
    checker = Checker()
    first = None
    for number, text in enumerate(lines, 1):
        try:
            event = json.loads(text)
            first = first or event
            if event["seed"] != first["seed"]:
                checker.problem(number, f"seed {event['seed']} in a history of seed {first['seed']}")
            checker.take(number, event)
        except (ValueError, KeyError) as error:
            checker.problem(number, f"not an event: {error!r}")
    if not first or first.get("operation") != "begin":
        checker.problem(1, "a history begins with `begin`")
    return checker.problems, checker.counts


def main():
    failed = False
    for path in sys.argv[1:]:
        with open(path) as file:
            problems, counts = check(file)
        print(f"{path}: {sum(counts[name] for name in ('write', 'file', 'list', 'message', 'fault'))} events, "
              f"{counts['acknowledged']} acknowledged writes, {counts['refused']} refused, {counts['unknown']} unknown, {counts['file']} looks at files, "
              f"{counts['list']} at lists, {counts['message']} messages, {counts['fault']} faults, {len(problems)} violations")
        for problem in problems[:20]:
            print(f"  {problem}")
        failed |= bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
