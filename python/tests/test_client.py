"""The client, against a server that says what a test wants."""

import asyncio
import time

import pytest
from support import FakeServer, connected, quick_back_off, run, until

import freshet
from freshet import FreshetError, Window
from freshet._refusal import back_off
from freshet._socket import live_address

ROWS = [[1, "ash"], [2, "oak"]]


def with_server(test):
    """A test that is a coroutine function of a fake server, and perhaps of pytest's `monkeypatch`."""

    def wrapped(monkeypatch):
        quick_back_off(monkeypatch)

        async def body():
            async with FakeServer() as server:
                await test(server)

        run(body())

    wrapped.__doc__ = test.__doc__
    return wrapped


async def live(server, **options):
    """A client, the server's end, and a list that has its rows."""
    client, peer = await connected(server)
    banks = client.subscribe("bank", **options)
    subscribed = await peer.next("subscribe")
    window = subscribed.get("window")
    await peer.snapshot("1", ROWS, **({"window": window, "rows": ROWS[: window["limit"]]} if window else {}))
    await banks
    return client, peer, banks


def patch(before, after, **members):
    return {"type": "patch", "id": "1", "from": before, "to": after, "commit": int(after), "total": 2, **members}


# Connecting


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8080", "ws://127.0.0.1:8080/v1/live"),
        ("https://lists.example/app/?access_token=x", "wss://lists.example/app/v1/live?access_token=x"),
        ("ws://h/v1/live", "ws://h/v1/live"),
    ],
)
def test_the_address_of_the_socket(url, address):
    assert live_address(url) == address


def test_the_address_of_one_of_several_databases():
    assert live_address("http://h/app/", "tenants/a b") == "ws://h/app/db/tenants%2Fa%20b/v1/live"
    assert live_address("wss://h/v1/live", "acme") == "wss://h/db/acme/v1/live"


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://h/", "app.sqlite"])
def test_what_is_no_address(url):
    with pytest.raises(ValueError, match="no address"):
        freshet.connect(url)


def test_delays_grow_and_have_jitter():
    assert all(0.125 <= back_off(1) <= 0.25 and 7.5 <= back_off(60) <= 15 for _ in range(100))
    assert len({back_off(3) for _ in range(10)}) > 1


def test_nothing_answers():
    async def test():
        with pytest.raises(FreshetError, match=r"nothing answers at ws://127\.0\.0\.1:1/v1/live") as caught:
            await freshet.connect("http://127.0.0.1:1")
        assert (caught.value.code, caught.value.retryable) == ("unreachable", True)

    run(test())


def test_a_server_that_starts_later_is_waited_for(monkeypatch):
    quick_back_off(monkeypatch)

    async def test():
        async with FakeServer() as server:
            url = server.url
        client = freshet.connect(url, timeout=20)
        opening = asyncio.ensure_future(client._open())
        await asyncio.sleep(0.1)
        assert (opening.done(), client.status) == (False, "reconnecting")
        opening.cancel()
        await asyncio.wait([opening])
        assert client.status == "closed"

    run(test())


@with_server
async def test_leaving_the_block_closes_everything(server):
    client, peer = await connected(server)
    async with client:
        banks = client.subscribe("bank")
        await peer.next("subscribe")
        waiting = asyncio.ensure_future(banks.locate(1))
        await asyncio.sleep(0)
    assert (client.status, banks.status) == ("closed", "closed")
    with pytest.raises(FreshetError) as caught:
        await waiting
    assert caught.value.code == "closed"
    assert [change async for change in banks] == []
    for ask in (banks.locate(1), client.ping()):
        with pytest.raises(FreshetError):
            await ask
    assert client.subscribe("bank").status == "closed"
    await peer.socket.wait_closed()


# Lists


@with_server
async def test_a_list_and_its_changes(server):
    client, peer, banks = await live(server, order_by=["name"], rows=dict)
    assert (banks.rows, banks.total, banks.status, banks.version) == ([{"id": 1, "name": "ash"}, {"id": 2, "name": "oak"}], 2, "live", "1")
    changes = banks.__aiter__()
    first = await changes.__anext__()
    assert (first.kind, first.before, first.patch, first.state) == ("snapshot", None, None, banks.state)
    sent = patch("1", "2", updated=[[[0, 1], [0, 1], {"name": "elm"}]])
    await peer.send(**sent)
    second = await changes.__anext__()
    assert (second.kind, second.patch, second.before, second.state.rows[1]) == ("patch", sent, first.state, {"id": 2, "name": "elm"})
    banks.close()
    with pytest.raises(StopAsyncIteration):
        await changes.__anext__()
    await peer.next("unsubscribe")
    await client.close()


