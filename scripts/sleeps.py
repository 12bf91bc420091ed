#!/usr/bin/env python3
"""Counts the tests' sleeps: each makes a test slow, and proves nothing on a busy machine. A test waits for what it
expects (`comesTrue`, `eventually`, Playwright's `expect`), and proves that something stays away by something later that
comes. The count only falls: after a removal this says what MOST has become.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 62
SLEEP = re.compile(r"\busleep\(|\b(?:Task|Thread|time|asyncio)\.sleep\(|\bsleep\(|\bsetTimeout\(|\bwait_for_timeout\(")
# Files with the helpers that wait.
WAITING = {"Tests/Support/TestSupport/Eventually.swift", "Tests/WebTests/browser/harness.py", "Tests/WebTests/fake-clock.mjs"}


def main():
    names = [path for path in sorted((ROOT / "Tests").rglob("*")) if path.suffix in (".swift", ".py", ".js", ".mjs", ".c") and "node_modules" not in path.parts]
    found = [(path.relative_to(ROOT), number) for path in names if str(path.relative_to(ROOT)) not in WAITING
             for number, line in enumerate(path.read_text().splitlines(), 1) if SLEEP.search(line)]
    if "--list" in sys.argv:
        print("\n".join(f"{path}:{number}" for path, number in found))
    if len(found) > MOST:
        sys.exit(f"error: {len(found)} sleeps in tests, and there were {MOST}: scripts/sleeps.py --list names them")
    if len(found) < MOST:
        sys.exit(f"error: {len(found)} sleeps in tests: write that as MOST in scripts/sleeps.py, so that they only become fewer")
    print(f"sleeps: {len(found)} in tests, none new")


if __name__ == "__main__":
    main()
