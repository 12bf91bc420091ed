"""A connection that reconnects: one JSON object per message, capped exponential back-off with jitter."""

from __future__ import annotations

import asyncio
import logging
from typing import Awaitable, Callable, Optional

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from ._errors import FreshetError
from ._refusal import back_off, failures_of
from ._socket import Door, dial, parsed
from ._values import Message, encoded

_log = logging.getLogger("freshet")


class Connection:
    """One socket after another, and a task that reads it. Handlers must not wait."""

    def __init__(
        self,
        door: Door,
        prepare: Callable[[], Awaitable[None]],
        opened: Callable[[], None],
        received: Callable[[Message], None],
        lost: Callable[[], None],
    ) -> None:
        self._door = door
        self._prepare = prepare
        self._opened = opened
        self._received = received
        self._lost = lost
        self._outgoing: Optional[asyncio.Queue[str]] = None
        self._first: Optional[asyncio.Future[None]] = None
        self._task: Optional[asyncio.Task[None]] = None
        self._failures = 0
        #: `connecting`, `live`, `reconnecting` or `closed`.
        self.status = "connecting"
        #: Why there is no connection.
        self.error: Optional[FreshetError] = None

    async def start(self, timeout: float) -> None:
        """Connects, and keeps connecting for some seconds. FreshetError when it could not."""
        loop = asyncio.get_running_loop()
        self._first = loop.create_future()
        self._task = loop.create_task(self._run(loop.time() + timeout))
        await self._first

    async def wait_for_first(self) -> None:
        """Waits until `start` has returned in another task. FreshetError when it could not connect."""
        if self._first is None:
            return
        try:
            # Other tasks wait for it, too.
            await asyncio.shield(self._first)
        except asyncio.CancelledError:
            if self._first.cancelled():
                raise FreshetError("closed", "The client was closed.") from None
            raise

    def send(self, message: Message) -> None:
        """Sends it, in order; drops it when there is no connection."""
        if self._outgoing is not None:
            self._outgoing.put_nowait(encoded(message))

    def ready(self) -> None:
        """The server has greeted the client, and taken its token where there is one."""
        self.error = None
        if self._first and not self._first.done():
            self._first.set_result(None)

    def refused(self, error: FreshetError) -> None:
        """The server does not take the token."""
        if self._first and not self._first.done():
            self._first.set_exception(error)

    async def close(self) -> None:
        """Ends the connection for good."""
        self.status = "closed"
        if self._first and not self._first.done():
            self._first.set_exception(FreshetError("closed", "The client was closed."))
        task, self._task = self._task, None
        if task and task is not asyncio.current_task():
            task.cancel()
            await asyncio.wait([task])

    async def _run(self, deadline: float) -> None:
        while self.status != "closed":
            badness = 1
            try:
                await self._get_ready()
                badness = await self._follow(await dial(self._door))
            except FreshetError as error:
                self.error = error
            if self.status == "closed":
                return
            self._failures += badness
            if self._has_failed(deadline):
                return
            self.status = "reconnecting"
            delay = back_off(self._failures)
            _log.info("no connection to %s: %s; again in %.1f s", self._door.address, self.error, delay)
            await asyncio.sleep(delay)

    async def _get_ready(self) -> None:
        try:
            await self._prepare()
        except Exception as error:  # whatever the program's function for tokens raises
            raise FreshetError("unauthenticated", f"There is no token: {error}", retryable=True) from error

    def _has_failed(self, deadline: float) -> bool:
        """Whether the first connection could not be made in time."""
        first = self._first
        if first is None or first.done():
            return False
        is_over = asyncio.get_running_loop().time() >= deadline or not (self.error is None or self.error.retryable)
        if is_over:
            first.set_exception(self.error or FreshetError("unreachable", "The connection broke.", retryable=True))
        return is_over

    async def _follow(self, socket: ClientConnection) -> int:
        """Reads until the connection breaks; how many failures that counts for."""
        self._outgoing = asyncio.Queue()
        sender = asyncio.ensure_future(self._deliver(socket, self._outgoing))
        try:
            self.status = "live"
            self._opened()
            while True:
                message = parsed(await socket.recv())
                # Failures are reset here, and not when the socket opens: a proxy whose server is down may accept
                # connections and drop them.
                self._failures = 0
                self._received(message)
        except ConnectionClosed as error:
            self.error = FreshetError("disconnected", f"The connection broke: {error}", retryable=True)
            return failures_of(error.rcvd)
        except (LookupError, TypeError, ValueError) as error:
            _log.exception("a message that is none of freshet.v1")
            raise FreshetError("bad_message", f"The server sent what this client does not understand: {error!r}", retryable=True) from error
        finally:
            self._outgoing = None
            sender.cancel()
            if self.status != "closed":
                self.status = "reconnecting"
            try:
                self._lost()
            finally:
                await socket.close()

    @staticmethod
    async def _deliver(socket: ClientConnection, outgoing: asyncio.Queue[str]) -> None:
        try:
            while True:
                await socket.send(await outgoing.get())
        except ConnectionClosed:
            pass
