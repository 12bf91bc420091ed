#!/usr/bin/env python3
"""Has each program of docs/operations.md make a token for a query, and follows what the token is for.

    scripts/sealed-queries.py [--freshet PATH]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from served import Served

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/operations.md"
SECRET = "0123456789abcdef0123456789abcdef"
PROGRAMS = {"python": ("py", sys.executable), "javascript": ("mjs", "node"), "ruby": ("rb", "ruby"), "php": ("php", "php")}


def get(url, token):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--freshet", default=".build/release/freshet")
    options = parser.parse_args()
    section = re.search(r"### Sealed queries\n(.*?)\n## ", PAGE.read_text(), re.S)[1]
    environment = {**os.environ, "SECRET": SECRET}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = sqlite3.connect(folder / "app.sqlite", isolation_level=None)
        rows.executescript("CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT); INSERT INTO orders VALUES (1, 7), (2, 8), (3, 7)")
        # As the page says it, and with a role, so that nothing but the token lets its bearer in.
        setting = re.search(r"`(auth: \{ jwt: .*?\} \})`", section)[1]
        (folder / "freshet.yaml").write_text(f"{setting}\nroles: {{ nobody: }}\n")
        with Served(
                options.freshet, "serve", folder / "app.sqlite", "--config", folder / "freshet.yaml", "--no-state", env=environment) as server:
            url = server.url
            for language, (ending, program) in PROGRAMS.items():
                if not shutil.which(program):
                    print(f"skipped: {program} is not installed")
                    continue
                file = folder / f"token.{ending}"
                file.write_text(re.search(rf"```{language}\n(.*?)```", section, re.S)[1])
                token = subprocess.run([program, str(file)], env=environment, check=True, capture_output=True, text=True).stdout.strip()
                status, answer = get(f"{url}/v1/snapshot", token)
                assert status == 200 and [row["id"] for row in answer["rows"]] == [1, 3], f"{language}: {status} {answer}"
                assert get(f"{url}/v1/snapshot?from=orders", token)[0] == 403, f"{language}: its bearer may ask more"
                print(f"ok      {language}")


if __name__ == "__main__":
    main()
