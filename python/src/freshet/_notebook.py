"""A live list in a notebook: one display, updated with each change. Needs IPython."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any, Dict, Set

from ._list import LiveList
from ._table import shown, table

# Tasks that nothing else refers to may be collected before they end.
_tasks: Set[asyncio.Task[None]] = set()


def show(live: LiveList[Any], *, rows: int, interval: float) -> None:
    """Shows the list until it is closed. Where nothing can be shown twice, as in a terminal, it is printed once."""
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if getattr(get_ipython(), "kernel", None) is None:
        print(repr(live))
        return
    handle = display(_bundle(live, rows, None), raw=True, display_id=True)
    # Outside the context of the cell, so that pictures belong to the cell that runs when they are made: programs that
    # execute notebooks listen to no other. Where they are shown, their display says.
    task = contextvars.Context().run(asyncio.get_running_loop().create_task, _follow(live, handle, rows, interval))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _follow(live: LiveList[Any], handle: Any, rows: int, interval: float) -> None:
    state, status = live.state, live.status
    while live.status != "closed":
        if live.state is state and live.status == status:
            await live.news()
            continue
        before = shown(state, rows) if state.is_complete else None
        state, status = live.state, live.status
        handle.update(_bundle(live, rows, before), raw=True)
        # Combine many changes into one redraw.
        await asyncio.sleep(interval)
    handle.update(_bundle(live, rows, None), raw=True)


def _bundle(live: LiveList[Any], rows: int, before: Any) -> Dict[str, str]:
    status = f"{live.status}: {live.error}" if live.error else live.status
    return {"text/html": table(live.state, rows=rows, before=before, status=status), "text/plain": repr(live)}
