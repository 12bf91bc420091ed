#!/usr/bin/env python3
"""Lists that recover by themselves: servers restart, tables are altered, tokens expire. The page is never reloaded.

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import base64
import contextlib
import hashlib
import hmac
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import expect

from harness import ROOT, Page, Server, chromium, eventually, public_with, run, tests

TESTS, test = tests()
PAGES = ROOT / "Tests" / "WebTests" / "pages"
SECRET = "0123456789abcdef0123456789abcdef"
ROWS = 300

SCHEMA = f"""PRAGMA journal_mode = WAL;
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, depth INT, spare INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
INSERT INTO item SELECT i, printf('Item %03d', i), i * 10, 0 FROM n;"""


class MendingPage(Page):
    def open(self, server, token="undefined"):
        """One list, whose connection asks for a token when `token` is a function."""
        self.page.goto(server.url + "client.html")
        self.page.evaluate(f"""async () => {{
          const [{{ connect }}] = await Promise.all([import("./freshet.js"), import("./live-list.js")]);
          document.documentElement.unreloaded = true;
          globalThis.token = null;
          globalThis.client = connect("", {{ token: {token} }});
          globalThis.list = document.createElement("live-list");
          list.client = client;
          list.query = {{ from: "item", select: ["name", "depth"], orderBy: ["name"] }};
          document.body.append(list);
        }}""")
        return self

    @property
    def list(self):
        return self.page.locator("live-list")

    @property
    def line(self):
        return self.page.locator(".live-stale")

    def is_live(self):
        expect(self.list).to_have_attribute("data-status", "live")
        expect(self.line).to_be_hidden()
        assert self.list.get_attribute("data-stale") is None
        assert self.page.evaluate("document.documentElement.unreloaded")

    def shows(self, text):
        expect(self.page.locator(".live-row", has_text=text).first).to_be_visible()

    def is_dimmed(self):
        opacity = "canvas => Number(getComputedStyle(canvas).opacity)"
        eventually(lambda: self.page.locator(".live-canvas").evaluate(opacity), lambda value: value < 0.7)

    def scrolls(self):
        """The held rows stay, and can be scrolled."""
        self.page.locator(".live-scroller").evaluate("scroller => { scroller.scrollTop = 360 }")
        eventually(self.page.locator(".live-row[data-state=shown]").all_text_contents, lambda texts: any("Item 014" in text for text in texts))
        self.page.locator(".live-scroller").evaluate("scroller => { scroller.scrollTop = 0 }")


@contextlib.contextmanager
def server_of(public, *options, config=None):
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder) / "items.sqlite"
        subprocess.run(["sqlite3", str(database), SCHEMA], check=True, capture_output=True)
        if config:
            (pathlib.Path(folder) / "secret.txt").write_text(SECRET)
            path = pathlib.Path(folder) / "freshet.yaml"
            path.write_text(config)
            options = (*options, "--config", str(path))
        with Server(str(database), public, *options) as server:
            yield server


def token(role, seconds):
    """A token that the server accepts for this many more seconds, including the 30 that it allows for differing clocks.
    """
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")
    claims = {"sub": "me", "role": role, "exp": int(time.time()) + seconds - 30}
    signed = part(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()) + b"." + part(json.dumps(claims).encode())
    return (signed + b"." + part(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest())).decode()


@test
def a_restart_is_counted_down_and_gone_by_itself(page, public):
    with server_of(public) as server:
        page.open(server).is_live()
        server.kill()
        expect(page.line).to_contain_text("Reconnecting")
        # The pauses between attempts grow, until the line counts seconds.
        expect(page.line).to_have_text("Reconnecting in 2 s")
        expect(page.line).to_have_text("Reconnecting in 1 s")
        page.is_dimmed()
        page.scrolls()
        server.sql("UPDATE item SET name = 'Item 000, meanwhile' WHERE id = 1")
        server.start()
        page.is_live()
        page.shows("Item 000, meanwhile")


@test
def a_column_goes_and_comes_back(page, public):
    with server_of(public) as server:
        page.open(server).is_live()
        server.sql("ALTER TABLE item RENAME COLUMN depth TO deep")
        expect(page.list).to_have_attribute("data-status", "waiting")
        expect(page.line).to_have_text("The table is being changed (the column `depth` is gone). These rows are from before.")
        expect(page.page.locator(".live-status")).to_contain_text("The table is being changed")
        page.is_dimmed()
        page.scrolls()
        server.sql("ALTER TABLE item DROP COLUMN deep; UPDATE item SET name = 'Item 000, between' WHERE id = 1")
        page.page.wait_for_timeout(500)
        assert page.list.get_attribute("data-status") == "waiting"
        server.sql("ALTER TABLE item ADD COLUMN depth INT DEFAULT 7777")
        page.is_live()
        page.shows("7777")
        page.shows("Item 000, between")
        server.sql("UPDATE item SET depth = 8888 WHERE id = 2")
        page.shows("8888")


@test
def a_restart_in_the_middle_of_a_migration_is_waited_out(page, public):
    with server_of(public) as server:
        page.open(server).is_live()
        server.sql("ALTER TABLE item RENAME TO thing")
        expect(page.list).to_have_attribute("data-status", "waiting")
        server.kill()
        expect(page.line).to_contain_text("Reconnecting")
        server.start()
        expect(page.list).to_have_attribute("data-status", "reconnecting")
        expect(page.line).to_contain_text("The table is being changed")
        server.sql("ALTER TABLE thing RENAME TO item; UPDATE item SET name = 'Item 000, back' WHERE id = 1")
        page.is_live()
        page.shows("Item 000, back")


@test
def another_query_goes_on_while_the_first_one_waits(page, public):
    with server_of(public) as server:
        page.open(server).is_live()
        server.sql("ALTER TABLE item RENAME COLUMN depth TO deep")
        expect(page.list).to_have_attribute("data-status", "waiting")
        page.page.evaluate("() => { list.query = { from: 'item', select: ['name', 'deep'], orderBy: ['name DESC'] } }")
        page.is_live()
        page.shows(f"Item {ROWS}")


@test
def a_token_that_expires_is_said_and_the_list_goes_on_with_a_new_one(page, public):
    config = """auth: { jwt: { algorithm: HS256, secretFile: secret.txt } }
