"""What tests share: a server that says what a test wants, a real one, another process that writes, and a way that breaks."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, Awaitable, Callable, Coroutine, Dict, List, Optional, TypeVar

import pytest
from websockets.asyncio.server import ServerConnection, serve

import freshet

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
IS_LONG = bool(os.environ.get("FRESHET_LONG"))


def run(test: Coroutine[Any, Any, T], seconds: float = 15) -> T:
    """Runs a test, which fails instead of waiting for ever."""

    async def limited() -> T:
        return await asyncio.wait_for(test, seconds)

    return asyncio.run(limited())


async def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    """Waits until a condition holds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not condition():
        assert loop.time() < deadline, "it did not come to be"
        await asyncio.sleep(0.002)


def seeds(count: int) -> List[int]:
    """FRESHET_SEED only, or some random seeds: the name of a failed test has its seed."""
    given = os.environ.get("FRESHET_SEED")
    return [int(given)] if given else [random.randrange(1, 1 << 31) for _ in range(count)]


class Peer:
    """One connection of a client, as the fake server sees it."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    async def next(self, kind: str) -> Dict[str, Any]:
        """The next message, which must be of this type."""
        message = json.loads(await asyncio.wait_for(self.socket.recv(), 10))
        assert message["type"] == kind, message
        return message

    async def send(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def hello(self, epoch: str = "e", **limits: Any) -> None:
        await self.send(type="hello", protocol="freshet.v1", server="fake", epoch=epoch, limits=limits)

    async def snapshot(self, name: str, all_rows: List[List[Any]], version: str = "1", **others: Any) -> None:
        await self.send(**{**snapshot(all_rows, version), "id": name, **others})


def snapshot(rows: List[List[Any]], version: str = "1", commit: int = 1) -> Dict[str, Any]:
    return {
        "type": "snapshot", "id": "1", "version": version, "commit": commit, "columns": ["id", "name"], "key": ["id"], "total": len(rows),
        "sections": [{"name": "", "indexTitle": "", "count": len(rows)}], "offset": 0, "rows": rows, "complete": True,
    }  # fmt: skip


class FakeServer:
    """Takes connections, and gives them to the test one after the other."""

    async def __aenter__(self) -> FakeServer:
        self._peers: asyncio.Queue[Peer] = asyncio.Queue()
        self._server = await serve(self._take, "127.0.0.1", 0, subprotocols=["freshet.v1"], close_timeout=0.2)  # type: ignore[list-item]
        port = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def peer(self, greets: bool = True) -> Peer:
        """The next connection."""
        peer = await asyncio.wait_for(self._peers.get(), 10)
        if greets:
            await peer.hello()
        return peer

    async def _take(self, socket: ServerConnection) -> None:
        self._peers.put_nowait(Peer(socket))
        await socket.wait_closed()


async def connected(server: FakeServer, **options: Any) -> tuple:
    """A client, and the server's end of its connection."""
    client = freshet.connect(server.url, **options)
    _, peer = await asyncio.gather(client, server.peer())
    return client, peer


def quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that connect again at once: what is tested is not how long they wait."""
    for module in ("_connection", "_feed"):
        monkeypatch.setattr(f"freshet.{module}.back_off", lambda failures: 0.01)


# Real servers


def needs_binary() -> pytest.MarkDecorator:
    """Skips where there is no command."""
    path = os.environ.get("FRESHET_BIN")
    return pytest.mark.skipif(not path or not os.path.exists(path), reason="there is no server: name one in FRESHET_BIN")


_WRITER = """
import base64, json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
for line in sys.stdin:
    db.execute("BEGIN IMMEDIATE")
    for sql, parameters in json.loads(line):
        db.execute(sql, [base64.b64decode(each["$blob"]) if isinstance(each, dict) else each for each in parameters])
    db.execute("COMMIT")
    print("done", flush=True)
"""


class Writer:
    """Another process, which writes with Python's own sqlite3."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def write(self, *statements: Any) -> None:
        """One transaction: pairs of SQL and parameters, or SQL. It is committed on return."""
        pairs = [(each, []) if isinstance(each, str) else each for each in statements]
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([[sql, [_plain(each) for each in values]] for sql, values in pairs]) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n", "the writer has ended"

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def _plain(value: Any) -> Any:
    return {"$blob": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def database(path: Path, script: str) -> sqlite3.Connection:
    """A new file in WAL mode, open to read what is there."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(script)
    return connection


class BreakingWay:
    """A proxy to a server whose connections can be broken."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._ends: List[asyncio.StreamWriter] = []
        self._tasks: List[asyncio.Task[None]] = []

    async def __aenter__(self) -> BreakingWay:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """Breaks every connection."""
        ends, self._ends = self._ends, []
        for end in ends:
            end.transport.abort()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.append(writer)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        self._ends.append(back)
        await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while True:
            data = await source.read(65536)
            if not data:
                break
            target.write(data)
            await target.drain()
    except OSError:
        pass
    target.transport.abort()


Check = Callable[[], Awaitable[None]]
Port = Optional[int]
