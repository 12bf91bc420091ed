#!/usr/bin/env python3
"""corpus-lists.py [COUNT] [SEED]

Opens SELECTs of sqllogictest, SQLite's own corpus, as lists, and compares each with what SQLite answers itself: at first, and after each of some
random commits of another connection. The corpus is in ../shared/data; without it, nothing is tested. Prints how many SELECTs are followed, and
how many are run again.
"""

import collections
import json
import os
import pathlib
import random
import re
import sqlite3
import sys
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from served import Served

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHIVE = ROOT.parent / "shared/data/sqllogictest.tar.xz"
BINARY = os.environ.get("FRESHET_BIN", str(ROOT / ".build" / os.environ.get("BUILD", "debug") / "freshet"))
# How many lists are open at once, and through how many commits they are followed.
BATCH = 40
COMMITS = 4


class Server(Served):
    def __init__(self, path):
        super().__init__(BINARY, "serve", path, "--self-check", "off", "--no-state")
        self.start()

    def get(self, path, query):
        arguments = urllib.parse.urlencode({"query": json.dumps(query), "limit": 10000})
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/{path}?{arguments}", timeout=60) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return {"refused": json.loads(error.read()).get("detail", "")}


def records(text):
    """Statements and queries of a file, in its order."""
    for record in text.split("\n\n"):
        lines = [line for line in record.split("\n") if not line.startswith("#")]
        others = any(line.startswith("onlyif") and "sqlite" not in line or line.startswith("skipif sqlite") for line in lines)
        first = next((line for line in lines if line.startswith(("statement ok", "query "))), None)
        if not first or others:
            continue
        body = lines[lines.index(first) + 1 :]
        body = body[: body.index("----")] if "----" in body else body
        yield first.startswith("query"), "\n".join(body)


def cell(value):
    if isinstance(value, dict):
        # An integer that JSON readers would round.
        value = int(value["$int"])
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return repr(float(f"{value:.12g}"))
    return repr(value)


def asked(database, sql):
    """SQLite's answer: names and rows; None if two columns have the same name."""
    cursor = database.execute(sql)
    names = [column[0] for column in cursor.description]
    if len({name.lower() for name in names}) < len(names):
        return None
    return names, sorted(asked_rows(database, sql))


def asked_rows(database, sql):
    return [[cell(value) for value in row] for row in database.execute(sql)]


def shown(answer, names):
    return sorted([cell(row.get(name)) for name in names] for row in answer["rows"])


def commit(database, chance):
    """Changes some rows of each of some tables."""
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")]
    database.execute("BEGIN")
    for table in chance.sample(tables, min(len(tables), chance.randint(1, 3))):
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        count = database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        if not count:
            continue
        place = f'(SELECT rowid FROM "{table}" ORDER BY rowid LIMIT 1 OFFSET {chance.randrange(count)})'
        other = f'(SELECT "{chance.choice(columns)}" FROM "{table}" ORDER BY rowid LIMIT 1 OFFSET {chance.randrange(count)})'
        column = chance.choice(columns)
        statement = chance.choice([
            f'UPDATE "{table}" SET "{column}" = {other} WHERE rowid = {place}',
            f'UPDATE "{table}" SET "{column}" = {chance.choice(["NULL", "-1", "7", "length(" + other + ")"])} WHERE rowid = {place}',
            f'DELETE FROM "{table}" WHERE rowid = {place}',
            f'INSERT INTO "{table}" SELECT {", ".join(chance.choice([f"{chr(34)}{c}{chr(34)}", "NULL", "3"]) for c in columns)} FROM "{table}" WHERE rowid = {place}',
        ])
        try:
            database.execute(statement)
        except sqlite3.Error:
            pass  # A constraint.
    database.execute("COMMIT")


def compare(server, database, lists, when, found):
    for query, names, key, sql in lists:
        answer = server.get("snapshot", query)
        try:
            right = asked(database, sql)[1]
        except sqlite3.Error:
            continue
        if "refused" in answer:
            # A key that is not selected cannot be compared with what SQLite answers.
            places = [names.index(name) for name in key if name in names]
            keys = [tuple(row[place] for place in places) for row in asked_rows(database, sql)]
            if "longer than it may" in answer["refused"]:
                found["took too long"] += 1
                continue
            if "have the key" in answer["refused"] and (len(places) < len(key) or len(set(keys)) < len(keys)):
                found["rows that nothing tells apart any more"] += 1
                continue
            found["WRONG"] += 1
            print(f"WRONG {when}: {sql}\n  {answer['refused']}", flush=True)
            continue
        if answer.get("total", 0) <= 10000 and shown(answer, names) != right:
            found["WRONG"] += 1
            print(f"WRONG {when}: {sql}\n  shows {shown(answer, names)[:3]}, not {right[:3]}", flush=True)


def test(statements, queries, chance, found):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/corpus.sqlite"
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        for statement in statements:
            try:
                database.execute(statement)
            except sqlite3.Error:
                pass
        server = Server(path)
        try:
            for start in range(0, len(queries), BATCH):
                lists = []
                for sql in queries[start : start + BATCH]:
                    try:
                        right = asked(database, sql)
                    except sqlite3.Error:
                        continue
                    if right is None:
                        found["two columns of one name"] += 1
                        continue
                    query = {"sql": sql}
                    problem = server.get("snapshot", query).get("refused")
                    if problem and "key" in problem:
                        query["key"] = right[0]
                        problem = server.get("snapshot", query).get("refused")
                    if problem and "have the key" in problem:
                        found["rows that nothing tells apart"] += 1
                        continue
                    if problem:
                        found["refused: " + re.sub(r"[\d\W]+", " ", problem)[:24]] += 1
                        continue
                    found[server.get("explain", query)["maintenance"]] += 1
                    answer = server.get("snapshot", query)
                    if "key" not in answer:
                        found["refused when asked again: " + answer["refused"][:40]] += 1
                        continue
                    lists.append((query, right[0], answer["key"], sql))
                compare(server, database, lists, "at first", found)
                for round in range(COMMITS):
                    commit(database, chance)
                    compare(server, database, lists, f"after commit {round + 1}", found)
        finally:
            server.stop()
            database.close()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    if not ARCHIVE.exists():
        print(f"skipped: there is no {ARCHIVE}")
        return
    print(f"seed {seed}")
    chance = random.Random(seed)
    found = collections.Counter()
    with tarfile.open(ARCHIVE) as archive:
        files = [member for member in archive.getmembers() if member.name.endswith(".test")]
        texts = [archive.extractfile(member).read().decode("utf-8", "replace") for member in files]
    corpus = [list(records(text)) for text in texts]
    all_queries = [(file, sql) for file, parts in enumerate(corpus) for is_query, sql in parts if is_query]
    some = chance.sample(all_queries, min(count, len(all_queries)))
    for file, parts in enumerate(corpus):
        queries = [sql for each, sql in some if each == file]
        if queries:
            test([sql for is_query, sql in parts if not is_query], queries, chance, found)
    for name, number in found.most_common():
        print(f"{number:7d} {name}")
    if found["WRONG"]:
        sys.exit(1)


main()
