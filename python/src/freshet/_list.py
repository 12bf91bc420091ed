"""A query that is followed: its newest state, and the requests that it allows."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Generator, Generic, List, Mapping, Optional, Sequence, Tuple

from ._apply import apply
from ._change import Change
from ._convert import declared
from ._errors import FreshetError, MismatchError
from ._query import QueryLike, WindowLike, key_message, query_message, window_message
from ._refusal import outcome_of, refusal_of, retry_delay
from ._requests import RequestQueue
from ._rows import Row, RowMaker
from ._state import IndexPath, ListState, Section
from ._values import Message, SQLValue, rows_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

    from ._query import QueryParts

_log = logging.getLogger("freshet")


class Channel:
    """The part of a client that a list needs."""

    def __init__(self, send: Callable[[Message], None], release: Callable[[], None], is_token_refused: Callable[[], bool]) -> None:
        self.send = send
        self.release = release
        self.is_token_refused = is_token_refused


class LiveList(Generic[Row]):
    """The rows of one query, kept up to date. Made by `Client.subscribe`.

    `await list` waits for the first rows, and raises what is wrong with the query. Iterating with `async for` yields a `Change` for each
    new state, beginning with the one at hand; each loop has its own. A slow loop skips to the newest state, so nothing piles up.
    """

    def __init__(
        self,
        query: Message,
        maker: RowMaker[Row],
        channel: Channel,
        *,
        window: Optional[Message],
        since: Optional[ListState[Row]],
        min_interval: Optional[int],
    ) -> None:
        self._query = query
        self._maker = maker
        # Where values are converted by declared types.
        self._schema: Optional[Message] = None
        self._channel = channel
        self._window = window
        self._min_interval = min_interval
        self._state: ListState[Row] = ListState(maker) if since is None else since.replacing()
        self._state.maker = maker
        # A snapshot that comes in parts, while a complete state is still shown.
        self._incoming: Optional[ListState[Row]] = None
        self._incoming_kind = ""
        self._requests = RequestQueue(channel.send)
        self._status = "connecting"
        self._latest: Optional[Change[Row]] = None
        self._news = asyncio.Event()
        # Whether a new snapshot was requested: patches are ignored until it comes.
        self._is_resyncing = False
        self._failures = 0
        # Whether the server has no subscription: it refused the last one.
        self._is_refused = False
        self._awaits_token = False
        self._has_answered = False
        # Whether anything came since the subscription was asked for.
        self._is_answered = False
        self._retry: Optional[asyncio.TimerHandle] = None
        #: Why the list waits or has failed; None while it is live.
        self.error: Optional[FreshetError] = None

    # The shown state

    @property
    def state(self) -> ListState[Row]:
        """The newest state. It never changes itself: keep it as long as you like."""
        return self._state

    @property
    def status(self) -> str:
        """`connecting`, `loading`, `live`, `reconnecting`, `waiting`, `failed` (the server refused the query) or `closed`."""
        return self._status

    @property
    def query(self) -> Message:
        """The query as messages carry it."""
        return self._query

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that are held, in order: the window's, or all."""
        return self._state.rows

    @property
    def sections(self) -> Tuple[Section, ...]:
        return self._state.sections

    @property
    def total(self) -> int:
        """Rows of the result, whether held or not."""
        return self._state.total

    @property
    def totals(self) -> Mapping[str, SQLValue]:
        return self._state.totals

    @property
    def alongside(self) -> Mapping[str, SQLValue]:
        return self._state.alongside

    @property
    def columns(self) -> Tuple[str, ...]:
        return self._state.columns

    @property
    def version(self) -> Optional[str]:
        return self._state.version

    @property
    def commit(self) -> int:
        return self._state.commit

    def at(self, offset: int) -> Optional[Row]:
        """The row at an offset in the whole result; None where it is not held."""
        return self._state.at(offset)

    def row(self, path: IndexPath) -> Optional[Row]:
        """The row at an index path; None where it is not held."""
        return self._state.row(path)

    def path(self, key: Any) -> Optional[IndexPath]:
        """Where a row that is held stands; `locate` finds others."""
        return self._state.path(key)

    def to_pandas(self, section: Optional[str] = None) -> pandas.DataFrame:
        """The rows that are held as a data frame, indexed by the key; `section` names a column for the sections. Needs pandas."""
        return self._state.to_pandas(section)

    def to_arrow(self, section: Optional[str] = None) -> pyarrow.Table:
        """The rows that are held as a table of Arrow; `section` names a column for the sections. Needs pyarrow."""
        return self._state.to_arrow(section)

    def to_polars(self, section: Optional[str] = None) -> polars.DataFrame:
        """The rows that are held as a data frame of Polars; `section` names a column for the sections. Needs polars."""
        return self._state.to_polars(section)

    # Requests

    def __await__(self) -> Generator[Any, None, LiveList[Row]]:
        return self._answered().__await__()

    async def __aenter__(self) -> LiveList[Row]:
        return await self._answered()

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> AsyncIterator[Change[Row]]:
        return self._changes()

    async def window(self, offset: int, limit: int) -> ListState[Row]:
        """Holds other rows. While one window is fetched, the last one wanted is next."""
        await self._ask("window", window_message((offset, limit)))
        return self._state

    async def fetch(self, offset: int, limit: int) -> List[Row]:
        """Rows at some offsets, whether held or not; the window stays."""
        rows = await self._ask("fetch", window_message((offset, limit)))
        columns = self._state.columns
        return self._maker.rows(rows_of(rows, columns), columns)

    async def locate(self, key: Any) -> Tuple[Optional[IndexPath], Optional[int]]:
        """The index path and the offset of a row, held or not; None and None when it is not in the result."""
        path, offset = await self._ask("locate", {"key": key_message(key)})
        return None if path is None else (path[0], path[1]), offset

    async def caught_up(self) -> ListState[Row]:
        """The first state that shows everything committed before the call."""
        await self._ask("fetch", {"offset": 0, "limit": 0})
        return self._state

    async def requery(self, query: QueryLike = None, *, window: Optional[WindowLike] = None, **parts: Unpack[QueryParts]) -> ListState[Row]:
        """Follows another query: a patch leads there where `from`, `select` and `key` are the same. A refused one changes nothing."""
        message = query_message(query, parts)
        members = {"query": message, **({} if window is None else {"window": window_message(window)})}
        # The server has no result to patch from at the moment: the list begins again.
        is_over = self._is_refused or self._status in ("waiting", "failed")
        if is_over:
            self._requests.pause()

        def accepted() -> None:
            self._query = message
            self._convert()
            self._window = members.get("window", self._window)

        answer = self._ask("requery", members, accepted)
        if is_over:
            if not self._is_refused:
                self._channel.send({"type": "unsubscribe"})
            self.opened()
        await answer
        return self._state

    def resync(self) -> None:
        """Asks for everything anew, as the list does by itself when a patch does not fit."""
        self._is_resyncing = True
        self._incoming = None
        self._channel.send({"type": "resync"})

    def close(self) -> None:
        """Ends the subscription, and the loops over it."""
        if self._status == "closed":
            return
        self._stop_retrying()
        self._requests.reject(FreshetError("closed", "The list was closed."))
        self._channel.release()
        self._become("closed")

    def show(self, *, rows: int = 50, interval: float = 0.1) -> None:
        """In a notebook, shows the list as a table that moves: at most `rows` rows, drawn at most every `interval` seconds."""
        from ._notebook import show

        show(self, rows=rows, interval=interval)

    def _ipython_display_(self) -> None:
        self.show()

    def _repr_html_(self) -> str:
        return self._state._repr_html_()

    def __len__(self) -> int:
        return len(self._state)

    def __bool__(self) -> bool:
        # Not whether there are rows: `orders or …` would otherwise depend on them.
        return True

    def __repr__(self) -> str:
        return f"<LiveList {self._status}: {self._state!r}>"

    # Calls from the client

    def opened(self) -> None:
        """There is a connection: subscribes, from the version that is held."""
        self._stop_retrying()
        if self._status == "closed":
            return
        self._is_refused = self._awaits_token = self._is_answered = False
        another = self._requests.begin()
        # The server may still know the held version: then it sends only the difference. That needs the same query.
        since = self._state if self._state.is_complete and another is None else None
        held = self._state.window and window_message(self._state.window)
        window = held if since is not None else self._requests.wanted_window or held or self._window
        if self._status != "waiting":
            self._become("reconnecting" if self._has_answered else "loading")
        message: Message = {"type": "subscribe", "query": self._query if another is None else another}
        options = {"window": window, "since": None if since is None else since.version, "minInterval": self._min_interval}
        self._channel.send({**message, **{name: option for name, option in options.items() if option is not None}})

    def declare(self, schema: Message) -> None:
        """Converts values by the types that the query's tables declare. Before the first rows."""
        self._schema = schema
        self._convert()

    def fail(self, error: FreshetError) -> None:
        """The list cannot begin."""
        self._suffer("fails", error)

    def lost(self) -> None:
        """The connection is gone."""
        self._stop_retrying()
        self._is_resyncing = False
        self._incoming = None
        self._requests.pause()
        if self._status not in ("closed", "failed", "connecting"):
            self._become("reconnecting")

    def authenticated(self) -> None:
        """The server has taken a token."""
        if self._awaits_token:
            self.opened()

    def received(self, message: Message) -> None:
        """A message with the list's id."""
        kind = message["type"]
        if kind in ("snapshot", "patch") or (kind == "rows" and not self._requests.is_fetched(message, self._is_loading)):
            self._take(message)
        elif kind == "located":
            self._requests.located(message)
        elif kind == "error":
            self._refused(FreshetError.of_message(message))

    # How it follows

    @property
    def _is_loading(self) -> bool:
        return self._incoming is not None or not self._state.is_complete

    def _ask(self, kind: str, members: Message, accepted: Optional[Callable[[], None]] = None) -> asyncio.Future[Any]:
        if self._status == "closed":
            raise FreshetError("closed", "The list is closed.")
        if self._status == "failed" and kind != "requery" and self.error:
            raise self.error
        # Cancelling one waiting task must not cancel the answer that others wait for.
        return asyncio.shield(self._requests.ask(kind, members, accepted))

    def _take(self, message: Message) -> None:
        if message["type"] == "snapshot":
            self._is_resyncing = False
        if self._is_resyncing:
            return
        self._is_answered = True
        try:
            state = apply(self._state if self._incoming is None else self._incoming, message)
            self._maker.check(state.columns)
        except MismatchError as error:
            _log.info("a message did not fit, and everything is asked for anew: %s", error)
            self.resync()
            return
        except TypeError as error:
            self._suffer("fails", FreshetError("bad_rows", str(error)))
            self._channel.send({"type": "unsubscribe"})
            return
        # The shown rows stay complete until those that replace them are.
        if state.is_complete:
            self._show(state, message)
        else:
            if self._incoming is None or message["type"] == "snapshot":
                self._incoming_kind = message["type"]
            self._incoming = state
        self._requests.taken(message, not self._is_loading)
        if not self._is_loading:
            self._failures = 0
            self.error = None
            self._has_answered = True
            self._requests.resume()
            self._become("live")

    def _show(self, state: ListState[Row], message: Message) -> None:
        # A message in parts has no single whole.
        kind, whole = (message["type"], message) if self._incoming is None else (self._incoming_kind, None)
        before, self._state, self._incoming = self._state, state, None
        self._latest = Change(kind, state, before, whole)
        self._announce()

    def _refused(self, error: FreshetError) -> None:
        error = refusal_of(error, is_answered=self._is_answered)
        outcome = outcome_of(error, has_rows=self._has_answered, is_token_refused=self._channel.is_token_refused())
        # Messages that the server sends by itself answer no request, except that they may refuse a requery.
        may_answer = outcome == "goes on" or (outcome == "waits" and self._requests.is_requerying)
        if may_answer and self._requests.refuse(error):
            return
        _log.warning("%s", error)
        self._suffer(outcome, error)

    def _convert(self) -> None:
        if self._schema is not None:
            self._maker.convert(declared(self._schema, self._query))

    def _suffer(self, outcome: str, error: FreshetError) -> None:
        self.error = error
        self._is_refused = error.fatal
        if error.fatal:
            self._requests.pause()
        if outcome == "goes on":
            return
        if outcome == "fails":
            self._is_refused = True
            self._requests.reject(error)
            self._become("failed")
            return
        self._awaits_token = outcome == "awaits token"
        if outcome == "retries":
            self._failures += 1
            self._retry = asyncio.get_running_loop().call_later(retry_delay(self._failures), self.opened)
        self._become("waiting")

    def _stop_retrying(self) -> None:
        if self._retry:
            self._retry.cancel()
        self._retry = None

    def _become(self, status: str) -> None:
        if status != self._status:
            self._status = status
            self._announce()

    async def news(self) -> None:
        """Waits until the list has another state, or another status."""
        await self._news.wait()

    def _announce(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _answered(self) -> LiveList[Row]:
        """Waits for the first rows."""
        while not self._has_answered:
            self._raise_if_over()
            if self._status == "closed":
                raise FreshetError("closed", "The list was closed.")
            await self.news()
        return self

    async def _changes(self) -> AsyncIterator[Change[Row]]:
        last: Optional[ListState[Row]] = None
        while self._status != "closed":
            latest, state = self._latest, self._state
            if latest is None or state is last:
                self._raise_if_over()
                await self.news()
                continue
            if last is None:
                change = Change("snapshot", state, None, None)
            elif latest.before is last:
                change = latest
            else:
                change = Change("several", state, last, None)
            last = state
            yield change

    def _raise_if_over(self) -> None:
        if self._status == "failed" and self.error:
            raise self.error
