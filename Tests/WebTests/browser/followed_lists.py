"""Lists over a WebSocket, followed by the client of examples/clients/python, and compared with fresh SELECTs."""
import contextlib
import json
import sqlite3
import sys
import threading

from harness import ROOT, eventually

sys.path.append(str(ROOT / "examples" / "clients" / "python"))

from freshet import LiveList, connect  # noqa: E402


class Followed:
    """One list: its rows, or the error for which it waits or has ended."""

    def __init__(self, query):
        self.query = query
        self.live = LiveList()
        self.error = None
        self.is_over = False

    @property
    def sql(self):
        """The list's query as one SELECT. Queries of these tests name their key first in `select`, and order by it
        last."""
        query = self.query
        order = [*([query["sectionBy"]] if "sectionBy" in query else []), *query.get("orderBy", []), *query.get("key", ["id"])]
        return f"SELECT {', '.join(query.get('select', ['*']))} FROM {query['from']} WHERE {query.get('where', 1)} ORDER BY {', '.join(order)}"

    def take(self, message):
        if message["type"] == "error":
            self.error = message
            self.is_over = message["fatal"]
        elif message["type"] in ("snapshot", "rows", "patch"):
            self.live.apply(message)
            self.error = None


class FollowedLists:
    """Lists on one connection. A thread applies the messages: every patch must fit."""

    def __init__(self, url):
        self.socket = connect(f"{url.replace('http', 'ws', 1)}v1/live", subprotocols=["freshet.v1"], max_size=None)
        self.lock = threading.Lock()
        self.lists = {}
        self.broken = []
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        with contextlib.suppress(ConnectionError):
            for message in map(json.loads, self.socket):
                with self.lock:
                    try:
                        if message.get("id") in self.lists:
                            self.lists[message["id"]].take(message)
                    except (ValueError, LookupError) as error:
                        self.broken.append(f"{error}: {message}"[:500])

    def subscribe(self, name, query):
        """Subscribes, and replaces the list that had this name, if any."""
        with self.lock:
            old = self.lists.get(name)
            if old and not old.is_over:
                self.socket.send(json.dumps({"type": "unsubscribe", "id": name}))
            self.lists[name] = Followed(query)
            self.socket.send(json.dumps({"type": "subscribe", "id": name, "query": query}))

    def said(self, name, *words):
        """Waits until this list reports that it waits, with these words."""
        eventually(lambda: self.error_of(name), lambda error: error and not error["fatal"] and all(word in error["message"] for word in ("schema has changed", *words)),
                   f"what {name} says")

    def error_of(self, name):
        with self.lock:
            return self.lists[name].error

    def are_right(self, database, waiting=()):
        """To be called while no program writes: checks that lists that do not wait equal SQLite's answers on another
        connection."""
        for name in set(self.lists) - set(waiting):
            eventually(lambda: self.held(name), lambda held: held == fresh(database, self.lists[name].sql), name)
        assert self.broken == [], self.broken
        for name in waiting:
            assert self.error_of(name), f"{name} says nothing of what it waits for"

    def held(self, name):
        """The list's rows, section by section, or its error."""
        with self.lock:
            followed = self.lists[name]
            live = followed.live
            if followed.error or not live.complete:
                return followed.error
            counts = [len(rows) for rows in live.rows]
            assert counts == [len(rows) for rows in live.rows if rows] or "sectionBy" not in followed.query, "a section without rows"
            return live.columns, [row for rows in live.rows for row in rows]

    def section_names(self, name):
        with self.lock:
            return [section["name"] for section in self.lists[name].live.sections]

    def close(self):
        self.socket.close()


def fresh(database, sql):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(sql)
        return [column for column, *_ in rows.description], [list(row) for row in rows]
