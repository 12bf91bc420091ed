#!/usr/bin/env python3
"""The pages of the guides in a browser, as a reader copies them: notes, dashboard, kiosk.

scripts/check-readme.sh runs the guides' commands; here the guides' files are served and tested. The last line is "N
passed, N failed".
"""
import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile

from harness import ROOT, SCREENSHOTS, Server, chromium, expect, run, tests

TESTS, test = tests()


def files(guide, folder):
    """Writes the files that the guide shows."""
    text = (ROOT / "docs/guides" / f"{guide}.md").read_text()
    for name, block in re.findall(r"<!-- test: file (\S+) -->\n```\w+\n(.*?)```", text, re.S):
        file = pathlib.Path(folder, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block)


def is_error(message):
    return message.type == "error" and "favicon" not in message.location.get("url", "")


@contextlib.contextmanager
def opened(browser, guide, database, script):
    """Opens a page of the guide, which collects its errors, and starts the server."""
    with tempfile.TemporaryDirectory() as folder:
        files(guide, folder)
        folder = pathlib.Path(folder)
        subprocess.run(["sqlite3", folder / database], input=(folder / script).read_text(), text=True, check=True, capture_output=True)
        with Server(str(folder / database), folder / "site", "--config", str(folder / "freshet.yaml"), "--no-state") as server:
            page = browser.new_page()
            page.errors = []
            page.on("pageerror", lambda error: page.errors.append(str(error)))
            page.on("console", lambda message: is_error(message) and page.errors.append(message.text))
            page.goto(server.url)
            yield page, server
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=SCREENSHOTS / f"guide-{guide}.png")
            assert not page.errors, page.errors
            page.close()


@test
def notes_are_found_written_and_deleted(browser):
    with opened(browser, "notes", "notes.sqlite", "notes.sql") as (page, server):
        rows = page.locator("live-list .live-row")
        expect(rows).to_have_count(3)
        page.get_by_role("searchbox").fill("app")
        expect(rows).to_have_count(2)
        page.get_by_label("Title").fill("Cellar")
        page.get_by_label("Text").fill("Twelve crates of apples")
        page.get_by_role("button", name="Save").click()
        expect(rows).to_have_count(3)
        server.sql("UPDATE notes SET body = 'Pears' WHERE title = 'Garden'")
        expect(rows).to_have_count(2)
        page.get_by_role("searchbox").fill('"crates')
        expect(rows).to_have_count(1)
        rows.first.click()
        expect(page.get_by_label("Text")).to_have_value("Twelve crates of apples")
        page.get_by_role("button", name="Delete").click()
        expect(rows).to_have_count(0)
        assert server.sql("SELECT count(*) FROM notes") == "3"


@test
def the_dashboard_follows_the_file(browser):
    with opened(browser, "dashboard", "shop.sqlite", "shop.sql") as (page, server):
        expect(page.locator("#revenue")).to_have_text("556")
        expect(page.locator("tr").first).to_contain_text("West")
        server.sql("INSERT INTO orders(region, total, status) VALUES ('South', 400, 'new')")
        expect(page.locator("#revenue")).to_have_text("956")
        expect(page.locator("tr").first).to_contain_text("South")
        expect(page.locator("live-list .live-row").first).to_contain_text("400")


@test
def the_kiosk_shows_what_leaves_next(browser):
    with opened(browser, "kiosk", "board.sqlite", "board.sql") as (page, server):
        rows = page.locator("live-list .live-row")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Airport")
        expect(rows.first.locator("i")).to_be_hidden()
        server.sql("UPDATE departure SET late = 7 WHERE destination = 'Airport'")
        expect(rows.first.locator("i")).to_be_visible()


if __name__ == "__main__":
    with chromium() as browser:
        failed = run(TESTS, lambda: None, browser)
    sys.exit(1 if failed else 0)
