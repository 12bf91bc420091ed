"""One connection to a server, shared by any number of live lists."""

from __future__ import annotations

import asyncio
import logging
import uuid
from ssl import SSLContext
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Generator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)  # fmt: skip

from ._connection import Connection
from ._convert import Kind, checked, declared
from ._errors import FreshetError
from ._feed import ChangeFeed, feed_message
from ._list import Channel, LiveList
from ._query import QueryLike, Statement, WindowLike, query_message, transaction_message, window_message
from ._rows import RowMaker
from ._schema import schema
from ._socket import Door, TokenSource, live_address
from ._state import ListState
from ._token import TokenKeeper
from ._values import Message, Parameters, Values, decoded, rows_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._query import QueryParts

_log = logging.getLogger("freshet")
T = TypeVar("T")
#: Whether and how values become dates, times and booleans.
ConvertLike = Union[bool, Mapping[str, Kind]]


class StatementResult(NamedTuple):
    """The outcome of one statement of a transaction."""

    changes: int
    #: None where it inserted no row.
    last_insert_rowid: Optional[int]
    columns: Tuple[str, ...]
    #: The rows of a SELECT, or of RETURNING.
    rows: List[Values]


class Committed(NamedTuple):
    """The outcome of a transaction."""

    changes: int
    #: Lists that have reached this number show it.
    commit: int
    results: List[StatementResult]


class _Pending(NamedTuple):
    """A request whose answer has not come."""

    message: Message
    answer: asyncio.Future[Message]
    #: The server's epoch when it was sent: only there it may be sent again.
    epoch: Optional[str]