@with_server
async def test_a_slow_reader_sees_the_newest_state_alone(server):
    client, peer, banks = await live(server)
    changes = banks.__aiter__()
    first = await changes.__anext__()
    for version in range(2, 500):
        await peer.send(**patch(str(version - 1), str(version), updated=[[[0, 0], [0, 0], {"name": str(version)}]]))
    await until(lambda: banks.version == "499")
    change = await changes.__anext__()
    assert (change.kind, change.message, change.before, change.state) == ("several", None, first.state, banks.state)
    assert change.differences().updated == [((1, "ash"), (1, "499"))]
    await client.close()


@with_server
async def test_a_patch_that_does_not_fit_is_answered_with_resync(server):
    client, peer, banks = await live(server)
    await peer.send(**patch("x", "2"))
    await peer.next("resync")
    await peer.send(**patch("1", "3", deleted=[[0, 0]], total=1))
    await peer.snapshot("1", [[3, "fir"]], "4")
    await until(lambda: banks.version == "4")
    assert banks.rows == [(3, "fir")]
    await client.close()


@with_server
async def test_a_snapshot_in_parts_is_shown_when_it_is_whole(server):
    client, peer, banks = await live(server)
    await peer.snapshot("1", ROWS, "2", rows=[[1, "ASH"]], complete=False)
    await peer.send(type="pong", id="nothing")
    assert banks.rows == [(1, "ash"), (2, "oak")]
    await peer.send(type="rows", id="1", version="2", offset=1, rows=[[2, "OAK"]], complete=True)
    await until(lambda: banks.version == "2")
    assert banks.rows == [(1, "ASH"), (2, "OAK")]
    await client.close()


@with_server
async def test_it_resumes_from_its_version(server):
    client, peer, banks = await live(server, window=(0, 5))
    await peer.socket.close()
    peer = await server.peer()
    again = await peer.next("subscribe")
    assert (again["since"], again["window"], banks.status) == ("1", {"offset": 0, "limit": 5}, "reconnecting")
    await peer.send(**patch("1", "2", updated=[[[0, 0], [0, 0], {"name": "elm"}]]))
    await until(lambda: banks.status == "live")
    assert banks.rows[0] == (1, "elm")
    await client.close()


@with_server
async def test_a_state_from_before_is_resumed_by_another_client(server):
    client, peer, banks = await live(server)
    kept = banks.state
    await client.close()
    client, peer = await connected(server)
    banks = client.subscribe("bank", since=kept, rows=dict)
    assert (await peer.next("subscribe"))["since"] == "1"
    await peer.send(**patch("1", "2", deleted=[[0, 0]], total=1))
    await banks
    assert (banks.rows, kept.rows) == ([{"id": 2, "name": "oak"}], [(1, "ash"), (2, "oak")])
    await client.close()


@with_server
async def test_a_refused_query_is_raised(server):
    client, peer = await connected(server)
    banks = client.subscribe("nowhere")
    waiting = asyncio.ensure_future(banks.fetch(0, 1))
    await peer.next("subscribe")
    await peer.send(type="error", id="1", code="no_such_table", message="no such table: nowhere", retryable=False, fatal=True)
    for task in (banks._answered(), waiting, banks.__aiter__().__anext__()):
        with pytest.raises(FreshetError, match="no such table: nowhere") as caught:
            await task
        assert (caught.value.code, caught.value.retryable, caught.value.fatal) == ("no_such_table", False, True)
    assert banks.status == "failed"
    again = asyncio.ensure_future(banks.requery("bank"))
    assert (await peer.next("subscribe"))["query"] == {"from": "bank"}
    await peer.snapshot("1", ROWS)
    assert (await again).rows == [(1, "ash"), (2, "oak")]
    assert banks.query == {"from": "bank"}
    await client.close()


@with_server
async def test_a_query_that_the_server_cannot_read_is_raised(server):
    client, peer = await connected(server)
    banks = client.subscribe("bank", order_by=["name"])
    await peer.next("subscribe")
    message = "query.orderby is no member of a query: did you mean orderBy?"
    await peer.send(type="error", id="1", code="bad_query", message=message, retryable=False, fatal=False)
    with pytest.raises(FreshetError, match="did you mean orderBy"):
        await asyncio.wait_for(banks.__aiter__().__anext__(), 10)
    assert banks.status == "failed"
    await client.close()


