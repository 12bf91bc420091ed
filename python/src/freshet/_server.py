"""A server for the length of a program: the bundled command on a free port."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import weakref
from collections import deque
from typing import Deque, Iterable, Optional, Union

from ._binary import binary
from ._errors import FreshetError

_ADDRESS = re.compile(r" at (https?://[^\s/]+:\d+)/")


class Server:
    """A running server. Made by `freshet.serve`; `with` gives its address and stops it at the end."""

    def __init__(self, command: Iterable[str]) -> None:
        self._log: Deque[str] = deque(maxlen=200)
        self._process = subprocess.Popen(
            [*_dying_with_its_parent(), *command],
            env={name: value for name, value in os.environ.items() if name != "FRESHET_BIN"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        # Ends the server also if the program ends without stopping it.
        self._finalizer = weakref.finalize(self, _end, self._process)
        found: list[str] = []
        is_known = threading.Event()
        self._reader = threading.Thread(target=_read, args=(self._process, self._log, found, is_known), daemon=True)
        self._reader.start()
        is_known.wait(60)
        if not found:
            self.stop()
            self._reader.join(5)
            raise FreshetError("server_failed", "The server did not start:\n" + "\n".join(self._log))
        #: Its address: `http://127.0.0.1:40123`.
        self.url = found[0]

    @property
    def log(self) -> str:
        """The last lines that it wrote."""
        return "\n".join(self._log)

    def stop(self) -> None:
        """Ends the server, after what it is at."""
        self._finalizer()

    def __enter__(self) -> str:
        return self.url

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __str__(self) -> str:
        return self.url

    def __repr__(self) -> str:
        return f"<Server at {self.url}>"


def serve(
    path: Union[str, os.PathLike[str]],
    *,
    port: int = 0,
    allow_writes: bool = False,
    config: Union[str, os.PathLike[str], None] = None,
    arguments: Iterable[str] = (),
) -> Server:
    """Serves a database on this machine: `server = serve("app.sqlite")`, or `with serve("app.sqlite") as url`.

    The port is a free one unless `port` says otherwise. `allow_writes` lets clients write; `config` is a configuration file, and
    `arguments` are further ones of `freshet serve`. FreshetError: `no_server` where this installation has no command, and `server_failed`
    with what it said when it did not start. The server ends with the program.
    """
    options = [*(["--allow-writes"] if allow_writes else []), *([] if config is None else ["--config", os.fspath(config)])]
    return Server([binary(), "serve", os.fspath(path), "--no-wait", "--port", str(port), *options, *arguments])


def _dying_with_its_parent() -> list[str]:
    """A command that ends the server when this program is killed. To Linux, the thread that starts the command is its
    parent."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv and threading.current_thread() is threading.main_thread() else []


def _read(process: subprocess.Popen[str], log: Deque[str], found: list[str], is_known: threading.Event) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        log.append(line.rstrip("\n"))
        address = None if found else _ADDRESS.search(line)
        if address:
            found.append(address[1])
            is_known.set()
    is_known.set()


def _end(process: subprocess.Popen[str], patience: Optional[float] = 10) -> None:
    process.terminate()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
