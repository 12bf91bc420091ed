#!/usr/bin/env python3
"""unfinished-tests.py LOG: the tests of a log of `swift test` that have begun and not ended, with the cases that began last."""
import re
import sys

with open(sys.argv[1], errors="replace") as log:
    text = re.sub(r"\x1b\[[0-9;]*m", "", log.read())
begun = {}
for event in re.finditer(
        r"◇ Test case passing (?P<case>[^\n]*?) to (?P<of>[^\n]+?) started\."
        r"|◇ Test (?P<begun>(?!case |run )[^\n]+?) started\."
        r"|[✔✘➜] Test (?P<ended>\"[^\n]+?\"|\w+\([^\n]*?\))(?: with \d+ test cases?)? (?:passed|failed|skipped)", text):
    if event["begun"]:
        begun[event["begun"]] = ""
    elif event["ended"]:
        begun.pop(event["ended"], None)
    elif event["of"] in begun:
        begun[event["of"]] = ": " + event["case"]
for name, case in begun.items():
    print(f"in progress: {name}{case}"[:300])