@with_server
async def test_what_may_succeed_later_is_tried_again(server):
    client, peer, banks = await live(server)
    await peer.send(type="error", id="1", code="no_such_table", message="no such table: bank", retryable=False, fatal=True)
    await until(lambda: banks.status == "waiting")
    assert (banks.error.code, banks.rows) == ("no_such_table", [(1, "ash"), (2, "oak")])
    assert (await peer.next("subscribe"))["since"] == "1"
    await peer.snapshot("1", ROWS, "2")
    await until(lambda: banks.status == "live")
    assert banks.error is None
    await client.close()


@with_server
async def test_a_row_type_that_does_not_fit_ends_the_list(server):
    class Bank:
        def __init__(self, depth):
            pass

    client, peer = await connected(server)
    banks = client.subscribe("bank", rows=Bank)
    await peer.next("subscribe")
    await peer.snapshot("1", ROWS)
    with pytest.raises(FreshetError, match="Bank needs depth, and the list has id, name"):
        await banks
    await peer.next("unsubscribe")
    await client.close()


# Requests


@with_server
async def test_the_last_window_wanted_is_next(server):
    client, peer, banks = await live(server, window=(0, 1))
    windows = [asyncio.ensure_future(banks.window(offset, 1)) for offset in range(5)]
    assert (await peer.next("window"))["offset"] == 0
    await peer.send(type="rows", id="1", version="1", window={"offset": 0, "limit": 1}, offset=0, rows=[], complete=True)
    assert (await peer.next("window"))["offset"] == 4
    await peer.send(type="rows", id="1", version="1", window={"offset": 4, "limit": 1}, offset=2, rows=[], complete=True)
    states = await asyncio.gather(*windows)
    assert (states[0].window, {state.window for state in states[1:]}) == (Window(0, 1), {Window(4, 1)})
    await client.close()


@with_server
async def test_a_window_that_is_no_longer_awaited_disturbs_nothing(server):
    client, peer, banks = await live(server, window=(0, 1))
    given_up = asyncio.ensure_future(banks.window(1, 1))
    await peer.next("window")
    awaited = [asyncio.ensure_future(banks.window(0, 2)) for _ in range(2)]
    await asyncio.sleep(0)
    given_up.cancel()
    awaited[0].cancel()
    await peer.send(type="rows", id="1", version="1", window={"offset": 1, "limit": 1}, offset=1, rows=[[2, "oak"]], complete=True)
    await peer.next("window")
    await peer.send(type="rows", id="1", version="1", window={"offset": 0, "limit": 2}, offset=0, rows=ROWS, complete=True)
    assert (await awaited[1]).rows == [(1, "ash"), (2, "oak")]
    await client.close()


@with_server
async def test_fetch_and_locate_leave_the_list_as_it_is(server):
    client, peer, banks = await live(server, rows=dict)
    fetching, locating = asyncio.ensure_future(banks.fetch(7, 2)), asyncio.ensure_future(banks.locate(b"\x00"))
    fetch, locate = await peer.next("fetch"), await peer.next("locate")
    assert (fetch["offset"], fetch["limit"], locate["key"]) == (7, 2, {"$blob": "AA=="})
    await peer.send(type="rows", id="1", version="1", offset=7, rows=[[8, "fir"]], complete=False)
    await peer.send(type="rows", id="1", version="1", offset=8, rows=[[9, {"$blob": "/w=="}]], complete=True)
    await peer.send(type="located", id="1", key=0, path=[0, 3], offset=3)
    assert await fetching == [{"id": 8, "name": "fir"}, {"id": 9, "name": b"\xff"}]
    assert await locating == ((0, 3), 3)
    assert banks.total == 2
    await client.close()


