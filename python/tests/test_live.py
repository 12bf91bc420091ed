"""Against a real server: another process writes at random, and what lists hold is what SQLite selects."""

import asyncio
import os
import random
import ssl
import subprocess
import sys
from dataclasses import dataclass

import pytest
from support import IS_LONG, BreakingWay, Writer, database, needs_binary, quick_back_off, run, seeds, until

import freshet
from freshet import FreshetError, Window

pytestmark = needs_binary()

SCHEMA = """CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT, depth INTEGER, county TEXT, core BLOB);
CREATE TABLE county(name TEXT PRIMARY KEY, state TEXT);
INSERT INTO county VALUES ('A', 'CO'), ('B', 'CO'), ('C', 'GA'), ('D', NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO well SELECT i, char(97 + i % 10), i, char(65 + i % 4), NULL FROM n;"""
HUGE = 2**60


@dataclass
class Well:
    id: int
    name: str
    depth: int


class Watched:
    """A list, and the SELECTs that say what it must hold."""

    def __init__(self, live, rows, sections=None, where="1", make=tuple):
        self.live, self.rows, self.sections, self.where, self.make = live, rows, sections, where, make

    def check(self, db):
        state = self.live.state
        window = state.window or Window(0, 10**9)
        selected = db.execute(self.rows).fetchall()
        assert list(state.rows) == [self.make(row) for row in selected[window.offset : window.offset + window.limit]]
        assert state.total == len(selected)
        if self.sections:
            assert [(each.name, each.count, each.totals) for each in state.sections] == [
                (name, count, {"n": count, "feet": feet}) for name, count, feet in db.execute(self.sections)
            ]
            assert state.totals == {"n": len(selected), "feet": db.execute(f"SELECT sum(depth) FROM well WHERE {self.where}").fetchone()[0]}
        for offset, row in state.entries():
            assert state.offset_of(state.path_of(offset)) == offset
            assert state.row(state.path_of(offset)) == row


def watched(client, windows):
    parts = {"section_by": "county", "order_by": ["name"], "totals": {"n": "count(*)", "feet": "sum(depth)"}}
    rows = "SELECT id, name, depth, core FROM well WHERE {} ORDER BY county, name, id"
    sections = "SELECT county, count(*), sum(depth) FROM well WHERE {} GROUP BY county ORDER BY county"

    def of(where, **options):
        live = client.subscribe("well", select=["id", "name", "depth", "core"], where=where, **parts, **options)
        return Watched(live, rows.format(where), sections.format(where), where)

    lists = [of("1", window=window) for window in windows] + [of("depth % 2 = 0")]
    join = client.subscribe(
        "well JOIN county ON county.name = well.county", select=["well.id", "well.name", "depth"], where="state = :state",
        params={"state": "CO"}, order_by=["depth DESC"], rows=Well,
    )  # fmt: skip
    select = (
        "SELECT well.id, well.name, depth FROM well JOIN county ON county.name = well.county "
        "WHERE state = 'CO' ORDER BY depth DESC, well.id"
    )
    return [*lists, Watched(join, select, make=lambda row: Well(*row))]


def statement(numbers):
    key, county, name = numbers.randrange(1, 60), numbers.choice("ABCDE"), numbers.choice("abcdefghij")
    depth = numbers.choice([numbers.randrange(100), HUGE + numbers.randrange(5), -HUGE])
    return numbers.choice([
        ("UPDATE well SET depth = ? WHERE id = ?", [numbers.randrange(100), key]),
        ("UPDATE well SET depth = ? WHERE id = ?", [depth if key < 4 else key, key]),
        ("UPDATE well SET core = ? WHERE id = ?", [numbers.choice([None, b"", bytes([key, 255])]), key]),
        ("UPDATE well SET county = ? WHERE id = ?", [county, key]),
        ("UPDATE well SET name = ? WHERE id % 9 = ?", [name, key % 9]),
        ("UPDATE OR REPLACE well SET id = id + 1 WHERE id = ?", [key]),
        ("DELETE FROM well WHERE id = ?", [key]),
        ("INSERT OR REPLACE INTO well VALUES (?, ?, ?, ?, NULL)", [key, name, numbers.randrange(100), county]),
        ("DELETE FROM well WHERE county = ?", [county]),
        ("UPDATE county SET state = ? WHERE name = ?", [numbers.choice(["CO", "GA", None]), county]),
    ])  # fmt: skip


