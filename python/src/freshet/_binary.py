"""The command that a wheel brings along."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

from ._errors import FreshetError


def binary() -> str:
    """The path of the command: `FRESHET_BIN`, the one of this package, or one on the PATH. FreshetError if none exists."""
    chosen = os.environ.get("FRESHET_BIN")
    if chosen:
        return chosen
    bundled = Path(__file__).parent / "bin" / "freshet"
    if bundled.exists():
        return str(bundled)
    # Not the script of this package, which would call itself.
    own = Path(sys.argv[0]).resolve() if sys.argv else None
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which("freshet", path=folder)
        if found and Path(found).resolve() != own and not _is_script(found):
            return found
    raise FreshetError("no_server", "This installation has no server: take the wheel for Linux, or name one in FRESHET_BIN.")


def main() -> NoReturn:
    """Becomes the command, with this program's arguments."""
    try:
        path = binary()
    except FreshetError as error:
        sys.exit(f"freshet: {error.message}")
    os.environ.pop("FRESHET_BIN", None)
    os.execv(path, ["freshet", *sys.argv[1:]])


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"
