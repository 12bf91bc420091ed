"""Sockets to a server, and its address.

The one dependency is `websockets`: it is maintained, has no dependencies itself, speaks asyncio natively, pauses reading a socket whose
messages are not taken (which is the backpressure of `changes`), and notices by pings that a server is gone.
"""

from __future__ import annotations

import json
import ssl
from typing import Any, Awaitable, Callable, Dict, Mapping, NamedTuple, Optional, Union, cast
from urllib.parse import quote, urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from ._errors import FreshetError
from ._values import Message

#: A token, or a function that gives one whenever one is needed; it may be a coroutine function.
TokenSource = Union[str, Callable[[], Union[str, Awaitable[str]]]]

#: Seconds of silence after which a ping is sent, and seconds that its answer may take.
_SILENCE = 15
_PATIENCE = 10
#: Messages that are read ahead: then the socket is not read.
_READ_AHEAD = 16


def live_address(url: str, database: Optional[str] = None) -> str:
    """The address of the socket: that of a server (`http://127.0.0.1:8080/`, or wherever it is mounted) with `v1/live` added.

    `database` is the name of one of several.
    """
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}.get(parts.scheme)
    if scheme is None or not parts.netloc:
        raise ValueError(f"{url!r} is no address of a server: http://127.0.0.1:8080, for example")
    path = parts.path if parts.path.endswith("/v1/live") else parts.path.rstrip("/") + "/v1/live"
    if database is not None:
        path = f"{path[: -len('v1/live')]}db/{quote(database, safe='')}/v1/live"
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


class Door(NamedTuple):
    """How a server is reached."""

    address: str
    #: For certificates that are not those of the system.
    ssl: Optional[ssl.SSLContext] = None
    headers: Optional[Mapping[str, str]] = None


async def dial(door: Door) -> ClientConnection:
    """A new connection. FreshetError: `unreachable`, or `refused` where the server is there and does not take it."""
    address = door.address
    # Without a context it is that of the system, where the address asks for TLS.
    tls: Dict[str, Any] = {} if door.ssl is None else {"ssl": door.ssl}
    try:
        return await connect(
            address,
            additional_headers=door.headers,
            subprotocols=[Subprotocol("freshet.v1")],
            max_size=None,
            max_queue=_READ_AHEAD,
            open_timeout=_PATIENCE,
            close_timeout=1,
            ping_interval=_SILENCE,
            ping_timeout=_PATIENCE,
            **tls,
        )
    except InvalidStatus as error:
        status = error.response.status_code
        raise FreshetError("refused", f"{address} answers {status}: {reason(error.response.body)}", retryable=status >= 500) from error
    except (OSError, InvalidHandshake, EOFError) as error:
        raise FreshetError("unreachable", f"nothing answers at {address}: {error}", retryable=True) from error


def parsed(text: Union[str, bytes]) -> Message:
    """A message as it came."""
    return cast(Message, json.loads(text))


async def token_of(source: TokenSource) -> str:
    """A token from its source."""
    if isinstance(source, str):
        return source
    token: Any = source()
    return cast(str, token if isinstance(token, str) else await token)


def reason(body: Union[bytes, bytearray, None]) -> str:
    """The text of a problem (RFC 9457), or the beginning of any other answer."""
    text = bytes(body or b"").decode("utf-8", "replace")
    try:
        problem = json.loads(text)
        return str(problem.get("detail") or problem.get("message") or problem.get("title") or text)
    except (ValueError, AttributeError):
        return text[:200] or "no reason given"
