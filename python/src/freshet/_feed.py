"""Every change of the file's rows, commit by commit: docs/protocol.md, 4.1."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, AsyncIterator, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from ._errors import FreshetError
from ._refusal import back_off, failures_of, refusal_of
from ._socket import Door, TokenSource, dial, parsed
from ._token import TokenKeeper
from ._values import Message, decoded_members, encoded

_log = logging.getLogger("freshet")
_ID = "changes"


class RowChange(NamedTuple):
    """A change of one row."""

    table: str
    #: `insert`, `update` or `delete`; `schema` when the table was altered or dropped, without a row.
    op: str
    #: Values of the primary key by column.
    key: Optional[Dict[str, Any]]
    #: The former row: the changed columns of an update, all known columns of a deletion; None where it is unknown.
    old: Optional[Dict[str, Any]]
    #: All columns that were asked for; None for a deletion.
    new: Optional[Dict[str, Any]]


class Commit(NamedTuple):
    """The changes of one commit."""

    #: `changes(since=position)` goes on after it.
    position: str
    #: The number that lists have as theirs.
    commit: int
    changes: Tuple[RowChange, ...]
    #: More than 1 where several commits could only be seen together: then each row's first and last state count.
    commits: int = 1


class Gap(NamedTuple):
    """Changes before `position` are unknown: read what you need anew, and go on from there."""

    position: str
    reason: str


def feed_message(
    tables: Optional[Sequence[str]],
    columns: Optional[Mapping[str, Sequence[str]]],
    where: Optional[Mapping[str, str]],
) -> Message:
    """Members of the message `changes`."""
    if isinstance(tables, str):
        tables = [tables]
    members = {
        "tables": None if tables is None else list(tables),
        "columns": None if columns is None else {table: list(names) for table, names in columns.items()},
        "where": None if where is None else dict(where),
    }
    return {name: member for name, member in members.items() if member is not None}


class ChangeFeed:
    """An asynchronous iterator of `Commit` and `Gap`. Made by `Client.changes`.

    After a broken connection it resumes from its `position`, so that each commit comes once. Unread messages stay with the server: at
    most sixteen messages are read ahead, then the socket is not read, and a feed that falls behind the server's history gets a `Gap`.

    `async with` waits until the feed has begun, so that commits made in its body are in it.
    """

    def __init__(self, door: Door, token: Optional[TokenSource], members: Message, since: Optional[str]) -> None:
        self._door = door
        self._members = members
        self._keeper = None if token is None else TokenKeeper(token, self._send, lambda: None)
        self._socket: Optional[ClientConnection] = None
        self._sending: List[asyncio.Future[None]] = []
        self._failures = 0
        self._is_closed = False
        # Whether anything came since the feed was asked for.
        self._is_answered = False
        self._ahead: Union[Commit, Gap, None] = None
        #: The position of what was read last: `changes(since=position)` goes on after it. None before the feed has
        #: begun.
        self.position = since

    async def __aenter__(self) -> ChangeFeed:
        while self.position is None and self._ahead is None:
            self._ahead = await self._read()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncIterator[Union[Commit, Gap]]:
        return self

    async def __anext__(self) -> Union[Commit, Gap]:
        event, self._ahead = self._ahead, None
        while event is None:
            if self._is_closed:
                raise StopAsyncIteration
            event = await self._read()
        self.position = event.position
        return event

    async def aclose(self) -> None:
        """Ends the feed. `position` stays."""
        self._is_closed = True
        await self._let_go()

    async def _read(self) -> Union[Commit, Gap, None]:
        """The next message; None when it is no event, and when the connection broke."""
        try:
            socket = self._socket or await self._open()
            message = parsed(await socket.recv())
        except FreshetError as error:
            if not error.retryable:
                raise
            await self._back_off(1)
            return None
        except ConnectionClosed as error:
            await self._let_go()
            if not self._is_closed:
                await self._back_off(failures_of(error.rcvd))
            return None
        self._failures = 0
        return await self._received(message)

    async def _open(self) -> ClientConnection:
        if self._keeper:
            await self._keeper.prepare()
        self._socket = socket = await dial(self._door)
        if self._keeper:
            self._keeper.opened()
        since = {} if self.position is None else {"since": self.position}
        self._is_answered = False
        self._send({"type": "changes", "id": _ID, **self._members, **since})
        return socket

    async def _received(self, message: Message) -> Union[Commit, Gap, None]:
        if message.get("id") != _ID:
            if self._keeper and self._keeper.received(message) and self._keeper.error and not self._keeper.is_refused:
                await self._let_go()
                raise self._keeper.error
            return None
        if message["type"] == "error":
            error = refusal_of(FreshetError.of_message(message), is_answered=self._is_answered)
            if error.fatal:
                await self._let_go()
            if error.fatal and not error.retryable:
                raise error
            _log.warning("%s", error)
            if error.fatal:
                await self._back_off(1)
            return None
        self._is_answered = True
        return self._event(message)

    def _event(self, message: Message) -> Union[Commit, Gap, None]:
        position = message.get("position")
        if position is None:
            return None
        if message["type"] == "gap" or "reason" in message:
            return Gap(position, message.get("reason", ""))
        if "changes" not in message:
            # From where the feed begins.
            self.position = position
            return None
        changes = tuple(_row_change(change) for change in message["changes"])
        return Commit(position, message["commit"], changes, message.get("commits", 1))

    def _send(self, message: Message) -> None:
        if self._socket:
            sending = asyncio.ensure_future(self._socket.send(encoded(message)))
            self._sending = [each for each in self._sending if not each.done()] + [sending]
            sending.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _let_go(self) -> None:
        if self._keeper:
            self._keeper.lost()
        socket, self._socket = self._socket, None
        if socket:
            await socket.close()

    async def _back_off(self, badness: int) -> None:
        self._failures += badness
        await asyncio.sleep(back_off(self._failures))


def _row_change(change: Message) -> RowChange:
    members = (decoded_members(change[name]) if change.get(name) is not None else None for name in ("key", "old", "new"))
    return RowChange(change["table"], change["op"], *members)
