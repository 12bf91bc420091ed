#!/usr/bin/env python3
"""write-numbers.py

Writes the table of docs/benchmarks/README.md from Benchmarks/results.json, what a full `make bench` has measured.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
USUAL = 244_292

# Benchmark, finding (a regular expression; the largest of several counts), and its text for the reader.
ROWS = [
    ("change", "content, p50", "one-row change, from the end of its commit to the encoded patch: contents"),
    ("change", "sort, p50", "the same: a sort value"),
    ("change", "section, p50", "the same: the section"),
    ("change", "insert, p50", "the same: a row comes"),
    ("change", "delete, p50", "the same: a row goes"),
    ("change", "fetching again against the slowest kind", "fetching again with GRDB and differing takes longer by"),
    ("change", "growth of .*", "growth of that from 1,000 to 1,000,000 rows, the kind that grows most"),
    ("lookup", ".*, commit to patch, p50",
     "the slowest of the five, against a C program that begins a read, looks the row up by its key and ends"),
    ("thousand", "commit to patch", "1,000 changes in one commit, to the patch"),
    ("thousand", "operations beyond the fewest", "operations in that patch beyond the fewest possible"),
    ("latency", "p50", "COMMIT in another process to patch in a client's hands, p50, "
     "against 200 bytes from a bare libwebsockets server"),
    ("latency", "p99", "the same, p99"),
    ("memory", "an open list", "memory of an open list, with what is remembered to follow it"),
    ("memory", "one more subscriber, above its socket", "one more subscriber of it, above its socket"),
    ("open", "cold", "first opening, against raw SQLite stepping key and sort columns"),
    ("open", "window of 50 of an open list",
     "window of 50 of an open list, sent to others before, against raw SQLite's `LIMIT 50` along an index"),
    ("open", "a window that nobody was sent before", "one that nobody was sent before"),
    ("open", "whole result of an open list", "whole result of an open list, against raw SQLite stepping all columns"),
    ("fan-out", "CPU per frame, 1,000 subscribers",
     "one change to 1,000 subscribers: CPU per frame against a bare epoll loop"),
    ("fan-out", "CPU per frame, 10,000 subscribers", "to 10,000 subscribers"),
    ("coalescing", "CPU per frame, one write for each",
     "50 frames due on each of 200 sockets: one write for each frame costs more by"),
    ("queries", "10,000 with a parameter, CPU per change",
     "10,000 queries that differ in a parameter, CPU per change against one query"),
    ("queries", "1,000 ranges, CPU per change", "1,000 ranges, the same"),
    ("windows", "CPU per client and change, 1,000 windows",
     "1,000 windows in different places, 100 changes a second: CPU per client and change"),
    ("capture", "one-row commits, synchronous=FULL, p50",
     "a writer's one-row commits beside the server, waiting for the disk, SQLite's default, against nobody watching"),
    ("capture", "one-row commits, synchronous=NORMAL, p50", "with `synchronous=NORMAL`"),
    ("capture", "1,000-row commits, synchronous=FULL, p50", "1,000-row commits that wait for the disk"),
    ("capture", "1,000-row commits, synchronous=NORMAL, p50", "with `synchronous=NORMAL`"),
    ("comparisons", "comparisons of whole tables, .*", "comparisons of whole tables in 10,000 paced commits"),
    ("overload", "from a change to the client, p99",
     "10,000 changes a second, 1,000 subscribers, 60 s: age of changes when they arrive, p99"),
    ("overload", "memory of the last quarter against the second", "memory of the last quarter against the second"),
    ("overload", "rows of the client that are not those of a SELECT", "rows that differ from a SELECT in the end"),
    ("sustained", "one-row commits, synchronous=FULL",
     "one-row commits a second of a writer at full speed beside the server, waiting for the disk, against plain SQLite"),
    ("sustained", "one-row commits, synchronous=NORMAL", "with `synchronous=NORMAL`"),
    ("idle", "memory for each of .*", "10,000 idle connections, a query each: memory of each"),
    ("idle", "processor time while nothing happens", "processor time of all"),
    ("idle", "a change that concerns one of them, until it is there",
     "a change that concerns one of them, until it is there"),
    ("refetch", "a list with a subquery on its table, commit to patch",
     "a list that has to be run again, commit to patch against raw SQLite stepping its SELECT"),
    ("join", "a joined row of 10, CPU per change",
     "a change of a joined row that concerns 10 rows, against one of a row"),
]


def short(value: float) -> str:
    """Three significant digits, as `make bench` prints them."""
    if abs(value) >= 100:
        return f"{round(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def find(findings: list, benchmark: str, name: str) -> dict:
    fitting = [
        finding for finding in findings
        if finding["benchmark"] == benchmark and re.fullmatch(name, finding["name"].strip())
    ]
    usual = [finding for finding in fitting if finding.get("rows") == USUAL]
    if not fitting:
        sys.exit(f"{benchmark} tells nothing of {name}: was it a full run?")
    return max(usual or fitting, key=lambda finding: finding["median"])


def row(finding: dict, text: str) -> str:
    measured = f"{short(finding['median'])} {finding['unit']}"
    if finding["rounds"] > 1:
        measured += " ({}–{})".format(*map(short, finding["quartiles"]))
    verdict = "met" if finding["isMet"] else "**missed**"
    return f"| {text} | {measured} | {finding['goal']} {verdict} |"


def main() -> None:
    findings = json.loads((ROOT / "Benchmarks/results.json").read_text())["findings"]
    table = "\n".join(row(find(findings, benchmark, name), text) for benchmark, name, text in ROWS)
    page = ROOT / "docs/benchmarks/README.md"
    before = page.read_text()
    after, count = re.subn(r"(\| 244,292 rows unless said \|[^\n]*\n\|---\|---\|---\|\n)(?:\|[^\n]*\n)+",
                           lambda match: match[1] + table + "\n", before)
    if count != 1:
        sys.exit(f"{page} has no table of numbers")
    page.write_text(after)


if __name__ == "__main__":
    main()
