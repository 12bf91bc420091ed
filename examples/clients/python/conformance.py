"""Runs the client on the conformance corpus: python conformance.py freshet-conformance.json"""
import json
import sys

from freshet import LiveList


def held(live):
    """What the client holds, as the corpus says it."""
    window = live.window or {"offset": 0, "limit": sum(map(len, live.rows))}
    flat = [row for rows in live.rows for row in rows]
    return {
        "version": live.version, "columns": live.columns, "total": len(flat), "window": live.window, "alongside": live.alongside,
        "totals": live.totals, "offset": window["offset"], "rows": [row for row in flat if row is not None],
        "sections": [{name: value for name, value in section.items() if name != "rows"} | {"count": len(rows)}
                     for section, rows in zip(live.sections, live.rows)],
    }


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    failed = 0
    for case in cases:
        live = LiveList()
        for message in case["messages"]:
            live.apply(message)
        expected = {"totals": {}} | {name: value for name, value in case["expected"].items() if name != "key"}
        if held(live) != expected:
            failed += 1
            print(f"FAILED {case['name']}: {case['description']}\n  {held(live)}\n  {expected}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed > 0 or not cases


if __name__ == "__main__":
    sys.exit(main())
