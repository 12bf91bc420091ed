"""The feed of changes, against a server that says what a test wants."""

import asyncio
import contextlib
import os

import pytest
from support import connected
from test_client import with_server

import freshet
from freshet import Commit, FreshetError, Gap, RowChange


async def fed(server, **options):
    """A feed that has begun at position p0, and the server's end of its connection."""
    client, _ = await connected(server)
    feed = client.changes(**options)
    opening = asyncio.ensure_future(feed.__aenter__())
    peer = await server.peer()
    asked = await peer.next("changes")
    await peer.send(type="changes", id="changes", position="p0")
    await opening
    return client, peer, feed, asked


def commit(number, **members):
    change = {"table": "t", "op": "insert", "key": {"id": number}, "new": {"id": number}}
    return {"type": "changes", "id": "changes", "position": f"p{number}", "commit": number, "commits": 1, "changes": [change], **members}


@with_server
async def test_what_is_asked_and_what_comes(server):
    client, peer, feed, asked = await fed(server, tables="t", columns={"t": ["id"]}, where={"t": "id > 1"})
    assert {name: asked[name] for name in ("tables", "columns", "where")} == {
        "tables": ["t"],
        "columns": {"t": ["id"]},
        "where": {"t": "id > 1"},
    }
    assert ("since" in asked, feed.position) == (False, "p0")
    changes = [
        {"table": "t", "op": "update", "key": {"id": {"$int": str(2**60)}}, "old": {"b": {"$blob": "AA=="}}, "new": {"b": None}},
        {"table": "t", "op": "delete", "key": {"id": 8}, "old": {"b": 1.5}},
        {"table": "t", "op": "schema"},
    ]
    await peer.send(**commit(1, changes=changes, commits=3))
    event = await feed.__anext__()
    assert event == Commit("p1", 1, (
        RowChange("t", "update", {"id": 2**60}, {"b": b"\x00"}, {"b": None}),
        RowChange("t", "delete", {"id": 8}, {"b": 1.5}, None),
        RowChange("t", "schema", None, None, None),
    ), 3)  # fmt: skip
    assert feed.position == "p1"
    await peer.send(type="gap", id="changes", position="p9", reason="too old")
    assert await feed.__anext__() == Gap("p9", "too old")
    await feed.aclose()
    with pytest.raises(StopAsyncIteration):
        await feed.__anext__()
    await client.close()


@with_server
async def test_it_resumes_after_what_was_read_last(server):
    client, peer, feed, _ = await fed(server)
    for number in (1, 2, 3):
        await peer.send(**commit(number))
    assert [(await feed.__anext__()).position for _ in range(2)] == ["p1", "p2"]
    await peer.socket.close()
    # Changes that had come before the connection broke are still read.
    assert (await feed.__anext__()).position == "p3"
    reading = asyncio.ensure_future(feed.__anext__())
    peer = await server.peer()
    assert (await peer.next("changes"))["since"] == "p3"
    await peer.send(**commit(4))
    assert (await reading).position == "p4"
    await client.close()


@with_server
async def test_a_feed_that_is_not_read_stops_reading_the_socket(server):
    client, peer, feed, _ = await fed(server)
    large = commit(1, changes=[{"table": "t", "op": "insert", "key": {"id": 1}, "new": {"id": os.urandom(500_000).hex()}}])
    sent = 0
    with contextlib.suppress(asyncio.TimeoutError):
        while sent < 100:
            await asyncio.wait_for(peer.send(**large), 0.5)
            sent += 1
    assert sent < 100
    assert (await feed.__anext__()).commit == 1
    await feed.aclose()
    await client.close()


@with_server
async def test_without_a_block_it_begins_when_it_is_read(server):
    client, _ = await connected(server)
    feed = client.changes(since="p5")
    reading = asyncio.ensure_future(feed.__anext__())
    peer = await server.peer()
    assert (await peer.next("changes"))["since"] == "p5"
    await peer.send(**commit(6))
    assert (await reading).position == "p6"
    await feed.aclose()
    await client.close()


@with_server
async def test_giving_up_a_read_loses_nothing(server):
    client, peer, feed, _ = await fed(server)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(feed.__anext__(), 0.05)
    await peer.send(**commit(1))
    assert (await feed.__anext__()).position == "p1"
    await feed.aclose()
    await client.close()


@with_server
async def test_a_refused_feed_is_raised(server):
    client, _ = await connected(server)
    feed = client.changes(tables=["secret"])
    opening = asyncio.ensure_future(feed.__aenter__())
    peer = await server.peer()
    await peer.next("changes")
    await peer.send(type="error", id="changes", code="no_such_table", message="no such table: secret", retryable=False, fatal=True)
    with pytest.raises(FreshetError, match="secret"):
        await opening
    await client.close()


@with_server
async def test_a_feed_has_its_own_token(server):
    client = freshet.connect(server.url, token=lambda: "abc")
    feed = client.changes(since="p1")
    reading = asyncio.ensure_future(feed.__anext__())
    peer = await server.peer()
    sent = await peer.next("authenticate")
    assert sent["token"] == "abc"
    await peer.next("changes")
    await peer.send(type="authenticated", id=sent["id"], role="reader", expires=None)
    await peer.send(**commit(2))
    assert (await reading).position == "p2"
    await feed.aclose()
