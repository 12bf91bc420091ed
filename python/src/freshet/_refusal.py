"""The fate of a list when the server answers it with an error, and how long clients wait before they try again."""

from __future__ import annotations

import random
from typing import Optional

from websockets.frames import Close

from ._errors import FreshetError

# Codes of queries that do not compile at the moment: a running migration may bring the table or column back.
_OF_SCHEMAS = ("no_such_table", "no_such_column", "schema_changed")
_OF_IDENTITY = ("unauthenticated", "not_allowed")

_FIRST_DELAY = 0.25
_LONGEST_DELAY = 15.0
# Close codes of a server that wants fewer connections, or other ones.
_DISCOURAGING = (1013, 4401, 4429)


def refusal_of(error: FreshetError, *, is_answered: bool) -> FreshetError:
    """The error of a request. One that the server cannot read (`orderby`) begins no subscription, so the server calls its error not
    fatal. Nothing else comes, so here it is."""
    if not is_answered and not error.retryable and error.code != "schema_changed":
        error.fatal = True
    return error


def outcome_of(error: FreshetError, *, has_rows: bool, is_token_refused: bool) -> str:
    """The fate of a list after an error.

    - `goes on`: the subscription is as it was;
    - `waits`: there is a subscription, and the server sends a snapshot when it can again;
    - `retries`: the subscription is over, and the client asks for a new one in a while;
    - `awaits token`: as `retries`, once the server has taken a token;
    - `fails`: only another query helps.
    """
    if not error.fatal:
        return "waits" if error.code == "schema_changed" else "goes on"
    if error.retryable or (has_rows and error.code in _OF_SCHEMAS):
        return "retries"
    return "awaits token" if is_token_refused and error.code in _OF_IDENTITY else "fails"


def retry_delay(failures: int) -> float:
    """Seconds before a list subscribes again, after 1 or more failures."""
    return min(_LONGEST_DELAY, 0.5 * 2.0 ** min(failures, 16))


def back_off(failures: int) -> float:
    """Seconds before the attempt to connect after 1 or more failures: half of it certain, half by chance, so that the clients of a
    server that restarts do not come all at once."""
    whole = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(failures - 1, 16))
    return whole / 2 + whole / 2 * random.random()


def failures_of(close: Optional[Close]) -> int:
    """How many failures a close code counts as; None: the connection broke."""
    return 4 if close and close.code in _DISCOURAGING else 1
