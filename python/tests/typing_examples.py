"""Checked by mypy, and not run: what the types of lists' rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import freshet


@dataclass
class Bank:
    id: int
    name: str


class Well(NamedTuple):
    id: int
    depth: float


async def rows_have_the_type_that_was_asked_for(client: freshet.Client) -> None:
    banks = await client.subscribe("bank", rows=Bank, section_by="state", order_by=["name"])
    names: List[str] = [bank.name for bank in banks.rows]
    first: Optional[Bank] = banks.at(0)
    wells = client.subscribe({"from": "well"}, rows=Well, window=(0, 50))
    depths: List[float] = [well.depth for well in (await wells.fetch(0, 10))]
    plain: Sequence[Tuple[Any, ...]] = (await client.subscribe("bank")).rows
    named: Sequence[Dict[str, Any]] = client.subscribe("bank", rows=dict).rows
    again = client.subscribe("bank", rows=Bank, since=banks.state)
    print(names, first, depths, plain, named, again)


async def changes_carry_the_rows(client: freshet.Client) -> None:
    async for change in client.subscribe("bank", rows=Bank):
        new: List[Bank] = change.differences().inserted
        print(new, change.state.rows[0].name)
    async for event in client.changes(tables=["bank"], columns={"bank": ["name"]}):
        either: Union[freshet.Commit, freshet.Gap] = event
        print(either.position)


async def mistakes_are_found(client: freshet.Client) -> None:
    client.subscribe("bank", orderby=["name"])  # type: ignore[call-overload]
    client.subscribe("bank", rows=Bank, since=client.subscribe("bank", rows=Well).state)  # type: ignore[arg-type]
    print((await client.subscribe("bank", rows=Bank)).rows[0].depth)  # type: ignore[attr-defined]
