#!/usr/bin/env python3
"""Has each framework's program of docs/tenants.md write to a tenant's file, and looks for its row in the tenant's list.

    scripts/tenant-frameworks.py [--freshet PATH]
"""

import argparse
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.request

from served import Served

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/tenants.md"
# By the language of the program: how it is run, what must be there, and what it writes.
FRAMEWORKS = {
    "python": ([str(ROOT / "scripts/python.sh")], "import django", "from Django"),
    "ruby": (["ruby"], "require 'active_record'; require 'sqlite3'", "from Rails"),
    "php": (["php", "-d", "error_reporting=E_ALL&~E_DEPRECATED"], "require 'Illuminate/Database/autoload.php'; new PDO('sqlite::memory:');", "from Laravel"),
}


def is_there(command, needed):
    option = "-r" if command[0] == "php" else "-e" if command[0] == "ruby" else "-c"
    return shutil.which(command[0]) and subprocess.run([*command, option, needed], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--freshet", default=".build/release/freshet")
    options = parser.parse_args()
    page = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "storage/tenants").mkdir(parents=True)
        for name in ["tenants/acme", "tenants/globex"]:
            database = sqlite3.connect(folder / f"storage/{name}.sqlite")
            database.executescript("PRAGMA journal_mode = WAL; CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT, total INT)")
            database.close()
        with Served(pathlib.Path(options.freshet).resolve(), "serve", "storage", "--no-state", cwd=folder) as server:
            rows = lambda tenant: json.load(urllib.request.urlopen(f"{server.url}/db/tenants%2F{tenant}/v1/snapshot?from=orders", timeout=10))["rows"]
            for language, (command, needed, written) in FRAMEWORKS.items():
                if not is_there(command, needed):
                    print(f"skipped: what {written.split()[1]} needs is not installed")
                    continue
                # The list is open before the program runs.
                rows("acme")
                program = next(text for text in re.findall(rf"```{language}\n(.*?)```", page, re.S) if written in text)
                (folder / f"program.{language}").write_text(program)
                subprocess.run([*command, f"program.{language}"], cwd=folder, check=True)
                deadline = time.monotonic() + 10
                while not any(row["customer"] == written for row in rows("acme")):
                    assert time.monotonic() < deadline, f"{written} is not in the list"
                    time.sleep(0.02)
                print(f"ok      {written}")
            assert rows("globex") == [], "what was written to one tenant is another's"


if __name__ == "__main__":
    main()
