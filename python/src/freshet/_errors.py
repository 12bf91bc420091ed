"""Errors that the server sent, and errors of the connection."""

from __future__ import annotations

from typing import Any, Mapping


class FreshetError(Exception):
    """A refusal of the server, or the fate of the connection.

    `code` is one of section 5 of docs/protocol.md, or one of the client's own: `disconnected` (there is no connection, or it broke
    before the answer came), `unreachable` (nothing answers at the address), `refused` (the server takes no connection),
    `outcome_unknown` (a transaction whose answer was lost), `closed`, `no_server` and `server_failed` (`freshet.serve`).

    `retryable` says whether the same may succeed later, `fatal` whether the subscription is over.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = False, fatal: bool = False) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.fatal = fatal

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    def __reduce__(self) -> Any:
        return _restored, (self.code, self.message, self.retryable, self.fatal)

    @classmethod
    def of_message(cls, message: Mapping[str, Any]) -> FreshetError:
        """The error that a message of the type `error` carries."""
        return cls(
            str(message.get("code", "internal")),
            str(message.get("message", "")),
            retryable=bool(message.get("retryable", False)),
            fatal=bool(message.get("fatal", False)),
        )


def _restored(code: str, message: str, retryable: bool, fatal: bool) -> FreshetError:
    return FreshetError(code, message, retryable=retryable, fatal=fatal)


class MismatchError(Exception):
    """A message does not fit what the client holds: the answer to it is `resync`."""
