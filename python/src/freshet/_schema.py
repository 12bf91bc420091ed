"""The schema of a server's database: GET /v1/schema."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Dict, Optional, cast
from urllib.parse import urlsplit, urlunsplit

from ._errors import FreshetError
from ._socket import Door, TokenSource, reason, token_of
from ._values import Message

_PATIENCE = 10


async def schema(door: Door, token: Optional[TokenSource]) -> Message:
    """Tables and columns as the client may see them. FreshetError where there is no answer, or a refusal."""
    headers = dict(door.headers or {})
    if token is not None:
        headers["Authorization"] = f"Bearer {await token_of(token)}"
    return await asyncio.to_thread(_fetch, door, headers)


def _fetch(door: Door, headers: Dict[str, str]) -> Message:
    parts = urlsplit(door.address)
    scheme = {"ws": "http", "wss": "https"}[parts.scheme]
    address = urlunsplit((scheme, parts.netloc, parts.path[: -len("live")] + "schema", parts.query, ""))
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=_PATIENCE, context=door.ssl) as answer:
            return cast(Message, json.load(answer))
    except urllib.error.HTTPError as error:
        raise FreshetError("refused", f"{address} answers {error.code}: {reason(error.read())}", retryable=error.code >= 500) from error
    except OSError as error:
        raise FreshetError("unreachable", f"nothing answers at {address}: {error}", retryable=True) from error