async def step(numbers, writer, db, lists):
    """Some commits, something asked of a list, and all of them compared."""
    for _ in range(numbers.randrange(1, 4)):
        writer.write(*[statement(numbers) for _ in range(numbers.randrange(1, 4))])
    one = numbers.choice(lists)
    if one.live.state.window and numbers.random() < 0.4:
        wanted = (numbers.randrange(45), numbers.randrange(12))
        assert (await one.live.window(*wanted)).window == wanted
    await asyncio.gather(*(each.live.caught_up() for each in lists))
    for each in lists:
        each.check(db)
    rows = [one.make(row) for row in db.execute(one.rows)]
    assert await one.live.fetch(3, 4) == rows[3:7]
    key = numbers.randrange(1, 60)
    offset = next((index for index, row in enumerate(rows) if (row.id if isinstance(row, Well) else row[0]) == key), None)
    assert await one.live.locate(key) == (None if offset is None else one.live.state.path_of(offset), offset)


async def read(live, seen):
    """A loop that sees each change: each leads from the state before, and its patch says so."""
    last = None
    async for change in live:
        assert change.before is last
        if change.patch:
            assert (change.patch["from"], change.patch["to"]) == (last.version, change.state.version)
        last = change.state
        seen.append(change.kind)


@pytest.mark.parametrize("seed", seeds(20 if IS_LONG else 3))
def test_random_commits(tmp_path, seed):
    path = tmp_path / "wells.sqlite"
    numbers = random.Random(seed)

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with freshet.connect(url) as client:
                lists = watched(client, [None, (0, 7), (9, 5), (30, 100), (0, 0)])
                seen = []
                reading = asyncio.ensure_future(read(await lists[0].live, seen))
                for each in lists:
                    await each.live
                for _ in range(200 if IS_LONG else 40):
                    await step(numbers, writer, db, lists)
                await client.close()
                await reading
                assert "patch" in seen

    db = database(path, SCHEMA)
    run(test(), 120)


@pytest.mark.parametrize("seed", seeds(5 if IS_LONG else 1))
def test_random_commits_over_broken_connections_and_restarts(tmp_path, seed, monkeypatch):
    path = tmp_path / "wells.sqlite"
    numbers = random.Random(seed)
    quick_back_off(monkeypatch)

    async def test():
        server = freshet.serve(path)
        port = int(server.url.rsplit(":", 1)[1])
        async with BreakingWay(port) as way:
            with Writer(path) as writer:
                async with freshet.connect(way.url) as client:
                    lists = watched(client, [None, (0, 7), (9, 5)])
                    for each in lists:
                        await each.live
                    for turn in range(60 if IS_LONG else 16):
                        way.cut()
                        if turn % 8 == 7:
                            await asyncio.to_thread(server.stop)
                            writer.write(statement(numbers))
                            server = freshet.serve(path, port=port)
                        await step(numbers, writer, db, lists)
        server.stop()

    db = database(path, SCHEMA)
    run(test(), 120)


def test_requery_from_random_query_to_random_query(tmp_path):
    path = tmp_path / "wells.sqlite"
    numbers = random.Random(7)

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with freshet.connect(url) as client:
                live = await client.subscribe("well", select=["id", "name"])
                for turn in range(30):
                    order, least = numbers.choice(["name", "name DESC", "depth", "county"]), numbers.randrange(30)
                    if turn == 15:
                        with pytest.raises(FreshetError, match="nonsense"):
                            await live.requery("well", select=["id", "name"], where="nonsense > 1")
                    writer.write(statement(numbers))
                    await live.requery("well", select=["id", "name"], where="depth > :least", params={"least": least}, order_by=order)
                    select = f"SELECT id, name FROM well WHERE depth > ? ORDER BY {order}, id"
                    assert list(live.rows) == db.execute(select, [least]).fetchall()

    db = database(path, SCHEMA)
    run(test())


