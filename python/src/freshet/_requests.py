"""The unanswered requests of one list.

The server answers a subscription's requests in their order, so the first one of a kind is the one that an answer belongs to. A broken
connection loses none of them: unanswered requests are sent again on the next one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional

from ._errors import FreshetError
from ._values import Message

Send = Callable[[Message], None]


@dataclass
class Request:
    """One of `window`, `fetch`, `locate`, `requery`, and `refused requery`, whose marker is still to be answered."""

    kind: str
    members: Message
    answer: asyncio.Future[Any]
    #: Called when the server has done it.
    accepted: Optional[Callable[[], None]] = None
    #: Whether the subscription began with the query that is wanted.
    is_begun_with: bool = False
    #: Wire rows that have come.
    rows: List[Any] = field(default_factory=list)


class RequestQueue:
    """Requests in the order of their answers, and the newest of each kind that allows only one at a time."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._sent: List[Request] = []
        self._waiting: Dict[str, Request] = {}
        # Until the first state is complete, and without a connection.
        self._is_paused = True
        # Whether the rows of a window are coming, in parts.
        self._is_window_coming = False

    @property
    def wanted_window(self) -> Optional[Message]:
        """The window to begin with, when one is wanted already."""
        request = self._waiting.get("window") or self._first("window")
        return request.members if request else None

    @property
    def is_requerying(self) -> bool:
        """Whether the next answer is that to a requery."""
        return bool(self._sent) and self._sent[0].kind == "requery"

    def ask(self, kind: str, members: Message, accepted: Optional[Callable[[], None]] = None) -> asyncio.Future[Any]:
        """Asks, at once or when its turn has come. A newer request takes the place of one that waits, and both have its answer."""
        waiting = self._waiting.get(kind)
        if waiting:
            waiting.members, waiting.accepted, waiting.is_begun_with = members, accepted, False
            return waiting.answer
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # An answer that is not awaited any more is no error.
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._submit(Request(kind, members, answer, accepted))
        return answer

    def begin(self) -> Optional[Message]:
        """The subscription begins again: with the wanted query, if there is one."""
        requests = [each for each in (self._waiting.get("requery"), self._first("requery")) if each]
        for request in requests:
            request.is_begun_with = True
        return requests[0].members["query"] if requests else None

    def pause(self) -> None:
        """The connection is gone."""
        self._is_paused = True
        self._is_window_coming = False

    def resume(self) -> None:
        """The list is complete, on a connection that may be a new one."""
        if not self._is_paused:
            return
        self._is_paused = False
        again, self._sent = self._sent, []
        waiting = self._waiting.pop("requery", None)
        for request in [*again, waiting] if waiting else again:
            if request.is_begun_with:
                self._done(request)
            elif request.kind != "refused requery":
                request.rows = []
                self._submit(request)
        self._next("window")

    def is_fetched(self, message: Message, is_loading: bool) -> bool:
        """Whether a `rows` message answers a `fetch`, or shows that a `requery` has been answered."""
        if "window" in message or is_loading:
            return False
        request = self._first("fetch", "requery", "refused requery")
        if request and request.kind == "fetch":
            request.rows.extend(message["rows"])
        if request and message["complete"]:
            self._settle(request, request.rows)
        return True

    def taken(self, message: Message, is_complete: bool) -> None:
        """A message of the list itself has been taken in; `is_complete`: no part of it is missing."""
        if message["type"] != "rows":
            return
        if "window" in message:
            self._is_window_coming = True
        if not is_complete or not self._is_window_coming:
            return
        self._is_window_coming = False
        request = self._first("window")
        if request:
            self._settle(request, None)

    def located(self, message: Message) -> None:
        """The answer to `locate`."""
        request = self._first("locate")
        if request:
            self._settle(request, (message["path"], message["offset"]))

    def refuse(self, error: FreshetError) -> bool:
        """Whether the error was the answer to anything."""
        request = next((each for each in self._sent if each.kind != "refused requery"), None)
        if request is None:
            return False
        if not request.answer.done():
            request.answer.set_exception(error)
        if request.kind == "requery":
            # The requests that were sent with it will be answered all the same.
            request.kind = "refused requery"
        else:
            self._sent.remove(request)
            self._next(request.kind)
        return True

    def reject(self, error: FreshetError) -> None:
        """The answer to all of them."""
        requests = [*self._sent, *self._waiting.values()]
        self._sent = []
        self._waiting.clear()
        for request in requests:
            if not request.answer.done():
                request.answer.set_exception(error)

    def _first(self, *kinds: str) -> Optional[Request]:
        return next((request for request in self._sent if request.kind in kinds), None)

    def _submit(self, request: Request) -> None:
        is_one_at_a_time = request.kind in ("window", "requery")
        if is_one_at_a_time and (self._is_paused or self._first(request.kind, "refused requery")):
            self._waiting[request.kind] = request
            return
        self._sent.append(request)
        if self._is_paused:
            return
        self._send({"type": request.kind, **request.members})
        if request.kind == "requery":
            # A patch that was on its way looks like the answer to `requery`. The answer to this `fetch` cannot be
            # mistaken.
            self._send({"type": "fetch", "offset": 0, "limit": 0})

    def _settle(self, request: Request, value: Any) -> None:
        self._sent.remove(request)
        self._done(request, value)
        self._next("requery" if request.kind == "refused requery" else request.kind)

    def _done(self, request: Request, value: Any = None) -> None:
        if request.kind == "requery" and request.accepted:
            request.accepted()
        if not request.answer.done():
            request.answer.set_result(value)

    def _next(self, kind: str) -> None:
        waiting = None if self._is_paused else self._waiting.pop(kind, None)
        if waiting:
            self._submit(waiting)
