"""Tokens and roles of a real server."""

import asyncio
import base64
import hashlib
import hmac
import json
import time

import pytest
from support import Writer, database, needs_binary, run, until
from test_live import SCHEMA

import freshet
from freshet import FreshetError

pytestmark = needs_binary()

SECRET = b"0123456789abcdef0123456789abcdef"
CONFIG = """
auth:
  jwt: { algorithm: HS256, secretFile: secret.txt }
roles:
  reader:
    tables:
      well: { rows: "county = :claims_county", columns: [id, name] }
    queries: any
"""


def token(**claims):
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, {"role": "reader", **claims})]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = hmac.new(SECRET, text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


def served(tmp_path):
    database(tmp_path / "wells.sqlite", SCHEMA)
    (tmp_path / "secret.txt").write_bytes(SECRET)
    (tmp_path / "freshet.yaml").write_text(CONFIG)
    return freshet.serve(tmp_path / "wells.sqlite", config=tmp_path / "freshet.yaml")


def test_lists_and_feeds_have_what_the_role_may_read(tmp_path):
    async def test():
        with served(tmp_path) as url, Writer(tmp_path / "wells.sqlite") as writer:
            async with freshet.connect(url, token=token(sub="ann", county="A")) as client:
                wells = await client.subscribe("well")
                assert (wells.columns, wells.total) == (("id", "name"), 10)
                async with client.changes() as feed:
                    writer.write("UPDATE well SET name = 'B' || id WHERE id IN (1, 2, 3, 4)", "UPDATE county SET state = 'XX'")
                    event = await feed.__anext__()
                assert [tuple(each) for each in event.changes] == [("well", "update", {"id": 4}, {"name": "e"}, {"id": 4, "name": "B4"})]
                for refused in (client.subscribe("county"), client.subscribe("well", where="depth > 1")):
                    with pytest.raises(FreshetError) as caught:
                        await refused
                    assert caught.value.code in ("no_such_table", "no_such_column")

    run(test())


def test_wrong_tokens_are_raised(tmp_path):
    async def test():
        with served(tmp_path) as url:
            for wrong in ("nonsense", token(exp=time.time() - 3600), token()[:-3] + "abc"):
                with pytest.raises(FreshetError) as caught:
                    await freshet.connect(url, token=wrong)
                assert caught.value.code == "unauthenticated"
            async with freshet.connect(url) as client:
                with pytest.raises(FreshetError):
                    await client.subscribe("well")

    run(test())


def test_tokens_are_renewed_while_lists_go_on(tmp_path):
    given = []

    async def source():
        given.append(token(sub="ann", county="A", exp=time.time() + 2.5))
        return given[-1]

    async def test():
        with served(tmp_path) as url, Writer(tmp_path / "wells.sqlite") as writer:
            async with freshet.connect(url, token=source) as client:
                wells = await client.subscribe("well")
                statuses = set()
                watching = asyncio.ensure_future(watch(wells, statuses))
                await until(lambda: len(given) >= 3)
                writer.write("UPDATE well SET name = 'late' WHERE id = 4")
                assert (await wells.caught_up()).row(wells.path(4)) == (4, "late")
                watching.cancel()
                assert statuses == {"live"}

    async def watch(live, statuses):
        while True:
            statuses.add(live.status)
            await live.news()

    run(test())
