"""The feed of changes of a real server: what another process writes at random, done to a copy, is what the file has."""

import asyncio
import contextlib
import random

import pytest
from support import IS_LONG, BreakingWay, Writer, database, needs_binary, quick_back_off, run, seeds
from test_live import SCHEMA, statement

import freshet
from freshet import Commit, FreshetError, Gap

pytestmark = needs_binary()

MARKED = (
    SCHEMA
    + """
CREATE TABLE mark(id INTEGER PRIMARY KEY, n INTEGER);
INSERT INTO mark VALUES (1, 0);
CREATE TABLE visit(place TEXT, day INTEGER, note, PRIMARY KEY(place, day)) WITHOUT ROWID;
"""
)
TABLES = {"well": ("id",), "county": ("name",), "mark": ("id",), "visit": ("place", "day")}


class Copy:
    """What a reader of the feed makes of it: the rows of each table by key."""

    def __init__(self, db):
        self._db = db
        self.rows = self.selected()

    def selected(self):
        return {table: {tuple(row[name] for name in key): row for row in self._rows_of(table)} for table, key in TABLES.items()}

    def _rows_of(self, table):
        cursor = self._db.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]

    def take(self, commit):
        for table, op, key, old, new in commit.changes:
            rows, identity = self.rows[table], tuple(key.values())
            assert tuple(key) == TABLES[table]
            if op == "insert":
                assert identity not in rows
                assert old is None
                rows[identity] = new
            elif op == "update":
                before = rows[identity]
                assert old == {name: value for name, value in before.items() if value != new[name] or type(value) is not type(new[name])}
                rows[identity] = new
            else:
                assert op == "delete"
                assert (rows.pop(identity), new) == (old, None)
            if new:
                assert tuple(new[name] for name in TABLES[table]) == identity


def change(numbers):
    """A statement of lists' tests, or one that concerns the table without rowids."""
    if numbers.random() < 0.7:
        return statement(numbers)
    place, day = numbers.choice("xyz"), numbers.randrange(9)
    return numbers.choice([
        ("INSERT OR REPLACE INTO visit VALUES (?, ?, ?)", [place, day, numbers.choice([None, 1, 1.5, "1", b"\x00", 2**62])]),
        ("UPDATE OR IGNORE visit SET day = day + 1 WHERE place = ?", [place]),
        ("DELETE FROM visit WHERE day = ?", [day]),
    ])  # fmt: skip


async def follow(feed, copy, mark):
    """Reads until a mark; what it says is done to the copy."""
    async for event in feed:
        assert isinstance(event, Commit), event
        copy.take(event)
        if copy.rows["mark"][(1,)]["n"] == mark:
            return


@pytest.mark.parametrize("seed", seeds(10 if IS_LONG else 2))
def test_the_feed_done_to_a_copy_is_the_file(tmp_path, seed, monkeypatch):
    path = tmp_path / "wells.sqlite"
    numbers = random.Random(seed)
    quick_back_off(monkeypatch)

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with BreakingWay(int(url.rsplit(":", 1)[1])) as way, freshet.connect(way.url) as client:
                copy = Copy(db)
                feed = await client.changes().__aenter__()
                for mark in range(1, 400 if IS_LONG else 60):
                    for _ in range(numbers.randrange(4)):
                        writer.write(*[change(numbers) for _ in range(numbers.randrange(1, 4))])
                    if numbers.random() < 0.1:
                        way.cut()
                    if numbers.random() < 0.2:
                        # The reader ends, and a second one continues from its position.
                        await feed.aclose()
                        feed = client.changes(since=feed.position)
                    writer.write(change(numbers), ("UPDATE mark SET n = ?", [mark]))
                    await follow(feed, copy, mark)
                    assert copy.rows == copy.selected()
                await feed.aclose()

    db = database(path, MARKED)
    run(test(), 120)


@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.parametrize("seed", seeds(10 if IS_LONG else 1))
def test_restarts_lose_no_change_unnoticed(tmp_path, monkeypatch, end, seed):
    path = tmp_path / "wells.sqlite"
    monkeypatch.setenv("FRESHET_STATE", str(tmp_path / "states"))
    numbers = random.Random(seed)
    quick_back_off(monkeypatch)

    async def test():
        server = freshet.serve(path)
        with Writer(path) as writer:
            async with freshet.connect(server.url) as client:
                copy = Copy(db)
                feed = await client.changes().__aenter__()
                for mark in range(1, 10):
                    if end == "killed":
                        server._process.kill()
                    await asyncio.to_thread(server.stop)
                    writer.write(change(numbers), ("UPDATE mark SET n = ?", [mark]))
                    server = freshet.serve(path, port=int(server.url.rsplit(":", 1)[1]))
                    while copy.rows["mark"][(1,)]["n"] != mark:
                        event = await feed.__anext__()
                        if isinstance(event, Gap):
                            # A server that could keep its state knows the changes that were made meanwhile.
                            assert end == "killed"
                            copy = Copy(db)
                        else:
                            copy.take(event)
                    assert copy.rows == copy.selected()
                await feed.aclose()
        server.stop()

    db = database(path, MARKED)
    run(test(), 60)