@with_server
async def test_a_requery_is_answered_by_what_is_read_after_it(server):
    client, peer, banks = await live(server)
    asked = asyncio.ensure_future(banks.requery("bank", order_by=["name DESC"], window=(0, 9)))
    message = await peer.next("requery")
    assert message["query"] == {"from": "bank", "orderBy": ["name DESC"]}
    await peer.next("fetch")
    await peer.send(**patch("1", "2", updated=[[[0, 0], [0, 0], {"name": "elm"}]]))
    await peer.send(**patch("2", "3", moved=[[[0, 0], [0, 1], {}]], window={"offset": 0, "limit": 9}))
    await until(lambda: banks.version == "3")
    assert not asked.done()
    await peer.send(type="rows", id="1", version="3", offset=0, rows=[], complete=True)
    assert (await asked).rows == [(2, "oak"), (1, "elm")]
    assert banks.query["orderBy"] == ["name DESC"]
    refused = asyncio.ensure_future(banks.requery("bank", where="nonsense"))
    await peer.next("requery")
    await peer.next("fetch")
    await peer.send(type="error", id="1", code="bad_query", message="no", retryable=False, fatal=False)
    await peer.send(type="rows", id="1", version="3", offset=0, rows=[], complete=True)
    with pytest.raises(FreshetError):
        await refused
    assert (banks.status, banks.query["orderBy"]) == ("live", ["name DESC"])
    await client.close()


@with_server
async def test_what_was_not_answered_is_asked_again_on_the_next_connection(server):
    client, peer, banks = await live(server)
    asked = [asyncio.ensure_future(each) for each in (banks.fetch(0, 1), banks.locate(2), banks.requery("bank", where="id > 1"))]
    await peer.next("fetch")
    await peer.socket.close()
    peer = await server.peer()
    again = await peer.next("subscribe")
    assert (again["query"], "since" in again) == ({"from": "bank", "where": "id > 1"}, False)
    await peer.snapshot("1", ROWS[1:], "2")
    await peer.next("fetch")
    await peer.send(type="rows", id="1", version="2", offset=0, rows=[[2, "oak"]], complete=True)
    await peer.next("locate")
    await peer.send(type="located", id="1", key=2, path=None, offset=None)
    fetched, located, state = await asyncio.gather(*asked)
    assert (fetched, located, state.rows) == ([(2, "oak")], (None, None), [(2, "oak")])
    await client.close()


# Transactions


async def with_memory(server):
    client = freshet.connect(server.url)
    opening = asyncio.ensure_future(client._open())
    peer = await server.peer(greets=False)
    await peer.hello("e", transactionMemory=1000)
    await opening
    return client, peer


@with_server
async def test_a_transaction_and_its_results(server):
    client, peer = await connected(server)
    writing = asyncio.ensure_future(client.transact("INSERT INTO t VALUES (?, ?) RETURNING *", [2**60, b"\x00"]))
    sent = await peer.next("transact")
    assert sent["statements"] == [{"sql": "INSERT INTO t VALUES (?, ?) RETURNING *", "params": [{"$int": str(2**60)}, {"$blob": "AA=="}]}]
    result = {
        "changes": 1,
        "lastInsertRowid": {"$int": str(2**60)},
        "columns": ["a", "b"],
        "rows": [[{"$int": str(2**60)}, {"$blob": "AA=="}]],
    }
    await peer.send(type="committed", id=sent["id"], changes=1, commit=7, results=[result])
    committed = await writing
    assert (committed.changes, committed.commit) == (1, 7)
    assert committed.results[0] == (1, 2**60, ("a", "b"), [(2**60, b"\x00")])
    refused = asyncio.ensure_future(client.transact("INSERT INTO t VALUES (1)"))
    sent = await peer.next("transact")
    await peer.send(type="error", id=sent["id"], code="constraint", message="UNIQUE constraint failed", retryable=False, fatal=False)
    with pytest.raises(FreshetError, match="UNIQUE") as caught:
        await refused
    assert caught.value.code == "constraint"
    await client.close()


async def begun(client):
    """The task that opens the client, which has begun to."""
    opening = asyncio.ensure_future(client._open())
    await asyncio.sleep(0)
    return opening


@with_server
async def test_a_transaction_waits_for_the_first_connection(server):
    client = freshet.connect(server.url)
    opening = await begun(client)
    writing = asyncio.ensure_future(client.transact("UPDATE t SET a = 1"))
    pinging = asyncio.ensure_future(client.ping())
    peer = await server.peer(greets=False)
    await peer.hello("e", transactionMemory=1000)
    sent = await peer.next("transact")
    # It is named, which only the greeting allows.
    assert sent["once"]
    await peer.send(type="committed", id=sent["id"], changes=1, commit=7, results=[])
    assert (await writing).commit == 7
    ping = await peer.next("ping")
    await peer.send(type="pong", id=ping["id"])
    assert await pinging >= 0
    await opening
    await client.close()


