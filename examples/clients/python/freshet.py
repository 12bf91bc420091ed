"""A complete Freshet client: pip install websockets; python freshet.py ws://127.0.0.1:8080/v1/live '{"from": "bank"}'"""
import json, random, sys, time
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

class LiveList:
    """A result: its `sections`, and the `rows` of each. A row outside the window is None."""
    version, window, complete = None, None, False

    def apply(self, m):
        if m["type"] == "snapshot":
            self.version, self.columns, self.sections, self.window = m["version"], m["columns"], m["sections"], m.get("window")
            self.rows, self.totals, self.alongside = [[None] * section["count"] for section in m["sections"]], {}, {}
        filled = self.patch(m) if m["type"] == "patch" else enumerate(m["rows"], m["offset"])
        self.window, self.complete = m.get("window", self.window), m.get("complete", True)
        self.totals, self.alongside = self.totals | m.get("totals", {}), self.alongside | m.get("alongside", {})
        flat = {at: row for at, row in enumerate(row for rows in self.rows for row in rows)} | dict(filled)
        start = self.window["offset"] if self.window else 0
        held = range(start, min(start + self.window["limit"], len(flat)) if self.window else len(flat))
        is_whole = not self.complete or all(flat[at] for at in held)
        if len(flat) != m.get("total", len(flat)) or not is_whole: raise ValueError("not what the server has")
        contents = (flat[at] if at in held else None for at in range(len(flat)))
        self.rows = [[next(contents) for _ in rows] for rows in self.rows]

    def patch(self, m):
        if m["from"] != self.version: raise ValueError("a patch from another version")
        moved, inserted = m.get("moved", []), m.get("inserted", [])
        leaving = sorted([*m.get("deleted", []), *(move[0] for move in moved)], reverse=True)            # 1
        taken = {(section, item): self.rows[section].pop(item) for section, item in leaving}
        for index in m.get("sectionsDeleted", []): del self.sections[index], self.rows[index]           # 2
        for index, section in m.get("sectionsInserted", []):                                            # 3
            self.sections.insert(index, section)
            self.rows.insert(index, list(section.get("rows") or [None] * section["count"]))
        arriving = [(at[:2], at[2] if at[2:] else None) for at in inserted] + [(move[1], taken[tuple(move[0])]) for move in moved]
        for (section, item), row in sorted(arriving, key=lambda arrival: arrival[0]): self.rows[section].insert(item, row)  # 4
        for _, (section, item), *changes in moved + m.get("updated", []):                               # 5
            row = self.rows[section][item]
            if row and changes: self.rows[section][item] = [changes[0].get(c, value) for c, value in zip(self.columns, row)]
        for section, totals in m.get("sectionTotals", []): self.sections[section]["totals"] |= totals
        self.version = m["to"]
        return m.get("filled", [])                                                                      # 6

def follow(url, query, window=None):
    """The list after every change, for ever. After a broken connection it resumes from the version that it has."""
    live, failures = LiveList(), 0
    while True:
        try:
            with connect(url, subprotocols=["freshet.v1"], max_size=None) as socket:
                known = ({"since": live.version} if live.complete else {}) | ({"window": live.window or window} if window else {})
                socket.send(json.dumps({"type": "subscribe", "id": "a", "query": query} | known))
                for m in map(json.loads, socket):
                    if m["type"] == "error" and m["fatal"]: raise (OSError if m["retryable"] else SystemExit)(m["message"])
                    if m["type"] in ("snapshot", "rows", "patch"): failures = live.apply(m) or 0
                    if m["type"] != "hello" and live.complete: yield live
        except (ValueError, LookupError): live = LiveList()  # it has lost its way, and begins anew
        except (OSError, WebSocketException): failures = min(failures + 1, 6)
        time.sleep(0.25 * 2 ** failures * random.uniform(0.5, 1))

if __name__ == "__main__":
    for live in follow(sys.argv[1], *map(json.loads, sys.argv[2:])):
        print(json.dumps({"sections": [s["name"] for s in live.sections], "rows": live.rows, "window": live.window}), flush=True)