class Client:
    """One connection to a server. Made by `freshet.connect`.

    It reconnects by itself, with delays that grow up to 15 s and have jitter; lists resume from the version that they have.
    """

    def __init__(self, door: Door, token: Optional[TokenSource], timeout: float) -> None:
        self._door = door
        self._token = token
        self._timeout = timeout
        self._lists: Dict[str, LiveList[Any]] = {}
        self._pending: Dict[str, _Pending] = {}
        self._tasks: Set[asyncio.Task[None]] = set()
        self._count = 0
        self._keeper: Optional[TokenKeeper] = None
        self._connection: Optional[Connection] = None
        #: The server's greeting: `server`, `epoch`, `limits`.
        self.hello: Optional[Message] = None

    # Opening and closing

    def __await__(self) -> Generator[Any, None, Client]:
        return self._open().__await__()

    async def __aenter__(self) -> Client:
        return await self._open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """The address of the socket."""
        return self._door.address

    @property
    def status(self) -> str:
        """`connecting`, `live`, `reconnecting` or `closed`."""
        return self._connection.status if self._connection else "connecting"

    @property
    def error(self) -> Optional[FreshetError]:
        """The error of the connection or of the token; None if both are fine."""
        refused = self._keeper.error if self._keeper else None
        return refused or (self._connection.error if self._connection else None)

    async def close(self) -> None:
        """Ends all lists, and the connection."""
        for each in list(self._lists.values()):
            each.close()
        self._reject("closed", "The client was closed.")
        if self._connection:
            await self._connection.close()

    async def _open(self) -> Client:
        if self._connection:
            return self
        connection = self._connection = Connection(self._door, self._prepare, self._opened, self._received, self._lost)
        if self._token is not None:
            self._keeper = TokenKeeper(self._token, connection.send, self._authenticated)
        try:
            await connection.start(self._timeout)
        except BaseException:
            await self.close()
            raise
        return self

    # Requests

    @overload
    def subscribe(
        self,
        query: QueryLike = ...,
        *,
        rows: Type[Dict[Any, Any]],
        window: Optional[WindowLike] = ...,
        since: Optional[ListState[Dict[str, Any]]] = ...,
        min_interval: Optional[float] = ...,
        convert: ConvertLike = ...,
        **parts: Unpack[QueryParts],
    ) -> LiveList[Dict[str, Any]]: ...

    @overload
    def subscribe(
        self,
        query: QueryLike = ...,
        *,
        window: Optional[WindowLike] = ...,
        since: Optional[ListState[Tuple[Any, ...]]] = ...,
        min_interval: Optional[float] = ...,
        convert: ConvertLike = ...,
        **parts: Unpack[QueryParts],
    ) -> LiveList[Tuple[Any, ...]]: ...

    @overload
    def subscribe(
        self,
        query: QueryLike = ...,
        *,
        rows: Type[T],
        window: Optional[WindowLike] = ...,
        since: Optional[ListState[T]] = ...,
        min_interval: Optional[float] = ...,
        convert: ConvertLike = ...,
        **parts: Unpack[QueryParts],
    ) -> LiveList[T]: ...

    def subscribe(
        self,
        query: QueryLike = None,
        *,
        rows: Any = tuple,
        window: Optional[WindowLike] = None,
        since: Optional[ListState[Any]] = None,
        min_interval: Optional[float] = None,
        convert: ConvertLike = False,
        **parts: Unpack[QueryParts],
    ) -> LiveList[Any]:
        """Follows a query: `await` the list for its first rows, or iterate it.

        `query` is a table or a join (`"bank"`), or a whole query as docs/protocol.md 2 has it; the parts may be given as keywords:
        `select`, `where`, `params`, `group_by`, `having`, `section_by`, `order_by`, `limit`, `key`, `totals`, `alongside`,
        `refresh_every`, or `name` for a published query.

        `rows` is what rows look like: `tuple`, `dict`, a dataclass or a named tuple. `window=(offset, limit)` holds the contents of these
        rows alone. `since` is a state from before, of the same query: only what changed in the meantime is sent. `min_interval` is the
        least time between two patches, in seconds. `convert` makes `bool`, `date`, `datetime` and `time` of values: `True` by the types
        that the query's tables declare, or `{"at": datetime}` by column.
        """
        message = query_message(query, parts)
        if convert is True:
            # TypeError now, and not when the schema has come.
            declared({}, message)
        maker: RowMaker[Any] = RowMaker(rows, None if isinstance(convert, bool) else checked(convert))
        self._count += 1
        name = str(self._count)

        def release() -> None:
            if self._lists.pop(name, None):
                self._send({"type": "unsubscribe", "id": name})

        live: LiveList[Any] = LiveList(
            message,
            maker,
            Channel(
                lambda members: self._send({**members, "id": name}),
                release,
                lambda: self._keeper.is_refused if self._keeper else False,
            ),
            window=None if window is None else window_message(window),
            since=since,
            min_interval=None if min_interval is None else round(min_interval * 1000),
        )
        if self.status == "closed":
            live.close()
            return live
        if convert is True:
            task = asyncio.ensure_future(self._begin_typed(name, live))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._begin(name, live)
        return live

    async def transact(
        self,
        statements: Union[str, Sequence[Statement], None] = None,
        params: Optional[Parameters] = None,
        *,
        name: Optional[str] = None,
    ) -> Committed:
        """Writes, in one transaction: `transact(sql, params)`, `transact([(sql, params), …])`, or `transact(name=…, params=…)` for
        statements that the operator has published.

        A transaction whose answer was lost with the connection is asked for again on the next one, under the same name, and the server
        runs it once. While another task opens the client, it waits for the first connection, and fails with the reason if that cannot
        be made.

        FreshetError: `constraint`, `not_allowed` and others, where nothing was written; `disconnected` when there is no connection to
        begin with; `outcome_unknown` when the server was restarted in between.
        """
        message = transaction_message(statements, params, name)
        await self._first_connection()
        if self._knows_once:
            message["once"] = str(uuid.uuid4())
        answer = await self._request("transact", message)
        return Committed(answer["changes"], answer["commit"], [_result(each) for each in answer.get("results") or ()])

    async def ping(self) -> float:
        """Asks whether the server is there, and returns how many seconds the answer took."""
        await self._first_connection()
        loop = asyncio.get_running_loop()
        start = loop.time()
        await self._request("ping", {})
        return loop.time() - start

    def changes(
        self,
        *,
        tables: Optional[Sequence[str]] = None,
        columns: Optional[Mapping[str, Sequence[str]]] = None,
        where: Optional[Mapping[str, str]] = None,
        since: Optional[str] = None,
    ) -> ChangeFeed:
        """Every change of the file's rows, by any program, commit by commit: an asynchronous iterator of `Commit` and `Gap`.

        `tables` limits it to some, `columns` and `where` to some columns and rows of each. `since` is a position from before; without it
        the feed begins with the next commit. It has a connection of its own: one that is not read does not hold up lists.
        """
        return ChangeFeed(self._door, self._token, feed_message(tables, columns, where), since)

    # How it is connected

    def _begin(self, name: str, live: LiveList[Any]) -> None:
        self._lists[name] = live
        if self.status == "live":
            live.opened()

    async def _begin_typed(self, name: str, live: LiveList[Any]) -> None:
        """Asks for the list once the types of its columns are known."""
        try:
            live.declare(await schema(self._door, self._token))
        except FreshetError as error:
            live.fail(error)
            return
        if self.status == "closed":
            live.close()
        elif live.status != "closed":
            self._begin(name, live)

    def _send(self, message: Message) -> None:
        if self._connection:
            self._connection.send(message)

    @property
    def _knows_once(self) -> bool:
        limits = (self.hello or {}).get("limits") or {}
        return bool(limits.get("transactionMemory", 0) > 0)

    async def _first_connection(self) -> None:
        """Waits for it while another task opens the client."""
        if self._connection is None:
            raise FreshetError("disconnected", "The client is not open: `async with connect(url) as client`, or `await connect(url)`.")
        await self._connection.wait_for_first()

    async def _request(self, kind: str, members: Message) -> Message:
        if self.status != "live":
            raise FreshetError("disconnected", "There is no connection now.", retryable=True)
        self._count += 1
        name = f"{kind} {self._count}"
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        message = {"type": kind, "id": name, **members}
        self._pending[name] = _Pending(message, answer, (self.hello or {}).get("epoch"))
        self._send(message)
        try:
            return await answer
        finally:
            self._pending.pop(name, None)

    async def _prepare(self) -> None:
        if self._keeper:
            await self._keeper.prepare()

    def _opened(self) -> None:
        if self._keeper:
            self._keeper.opened()
        for each in list(self._lists.values()):
            each.opened()

    def _lost(self) -> None:
        if self._keeper:
            self._keeper.lost()
        for each in list(self._lists.values()):
            each.lost()
        # Messages without `once` fail with the connection that they were sent on; the others are sent again.
        for name, pending in list(self._pending.items()):
            if "once" not in pending.message:
                self._fail(name, "disconnected", "The connection broke before the answer came: it may have been done.")

    def _received(self, message: Message) -> None:
        name = message.get("id")
        live = self._lists.get(name) if isinstance(name, str) else None
        if live:
            live.received(message)
        elif self._keeper and self._keeper.received(message):
            if self._keeper.error and self._connection:
                self._connection.refused(self._keeper.error)
        elif message["type"] == "hello":
            self._greeted(message)
        elif name in self._pending:
            self._answer(self._pending[name].answer, message)
        elif message["type"] == "error" and name is None:
            _log.warning("%s", FreshetError.of_message(message))

    def _greeted(self, hello: Message) -> None:
        self.hello = hello
        if self._keeper is None:
            self._ready()

    def _authenticated(self) -> None:
        self._ready()
        for each in list(self._lists.values()):
            each.authenticated()

    def _ready(self) -> None:
        """The server knows the client, and has said whether it remembers earlier transactions."""
        if self._connection:
            self._connection.ready()
        epoch = (self.hello or {}).get("epoch")
        for name, pending in list(self._pending.items()):
            if "once" in pending.message and not pending.answer.done():
                if pending.epoch == epoch:
                    self._send(pending.message)
                else:
                    self._fail(name, "outcome_unknown", "The server was restarted: it may have been done.")

    @staticmethod
    def _answer(answer: asyncio.Future[Message], message: Message) -> None:
        if answer.done():
            return
        if message["type"] == "error":
            answer.set_exception(FreshetError.of_message(message))
        else:
            answer.set_result(message)

    def _fail(self, name: str, code: str, text: str) -> None:
        answer = self._pending[name].answer
        if not answer.done():
            answer.set_exception(FreshetError(code, text))

    def _reject(self, code: str, text: str) -> None:
        for name in list(self._pending):
            self._fail(name, code, text)


def connect(
    url: str,
    *,
    database: Optional[str] = None,
    token: Optional[TokenSource] = None,
    timeout: float = 0.0,
    ssl: Optional[SSLContext] = None,
    headers: Optional[Mapping[str, str]] = None,
) -> Client:
    """Connects to a server: `async with connect(url) as client`, or `client = await connect(url)`.

    `url` is that of the server, `http://127.0.0.1:8080`; `database` is the name of one of several. `token` is a JSON Web Token, or a
    function (also a coroutine function) that returns one: it is called before every attempt to connect, and again before the token
    expires. The first attempt may be repeated for `timeout` seconds; then FreshetError says why there is no connection (`unreachable`,
    `refused`, `unauthenticated`). `ssl` is for certificates that the system does not trust, and `headers` go to whatever stands in front
    of the server.
    """
    return Client(Door(live_address(url, database), ssl, headers), token, timeout)


def _result(result: Message) -> StatementResult:
    columns: Tuple[str, ...] = tuple(result.get("columns") or ())
    return StatementResult(
        result["changes"],
        decoded(result.get("lastInsertRowid")),
        columns,
        rows_of(result.get("rows") or (), columns),
    )
