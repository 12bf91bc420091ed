#!/usr/bin/env python3
"""Runs the snippets of "Use this list" as they are: in pages of another origin, of a file and of --public, in React, in
Node, with curl and with freshet watch.

The Swift one is run by SwiftSnippetTests. Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import contextlib
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from harness import ROOT, Server, another_origin, chromium, eventually, program, run, tests
from table_files import sql
from table_page import WritingServer, opened

TESTS, test = tests()


class Use:
    def __init__(self, browser, server, origin, pages, folder):
        self.browser = browser
        self.server = server
        self.origin = origin
        self.pages = pages
        self.folder = pathlib.Path(folder)

    @functools.cached_property
    def snippets(self):
        """The snippets by their names."""
        with opened(self.browser, self.server, "bank?where=name <> 'it''s \"$HOME\"'&section=state&sort=-name") as page:
            page.page.get_by_role("button", name="Use this list").click()
            dialog = page.page.get_by_role("dialog", name="Use this list")
            found = {}
            for name in dialog.locator("label").all_inner_texts():
                dialog.get_by_text(name, exact=True).click()
                found[name] = dialog.locator("pre").inner_text() if name != "Explanation" else None
            with page.page.expect_download() as download:
                dialog.get_by_role("link", name="CSV").click()
            self.saved = pathlib.Path(download.value.path()).read_text()
        assert list(found) == ["JavaScript", "Node", "HTML", "React", "Python", "Swift", "Terminal", "curl", "Events", "Explanation"], list(found)
        return found

    def change(self):
        """Another process changes a row, and changes it back."""
        name = self.server.sql("SELECT name FROM bank WHERE id = 2")
        self.server.sql(f"UPDATE bank SET name = '{'Zion' if name == 'Barton' else 'Barton'}' WHERE id = 2")

    def page(self, html, origin=None):
        """Opens a page of the allowed origin, or of another one, and collects the lines that it prints."""
        (self.pages / "index.html").write_text(html)
        page = self.browser.new_page()
        page.lines = []
        # Browsers ask for an icon at any time, and log that it is missing.
        page.on("console", lambda message: "favicon" in message.location.get("url", "") or page.lines.append(message.text))
        page.on("pageerror", lambda error: page.lines.append(str(error)))
        page.goto(origin or self.origin)
        return page

    def script(self):
        return f'<!doctype html><script type="module">{self.snippets["JavaScript"]}</script>'

    def follows(self, command, first, change):
        """Checks that the command prints the list, and then the change of a row."""
        with self.shell(command) as lines:
            count = line_comes(lines, first)
            self.change()
            line_comes(lines, change, count)

    @contextlib.contextmanager
    def shell(self, command):
        """Runs a command unchanged, in a shell that finds freshet, and collects the lines that it prints."""
        path = f"{pathlib.Path(program()).resolve().parent}:{os.environ['PATH']}"
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"], cwd=self.folder, env={**os.environ, "PATH": path, "HOME": "/nonexistent"}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        lines = []
        threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")), daemon=True).start()
        try:
            yield lines
        finally:
            process.kill()
            process.wait()


def line_comes(lines, pattern, after=0, wait=time.sleep):
    """Waits for a matching line after the first `after` lines, and returns the number of lines."""
    eventually(lambda: lines[after:], lambda found: any(re.search(pattern, line) for line in found), pattern, wait=wait)
    return len(lines)


def meanwhile(page):
    """Waits by Playwright's own function, which handles the lines that the page prints meanwhile."""
    return lambda seconds: page.wait_for_timeout(1000 * seconds)


@test
def a_page_of_another_origin_follows_the_list(use):
    page = use.page(use.script())
    count = line_comes(page.lines, "", wait=meanwhile(page))
    assert page.lines[0].startswith("3 "), page.lines
    use.change()
    line_comes(page.lines, "", count, meanwhile(page))
    assert page.lines[count].startswith("3 "), page.lines
    page.close()


def shows_changes(use, page):
    """Checks that the page shows the list, then the change of a row, and logs nothing."""
    page.get_by_text("Barton").or_(page.get_by_text("Zion")).first.wait_for()
    name = page.get_by_text("Zion") if use.server.sql("SELECT name FROM bank WHERE id = 2") == "Barton" else page.get_by_text("Barton")
    use.change()
    name.first.wait_for()
    assert page.lines == [], page.lines
    page.close()


