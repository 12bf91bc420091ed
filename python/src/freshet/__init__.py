"""Live, sectioned lists from any SQLite file: a typed asyncio client of a Freshet server, and the server.

    async with freshet.connect("http://127.0.0.1:8080") as client:
        banks = await client.subscribe("bank", section_by="state", order_by=["name"], rows=dict)
        async for change in banks:
            print(change.kind, change.state.rows)

`docs/python.md` is the documentation.
"""

from ._change import Change, Differences
from ._client import Client, Committed, StatementResult, connect
from ._errors import FreshetError
from ._feed import ChangeFeed, Commit, Gap, RowChange
from ._list import LiveList
from ._server import Server, serve
from ._state import IndexPath, ListState, Section, Window
from ._version import __version__

__all__ = [
    "Change",
    "ChangeFeed",
    "Client",
    "Commit",
    "Committed",
    "Differences",
    "FreshetError",
    "Gap",
    "IndexPath",
    "ListState",
    "LiveList",
    "RowChange",
    "Section",
    "Server",
    "StatementResult",
    "Window",
    "__version__",
    "connect",
    "serve",
]