def test_a_transaction_fails_with_the_first_connection():
    async def body():
        client = freshet.connect("http://127.0.0.1:1")
        opening = await begun(client)
        with pytest.raises(FreshetError) as caught:
            await client.transact("UPDATE t SET a = 1")
        assert caught.value.code == "unreachable"
        with pytest.raises(FreshetError):
            await opening

    run(body())


@with_server
async def test_closing_ends_the_wait_for_the_first_connection(server):
    client = freshet.connect(server.url)
    opening = await begun(client)
    writing = asyncio.ensure_future(client.transact("UPDATE t SET a = 1"))
    await server.peer(greets=False)
    await client.close()
    for waiting in (writing, opening):
        with pytest.raises(FreshetError) as caught:
            await waiting
        assert caught.value.code == "closed"


def test_a_client_that_was_not_opened_says_so():
    async def body():
        with pytest.raises(FreshetError, match="async with") as caught:
            await freshet.connect("http://127.0.0.1:1").transact("UPDATE t SET a = 1")
        assert caught.value.code == "disconnected"

    run(body())


@with_server
async def test_a_lost_answer_is_asked_for_under_the_same_name(server):
    client, peer = await with_memory(server)
    writing = asyncio.ensure_future(client.transact("UPDATE t SET a = 1"))
    first = await peer.next("transact")
    await peer.socket.close()
    peer = await server.peer(greets=False)
    await peer.hello("e", transactionMemory=1000)
    again = await peer.next("transact")
    assert again == first
    await peer.send(type="committed", id=again["id"], changes=1, commit=7, results=[])
    assert (await writing).commit == 7
    await client.close()


@with_server
async def test_a_restarted_server_does_not_know_the_name(server):
    client, peer = await with_memory(server)
    writing = asyncio.ensure_future(client.transact("UPDATE t SET a = 1"))
    await peer.next("transact")
    await peer.socket.close()
    peer = await server.peer(greets=False)
    await peer.hello("another", transactionMemory=1000)
    with pytest.raises(FreshetError) as caught:
        await writing
    assert caught.value.code == "outcome_unknown"
    await client.close()


@with_server
async def test_without_names_a_lost_answer_is_an_error(server):
    client, peer = await connected(server)
    writing = asyncio.ensure_future(client.transact("UPDATE t SET a = 1"))
    await peer.next("transact")
    await peer.socket.close()
    with pytest.raises(FreshetError, match="it may have been done") as caught:
        await writing
    assert caught.value.code == "disconnected"
    await client.close()


# Tokens


def authenticating(token):
    """A test's client with a token, and the server's end once it has authenticated."""

    async def opened(server, expires=None):
        client = freshet.connect(server.url, token=token)
        opening = asyncio.ensure_future(client._open())
        peer = await server.peer()
        sent = await peer.next("authenticate")
        await peer.send(type="authenticated", id=sent["id"], role="reader", expires=expires)
        await opening
        return client, peer, sent["token"]

    return opened


@with_server
async def test_a_token_is_the_first_message(server):
    client, peer, token = await authenticating("abc")(server)
    assert token == "abc"
    client.subscribe("bank")
    await peer.next("subscribe")
    await client.close()


@with_server
async def test_a_refused_token_is_raised(server):
    client = freshet.connect(server.url, token="old")
    opening = asyncio.ensure_future(client._open())
    peer = await server.peer()
    sent = await peer.next("authenticate")
    await peer.send(type="error", id=sent["id"], code="unauthenticated", message="The token has expired.", retryable=False, fatal=False)
    with pytest.raises(FreshetError, match="expired") as caught:
        await opening
    assert caught.value.code == "unauthenticated"


@with_server
async def test_a_source_of_tokens_is_asked_before_one_expires(server):
    given = iter(["first", "second", "third"])

    async def source():
        return next(given)

    client, peer, token = await authenticating(source)(server, expires=time.time() + 1.2)
    assert token == "first"
    again = await peer.next("authenticate")
    assert again["token"] == "second"
    await peer.send(type="authenticated", id=again["id"], role="reader", expires=None)
    await peer.send(type="error", code="unauthenticated", message="The token has expired.", retryable=False, fatal=False)
    assert (await peer.next("authenticate"))["token"] == "third"
    await client.close()


@with_server
async def test_a_source_that_fails_is_no_connection(server):
    def source():
        raise RuntimeError("the vault is closed")

    with pytest.raises(FreshetError, match="the vault is closed") as caught:
        await freshet.connect(server.url, token=source)
    assert caught.value.code == "unauthenticated"