def test_a_reader_that_stalls_gets_a_gap(tmp_path):
    path, config = tmp_path / "wells.sqlite", tmp_path / "freshet.yaml"
    config.write_text("changeHistory: 1048576\n")

    async def test():
        with Writer(path) as writer, freshet.serve(path, config=config) as url:
            async with freshet.connect(url) as client, client.changes() as feed:
                for number in range(200):
                    writer.write(
                        ("INSERT OR REPLACE INTO visit VALUES ('x', 1, ?)", [number.to_bytes(4, "big") * 125_000]),
                        ("UPDATE mark SET n = ?", [number]),
                    )
                seen = []
                with contextlib.suppress(asyncio.TimeoutError):
                    while True:
                        seen.append(await asyncio.wait_for(feed.__anext__(), 1))
                assert 1 < len(seen) < 150
                assert any(isinstance(event, Gap) for event in seen)
                writer.write("UPDATE mark SET n = -1")
                assert (await feed.__anext__()).changes[0].new == {"id": 1, "n": -1}

    database(path, MARKED)
    run(test(), 60)


def test_each_commit_is_its_own_event(tmp_path):
    path = tmp_path / "wells.sqlite"

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with freshet.connect(url) as client, client.changes(tables=["mark"]) as feed:
                for number in range(1, 200):
                    writer.write(("UPDATE mark SET n = ?", [number]), ("UPDATE well SET depth = ? WHERE id = 1", [number]))
                seen = []
                async for event in feed:
                    assert [each.table for each in event.changes] == ["mark"] * len(event.changes)
                    seen.append((event.changes[0].new["n"], event.commits))
                    if seen[-1][0] == 199:
                        break
                assert [n for n, _ in seen] == sorted({n for n, _ in seen})
                assert sum(commits for _, commits in seen) == 199

    database(path, MARKED)
    run(test())


def test_columns_and_conditions(tmp_path):
    path = tmp_path / "wells.sqlite"

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with freshet.connect(url) as client:
                options = {"columns": {"well": ["id", "depth"]}, "where": {"well": "depth > 35"}}
                async with client.changes(tables="well", **options) as feed:
                    writer.write("UPDATE well SET name = 'other' WHERE id = 40")
                    changes = []
                    for depth in (99, 98, 0):
                        # Several commits may come as one: each is awaited.
                        writer.write(("UPDATE well SET depth = ? WHERE id = 1", [depth]))
                        changes.append((await feed.__anext__()).changes)
                    assert [tuple(each[0])[1:] for each in changes] == [
                        ("insert", {"id": 1}, None, {"id": 1, "depth": 99}),
                        ("update", {"id": 1}, {"depth": 99}, {"id": 1, "depth": 98}),
                        ("delete", {"id": 1}, {"id": 1, "depth": 98}, None),
                    ]
                for refused in ({"tables": ["nowhere"]}, {"columns": {"well": ["nothing"]}}, {"where": {"well": "nothing > 1"}}):
                    with pytest.raises(FreshetError) as caught:
                        async with client.changes(**refused):
                            pass
                    assert caught.value.code in ("no_such_table", "no_such_column", "bad_query")

    database(path, MARKED)
    run(test())


def test_a_table_that_is_altered(tmp_path):
    path = tmp_path / "wells.sqlite"

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with freshet.connect(url) as client, client.changes(tables=["county"]) as feed:
                writer.write("ALTER TABLE county ADD COLUMN note TEXT")
                altered = await feed.__anext__()
                assert [(each.table, each.op, each.key, each.new) for each in altered.changes] == [("county", "schema", None, None)]
                writer.write("UPDATE county SET note = 'new' WHERE name = 'A'")
                assert (await feed.__anext__()).changes[0].new == {"name": "A", "state": "CO", "note": "new"}

    database(path, MARKED)
    run(test())


def test_a_position_of_another_history_is_a_gap(tmp_path):
    path = tmp_path / "wells.sqlite"

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with freshet.connect(url) as client:
                feed = client.changes(since="of nothing that was ever here")
                event = await feed.__anext__()
                assert isinstance(event, Gap)
                assert event.reason
                writer.write("UPDATE mark SET n = 7")
                assert (await feed.__anext__()).changes[0].new == {"id": 1, "n": 7}
                await feed.aclose()

    database(path, MARKED)
    run(test())
