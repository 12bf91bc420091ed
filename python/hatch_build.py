"""Puts the command into a wheel, where FRESHET_BUNDLE names a folder that has it: `bin/freshet`, and `share` with what it serves."""

import os
from pathlib import Path
from typing import Any, Dict

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Bundle(BuildHookInterface):  # type: ignore[type-arg, misc]
    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        folder = os.environ.get("FRESHET_BUNDLE")
        if not folder or version == "editable":
            return
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                build_data["force_include"][str(path)] = f"freshet/{path.relative_to(folder)}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['FRESHET_PLATFORM']}"