def test_transactions_and_values(tmp_path):
    path = tmp_path / "wells.sqlite"

    async def test():
        with freshet.serve(path, allow_writes=True) as url:
            async with freshet.connect(url) as client:
                assert client.hello["protocol"] == "freshet.v1"
                assert await client.ping() < 5
                blob = bytes(range(256))
                live = await client.subscribe("well", where="id > 100", alongside={"most": "SELECT max(id) FROM well"}, rows=dict)
                insert = "INSERT INTO well VALUES (:id, :name, 0.5, NULL, :core) RETURNING id, core"
                done = await client.transact([(insert, {"id": HUGE, "name": "é\x00", "core": blob}), "SELECT 9e999, -9e999"])
                assert (done.changes, done.results[0].rows, done.results[0].last_insert_rowid) == (1, [(HUGE, blob)], HUGE)
                assert done.results[1].rows == [(float("inf"), float("-inf"))]
                state = await live.caught_up()
                assert state.commit >= done.commit
                assert state.rows == [{"id": HUGE, "name": "é\x00", "depth": 0.5, "county": None, "core": blob}]
                assert live.alongside == {"most": HUGE}
                assert await live.locate(HUGE) == ((0, 0), 0)
                with pytest.raises(FreshetError) as caught:
                    await client.transact("INSERT INTO well(id) VALUES (?)", [HUGE])
                assert (caught.value.code, caught.value.retryable) == ("constraint", False)
                with pytest.raises(FreshetError) as caught:
                    await client.subscribe("well", where="nonsense")
                assert caught.value.code in ("no_such_column", "bad_query")

    database(path, SCHEMA)
    run(test())


def test_a_table_that_is_altered_and_comes_back(tmp_path):
    path = tmp_path / "wells.sqlite"

    async def test():
        with Writer(path) as writer, freshet.serve(path) as url:
            async with freshet.connect(url) as client:
                live = await client.subscribe("well", select=["id", "name"])
                writer.write("ALTER TABLE well RENAME TO old_well")
                await until(lambda: live.status == "waiting")
                assert (live.error.code, live.total) == ("schema_changed", 40)
                writer.write("ALTER TABLE old_well RENAME TO well", "DELETE FROM well WHERE id > 1")
                await until(lambda: live.status == "live")
                assert (list(live.rows), live.error) == ([(1, "b")], None)

    database(path, SCHEMA)
    run(test())


def test_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "wells.sqlite"

    async def test():
        with freshet.serve(path) as url:
            async with freshet.connect(url) as client:
                live = await client.subscribe("well", select=["name", "depth"], order_by=["depth DESC"], window=(0, 3))
                frame = live.to_pandas()
                assert list(frame.columns) == ["name", "depth"]
                assert frame.index.name == "id"
                assert frame["depth"].tolist() == [40, 39, 38]
                wanted = pandas.read_sql("SELECT id, name, depth FROM well ORDER BY depth DESC LIMIT 3", db, index_col="id")
                pandas.testing.assert_frame_equal(frame, wanted)

    db = database(path, SCHEMA)
    run(test())


def test_a_server_that_does_not_start(tmp_path):
    with pytest.raises(FreshetError, match=r"nothere\.sqlite") as caught:
        freshet.serve(tmp_path / "nothere.sqlite")
    assert caught.value.code == "server_failed"


def test_a_server_stops_with_its_block(tmp_path):
    database(tmp_path / "a.sqlite", SCHEMA)
    server = freshet.serve(tmp_path / "a.sqlite")
    process = server._process
    with server as url:
        assert str(server) == url
        assert repr(server) == f"<Server at {url}>"
        assert "sqlite" in server.log
        assert process.poll() is None
    assert process.poll() is not None
    server.stop()


def test_the_path_may_name_a_file_that_looks_like_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    database("-odd.sqlite", SCHEMA)
    with freshet.serve(os.path.join(".", "-odd.sqlite")) as url:
        assert url.startswith("http://127.0.0.1:")


def test_a_server_ends_with_a_program_that_is_killed(tmp_path):
    database(tmp_path / "a.sqlite", SCHEMA)
    program = f"import freshet, time; server = freshet.serve({str(tmp_path / 'a.sqlite')!r}); print(server.url, flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()

    async def test():
        for _ in range(200):
            try:
                async with freshet.connect(url):
                    await asyncio.sleep(0.05)
            except FreshetError as error:
                assert error.code in ("unreachable", "disconnected")
                return
        raise AssertionError("the server is still there")

    run(test())


def test_certificates_of_ones_own(tmp_path):
    database(tmp_path / "a.sqlite", SCHEMA)
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *kind, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)

    async def test():
        with freshet.serve(tmp_path / "a.sqlite", arguments=["--tls-cert", certificate, "--tls-key", key]) as url:
            assert url.startswith("https://")
            with pytest.raises(FreshetError, match="certificate") as caught:
                await freshet.connect(url)
            assert caught.value.code == "unreachable"
            trusted = ssl.create_default_context(cafile=certificate)
            async with freshet.connect(url, ssl=trusted, headers={"X-Test": "1"}) as client:
                assert (await client.subscribe("well")).total == 40

    run(test())
