#!/usr/bin/env python3
"""The page of a server that has several databases.

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import expect

from harness import SCREENSHOTS, Page, Server, chromium, run, tests

TESTS, test = tests()


def make(folder, name, rows):
    file = pathlib.Path(folder) / f"{name}.sqlite"
    file.parent.mkdir(parents=True, exist_ok=True)
    sql = "PRAGMA journal_mode = WAL; CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);"
    values = ", ".join(f"('{row}')" for row in rows)
    subprocess.run(["sqlite3", str(file), f"{sql} INSERT INTO item(name) VALUES {values}"], check=True, capture_output=True)
    return file



@test
def a_server_of_a_folder_shows_its_databases_and_switching_keeps_the_view(page, folder, server):
    page.page.goto(server.url)
    links = page.page.locator("#databases a")
    expect(links).to_have_text(["shared", "tenants/acme", "tenants/globex & söhne"])
    expect(page.page.locator("#tabs a:visible")).to_have_text(["Databases"])
    expect(page.page.locator("#state")).to_be_hidden()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.page.screenshot(path=SCREENSHOTS / "databases.png")
    links.nth(1).click()
    expect(page.page).to_have_title("item · tenants/acme · Freshet")
    expect(page.page.locator("#about")).to_have_text("tenants/acme")
    expect(page.page.locator("#table-frame").get_by_text("acme 1", exact=True)).to_be_visible()
    page.page.get_by_role("link", name="Console").click()
    page.page.get_by_role("link", name="Databases").click()
    expect(page.page.locator("#databases a[aria-current]")).to_have_text("tenants/acme")
    page.page.get_by_role("searchbox", name="Search databases").fill("GLOBEX")
    expect(links).to_have_count(1)
    links.first.click()
    expect(page.page).to_have_title("tenants/globex & söhne · Freshet")
    expect(page.page.locator("#tabs a[aria-current]")).to_have_text("Console")
    page.page.get_by_role("link", name="Tables").click()
    expect(page.page.locator("#table-frame").get_by_text("globex 1", exact=True)).to_be_visible()


@test
def what_is_written_to_a_database_appears_on_its_page(page, folder, server):
    page.page.goto(server.url + "db/tenants%2Facme/#/item")
    expect(page.page.locator("#table-frame").get_by_text("acme 2", exact=True)).to_be_visible()
    subprocess.run(["sqlite3", str(pathlib.Path(folder) / "tenants/acme.sqlite"), "INSERT INTO item(name) VALUES ('new here')"], check=True)
    expect(page.page.locator("#table-frame").get_by_text("new here", exact=True)).to_be_visible()
    subprocess.run(["sqlite3", str(pathlib.Path(folder) / "tenants/acme.sqlite"), "DELETE FROM item WHERE id > 2"], check=True)


@test
def a_server_of_one_file_has_no_databases(page, folder, server):
    with Server(str(pathlib.Path(folder) / "shared.sqlite")) as one:
        page.page.goto(one.url)
        expect(page.page.locator("#table-frame").get_by_text("shared 1", exact=True)).to_be_visible()
        expect(page.page.get_by_role("link", name="Databases")).to_be_hidden()


def main():
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name in ["shared", "tenants/acme", "tenants/globex & söhne"]:
            short = name.split("/")[-1].split(" ")[0]
            make(folder, name, [f"{short} 1", f"{short} 2"])
        with Server(folder) as server:
            page = Page(browser.new_page(viewport={"width": 1100, "height": 700}))
            return run(TESTS, lambda: None, page, folder, server) > 0


if __name__ == "__main__":
    sys.exit(main())