roles: { reader: { tables: { item: }, queries: any } }
"""
    with server_of(public, config=config) as server:
        page.open(server, """() => {
          if (!token) throw new Error("not signed in");
          return token;
        }""")
        expect(page.line).to_have_text("Not signed in any more")
        page.page.evaluate("given => { token = given; client.retry() }", token("reader", 16))
        page.is_live()
        # The login service is down when the token has to be renewed.
        page.page.evaluate("token = null")
        expect(page.line).to_have_text("Not signed in any more")
        server.sql("UPDATE item SET name = 'Item 000, unseen' WHERE id = 1")
        page.page.evaluate("given => { token = given }", token("reader", 600))
        page.is_live()
        page.shows("Item 000, unseen")


@test
def a_token_that_is_refused_is_asked_for_again(page, public):
    config = """auth: { jwt: { algorithm: HS256, secretFile: secret.txt } }
roles: { reader: { tables: { item: }, queries: any } }
"""
    with server_of(public, config=config) as server:
        page.open(server, "() => token ?? 'nonsense'")
        expect(page.line).to_have_text("Not signed in any more")
        page.page.evaluate("given => { token = given }", token("reader", 600))
        page.is_live()
        page.shows("Item 001")


def main():
    with public_with(*PAGES.iterdir()) as public, chromium() as browser:
        page = MendingPage(browser.new_page(viewport={"width": 900, "height": 600}))
        return run(TESTS, lambda: None, page, public) > 0


if __name__ == "__main__":
    sys.exit(main())
