"""Dates, times and booleans, by the types of columns."""

import datetime
import pickle
from dataclasses import dataclass
from datetime import date, time, timedelta, timezone

import pytest
from support import FakeServer, connected, database, needs_binary, run

import freshet
from freshet._convert import CONVERTERS, checked, declared
from freshet._rows import RowMaker

SCRIPT = """
    CREATE TABLE task(id INTEGER PRIMARY KEY, title TEXT, due DATE, changed TIMESTAMP, is_done BOOLEAN NOT NULL DEFAULT 0);
    CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, born DATE, is_done TEXT);
    INSERT INTO task VALUES (1, 'Paint', '2026-12-24', '2026-11-28 21:30:05', 1), (2, 'Sand', 'soon', 1764365405, 7);
    INSERT INTO person VALUES (1, 'Ann', '1990-02-28', 'no');
"""


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (bool, 1, True),
        (bool, 0, False),
        (bool, 7, 7),
        (bool, "yes", "yes"),
        (date, "2026-11-28", date(2026, 11, 28)),
        (date, "soon", "soon"),
        (date, 20000, 20000),
        (time, "21:30", time(21, 30)),
        (datetime.datetime, "2026-11-28 21:30:05", datetime.datetime(2026, 11, 28, 21, 30, 5)),
        (datetime.datetime, "2026-11-28T21:30:05Z", datetime.datetime(2026, 11, 28, 21, 30, 5, tzinfo=timezone.utc)),
        (datetime.datetime, "2026-11-28 21:30:05+02:00", datetime.datetime(2026, 11, 28, 21, 30, 5, tzinfo=timezone(timedelta(hours=2)))),
        (datetime.datetime, b"x", b"x"),
        (datetime.datetime, "", ""),
    ],
)
def test_what_fits_becomes_the_type_and_all_else_stays(kind, value, expected):
    result = CONVERTERS[kind](value)
    assert (result, type(result)) == (expected, type(expected))


def test_makers_convert_and_are_pickled():
    maker = RowMaker(dict, checked({"due": date}))
    assert pickle.loads(pickle.dumps(maker)).row((1, "2026-12-24"), ("id", "due")) == {"id": 1, "due": date(2026, 12, 24)}
    assert maker.row((1, None), ("id", "due")) == {"id": 1, "due": None}


def test_declared_types_of_the_tables_in_the_query():
    column = lambda name, kind: {"name": name, "type": kind}  # noqa: E731
    schema = {
        "tables": [
            {"name": "Task", "columns": [column("due", "date"), column("at", "TIMESTAMP WITH TIME ZONE"), column("is_done", "Bool")]},
            {"name": "person", "columns": [column("born", "DATE"), column("is_done", "TEXT")]},
        ]
    }
    assert declared(schema, {"from": "task"}) == {"due": date, "at": datetime.datetime, "is_done": bool}
    assert declared(schema, {"from": 'person JOIN "task" ON task.id = person.id'}) == {"born": date, "due": date, "at": datetime.datetime}
    assert declared(schema, {"sql": "SELECT born FROM person"}) == {"born": date}
    assert declared(schema, {"from": "elsewhere"}) == {}


def test_mistakes_are_named():
    with pytest.raises(TypeError, match="'due' cannot become <class 'int'>"):
        checked({"due": int})
    with pytest.raises(TypeError, match="give the columns of a published query"):
        declared({}, {"name": "tasks"})


def test_columns_that_the_program_names_need_no_schema():
    async def scenario():
        async with FakeServer() as server:
            client, peer = await connected(server)
            live = client.subscribe("task", convert={"name": date})
            message = await peer.next("subscribe")
            await peer.snapshot(message["id"], [[1, "2026-12-24"]])
            await live
            assert live.rows == [(1, date(2026, 12, 24))]
            assert live.path(1) == (0, 0)
            await client.close()

    run(scenario())


def test_a_server_without_a_schema_fails_the_list():
    async def scenario():
        async with FakeServer() as server:
            client, _ = await connected(server)
            with pytest.raises(freshet.FreshetError) as failure:
                await client.subscribe("task", convert=True)
            assert failure.value.code in ("refused", "unreachable")
            await client.close()

    run(scenario())


@dataclass
class Task:
    id: int
    due: date
    is_done: bool


@needs_binary()
def test_a_real_list(tmp_path):
    async def scenario():
        database(tmp_path / "a.sqlite", SCRIPT).close()
        with freshet.serve(tmp_path / "a.sqlite", allow_writes=True) as url:
            async with freshet.connect(url) as client:
                tasks = await client.subscribe("task", convert=True)
                changed = datetime.datetime(2026, 11, 28, 21, 30, 5)
                assert tasks.rows == [(1, "Paint", date(2026, 12, 24), changed, True), (2, "Sand", "soon", 1764365405, 7)]
                typed = await client.subscribe("task", rows=Task, convert=True, where="id = 1")
                assert typed.rows == [Task(1, date(2026, 12, 24), True)]
                assert typed.rows[0].is_done is True

                await client.transact("UPDATE task SET due = ?, is_done = ? WHERE id = 2", [date(2027, 1, 2), False])
                await tasks.caught_up()
                assert tasks.at(1) == (2, "Sand", date(2027, 1, 2), 1764365405, False)
                assert await tasks.fetch(1, 1) == [(2, "Sand", date(2027, 1, 2), 1764365405, False)]
                await client.transact("UPDATE task SET changed = ? WHERE id = 2", [changed])
                await tasks.caught_up()
                assert tasks.at(1)[3] == changed

                await tasks.requery("person")
                assert tasks.rows == [(1, "Ann", date(1990, 2, 28), "no")]

    run(scenario())
