"""Authenticates the client: first thing on every connection, and again before the token expires."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Callable, Optional

from ._errors import FreshetError
from ._socket import TokenSource, token_of
from ._values import Message

_log = logging.getLogger("freshet")

#: Id of the messages that carry a token.
TOKEN_ID = "token"
#: Seconds before its expiry at which a token is renewed; a short-lived one at half of its life.
_LEAD = 30.0
#: Seconds before the source is asked again after a refused or missing token: the first and the longest wait.
_FIRST_RETRY = 1.0
_LONGEST_RETRY = 15.0
#: The longest wait of a timer; a longer time takes several timers.
_LONGEST_WAIT = 86_400.0


class TokenKeeper:
    """The token of one connection after another. A source that is a function is asked for another token when one is needed."""

    def __init__(self, source: TokenSource, send: Callable[[Message], None], accepted: Callable[[], None]) -> None:
        self._source = source
        self._send = send
        self._accepted = accepted
        self._token = ""
        # The last token that the server reported as expired.
        self._expired = ""
        self._is_open = False
        self._failures = 0
        self._task: Optional[asyncio.Task[None]] = None
        #: Whether the server refused the client's token, and the token source may give a new one.
        self.is_refused = False
        self.error: Optional[FreshetError] = None

    async def prepare(self) -> None:
        """Before an attempt to connect: gets a token."""
        self._token = await token_of(self._source)

    def opened(self) -> None:
        """Sends the token. Messages sent after it are already the authenticated client's."""
        self._is_open = True
        self._send({"type": "authenticate", "id": TOKEN_ID, "token": self._token})

    def lost(self) -> None:
        """The connection is gone."""
        self._is_open = False
        if self._task:
            self._task.cancel()
        self._task = None

    def received(self, message: Message) -> bool:
        """Whether the message is dealt with."""
        kind, given = message["type"], message.get("id")
        if kind == "authenticated" and given == TOKEN_ID:
            self._failures, self.is_refused, self.error = 0, False, None
            self._renew_before(message.get("expires"))
            self._accepted()
        elif kind == "error" and given == TOKEN_ID:
            self._fail(FreshetError.of_message(message))
            self.is_refused = self._is_renewable
        elif kind == "error" and given is None and message.get("code") == "unauthenticated" and self._is_renewable:
            # Clocks differ: it may have expired before this one said so. A source that has no other yet is not asked
            # again at once.
            is_same, self._expired = self._token == self._expired, self._token
            if is_same:
                self._fail(FreshetError.of_message(message))
            else:
                self._renew_in(0)
        else:
            return False
        return True

    @property
    def _is_renewable(self) -> bool:
        return not isinstance(self._source, str)

    def _fail(self, error: FreshetError) -> None:
        _log.warning("%s", error)
        self.error = error
        if self._is_renewable and self._is_open:
            self._failures += 1
            self._renew_in(min(_LONGEST_RETRY, _FIRST_RETRY * 2.0 ** min(self._failures - 1, 16)))

    def _renew_before(self, expires: Optional[float]) -> None:
        if expires is not None and self._is_renewable:
            left = expires - time.time()
            self._renew_in(max(left / 2, left - _LEAD, 1.0))

    def _renew_in(self, seconds: float) -> None:
        # The task that renews ends here itself, when its own token was refused.
        if self._task and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = asyncio.ensure_future(self._renew(seconds))

    async def _renew(self, seconds: float) -> None:
        while seconds > 0:
            await asyncio.sleep(min(seconds, _LONGEST_WAIT))
            seconds -= _LONGEST_WAIT
        try:
            await self.prepare()
        except Exception as error:  # whatever the program's function raises
            self._fail(FreshetError("unauthenticated", f"There is no new token: {error}", retryable=True))
            return
        if self._is_open:
            self.opened()