@test
def a_page_with_nothing_else_shows_the_list(use):
    page = use.page(use.snippets["HTML"])
    assert page.evaluate("document.querySelector('live-list').offsetHeight === innerHeight"), "it is as high as the window"
    shows_changes(use, page)


@test
def the_same_page_is_opened_as_a_file(use):
    """The page's origin is null, which the server allows."""
    shows_changes(use, use.page(use.snippets["HTML"], (use.pages / "index.html").as_uri()))
    shows_changes(use, use.page(use.script().replace("console.log(total, sections)", "document.body.textContent = JSON.stringify([0, 1, 2].map((at) => list.at(at)))"), (use.pages / "index.html").as_uri()))


@test
def the_same_page_is_served_with_the_list(use):
    """For a page in the folder of --public, no origin has to be allowed."""
    with Server(use.server.database, use.pages) as server:
        shows_changes(use, use.page(use.snippets["HTML"].replace(use.server.url, server.url), server.url))


@test
def react_follows_the_list(use):
    modules = pathlib.Path("/usr/share/nodejs")
    if not (modules / "react-dom").exists():
        print("    skipped: React is not installed")
        return
    (use.folder / "list.jsx").write_text(use.snippets["React"])
    packages = use.folder / "node_modules"
    packages.mkdir()
    (packages / "freshet").symlink_to(ROOT)
    subprocess.run(
        ["esbuild", "list.jsx", "--bundle", "--format=esm", "--jsx=automatic", "--define:process.env.NODE_ENV=\"production\"", f"--outfile={use.pages / 'list.js'}"],
        cwd=use.folder, env={**os.environ, "NODE_PATH": str(modules)}, check=True, capture_output=True)
    page = use.page('<!doctype html><body><script type="module" src="list.js"></script>')
    page.get_by_text("3 rows").wait_for()
    shows_changes(use, page)


@test
def node_follows_the_list(use):
    text = use.snippets["Node"]
    fetch, start = (line.removeprefix("// ") for line in text.splitlines()[:2])
    (use.folder / "list.mjs").write_text(text)
    subprocess.run(["bash", "-c", fetch], cwd=use.folder, check=True, capture_output=True)
    version = int(subprocess.run(["node", "-p", "process.versions.node.split('.')[0]"], capture_output=True, text=True).stdout)
    if version < 20:
        print("    skipped: Node is older than 20")
        return
    command, option = re.match(r"(.*) \(Node 22; Node 20 with (.*)\)", start).groups()
    use.follows(command if version >= 22 else command.replace("node", f"node {option}", 1), "^3 ", "^3 ")


@test
def python_follows_the_list(use):
    (use.folder / "list.py").write_text(use.snippets["Python"])
    package = pathlib.Path(__file__).resolve().parents[3] / "python/src"
    use.follows(f"env PYTHONPATH={package} {sys.executable} -u list.py", "^snapshot 3", "^(patch|several) 3")


@test
def the_list_is_saved_as_a_file(use):
    _ = use.snippets
    assert use.saved.splitlines()[0].startswith("id,name,state") and len(use.saved.splitlines()) == 4, use.saved


@test
def curl_prints_the_rows(use):
    with use.shell(use.snippets["curl"]) as lines:
        line_comes(lines, r'"total":3')


@test
def events_come_as_they_happen(use):
    use.follows(use.snippets["Events"], "^event: snapshot", "^event: patch")


@test
def a_terminal_follows_the_list(use):
    use.follows(use.snippets["Terminal"], "Almena", "^[>*+]")


@test
def the_log_says_what_would_let_a_refused_page_in(use):
    with another_origin(use.pages) as origin:
        page = use.page(use.script(), origin)
        eventually(lambda: use.server.log, lambda log: f"--allow-origin {origin} (allowedOrigins)" in log, wait=meanwhile(page))
        page.close()


def main():
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = str(pathlib.Path(folder) / "bank.sqlite")
        sql(path, """PRAGMA journal_mode = WAL; CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT, state TEXT);
            INSERT INTO bank VALUES (1, 'Almena', 'Kansas'), (2, 'Barton', 'Kansas'), (3, 'Ericson', 'Nebraska')""")
        pages = pathlib.Path(folder) / "pages"
        pages.mkdir()
        with another_origin(pages) as origin, WritingServer(path, "--allow-origin", origin, "--allow-origin", "null") as server:
            failed = run(TESTS, lambda: None, Use(browser, server, origin, pages, folder))
    sys.exit(1 if failed else 0)


main()
