#!/usr/bin/env python3
"""The demo page in a real browser against a real server and a real database (see harness.py).

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import json
import pathlib
import re
import sys
import tempfile
import time

from playwright.sync_api import expect

import harness
from harness import IN_ORDER, ROWS, SCREENSHOTS, Demo, another_page, chromium, run, tests


class Page(harness.Page):
    """The page, in the words of the tests."""

    def is_live(self):
        expect(self.page.locator("#state")).to_have_attribute("data-state", "live", timeout=20_000)

    def row(self, index):
        """The row at an offset of the result."""
        return self.page.locator(f'.row[aria-rowindex="{index + 1}"]:not(.leaving)')

    def name(self, index):
        return self.row(index).locator(".name")

    def scroll(self, part):
        """To a part of the list: 0 is the top, 1 the end."""
        self.page.evaluate(
            "part => { const list = document.getElementById('list');"
            " list.scrollTop = part * (list.scrollHeight - list.clientHeight) }", part)

    def rows_in_view(self):
        """Offset and name of every row in view, null for a row whose contents are awaited."""
        return self.page.evaluate("""() => {
          const view = document.getElementById('list').getBoundingClientRect();
          return [...document.querySelectorAll('.row[aria-rowindex]:not(.leaving)')]
            .filter((row) => {
              const { top, bottom } = row.getBoundingClientRect();
              return bottom > view.top && top < view.bottom;
            })
            .map((row) => [Number(row.getAttribute('aria-rowindex')) - 1,
              row.dataset.state === 'shown' ? row.querySelector('.name').textContent : null])
            .sort(([left], [right]) => left - right);
        }""")

    def settle(self):
        """The rows in view once all have their contents."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            rows = self.rows_in_view()
            if rows and all(name is not None for _, name in rows):
                return rows
            time.sleep(0.02)
        raise AssertionError(f"rows without contents: {rows}")


TESTS, test = tests()


def agrees_with_database(page, demo):
    """The rows in view are those that SQLite puts there, without a gap."""
    rows = page.settle()
    first = rows[0][0]
    names = demo.sql(f"SELECT name {IN_ORDER} LIMIT {len(rows)} OFFSET {first}").split("\n")
    assert [name for _, name in rows] == names, (first, rows, names)
    assert [offset for offset, _ in rows] == list(range(first, first + len(rows)))
    return rows


@test
def it_shows_sections_and_rows(page, demo):
    expect(page.page.locator("#total")).to_have_text(f"{int(demo.sql('SELECT count(*) FROM well')):,}")
    counties = demo.sql("SELECT count(DISTINCT county) FROM well")
    expect(page.page.locator("#sections")).to_have_text(counties)
    first, count = demo.sql("SELECT county, count(*) FROM well GROUP BY county LIMIT 1").split("|")
    expect(page.page.locator(".section-title").first).to_have_text(first)
    expect(page.page.locator(".section-count").first).to_have_text(f"{int(count):,}")
    assert agrees_with_database(page, demo)[0][0] == 0


@test
def it_scrolls_to_the_middle_under_a_sticky_header(page, demo):
    page.scroll(0.5)
    rows = agrees_with_database(page, demo)
    assert abs(rows[0][0] - ROWS / 2) < ROWS / 100, rows[0]
    county = demo.sql(f"SELECT county {IN_ORDER} LIMIT 1 OFFSET {rows[1][0]}")
    header = page.page.locator(".section", has=page.page.get_by_text(county, exact=True)).locator(".section-header")
    list_top = page.page.locator("#list").bounding_box()["y"]
    assert abs(header.bounding_box()["y"] - list_top) <= 1


@test
def it_scrolls_to_the_end(page, demo):
    page.scroll(1)
    assert agrees_with_database(page, demo)[-1][0] == int(demo.sql("SELECT count(*) FROM well")) - 1


@test
def it_holds_a_window_only(page, demo):
    for part in (0.1, 0.7, 0.3, 0.9, 0.2):
        page.scroll(part)
        agrees_with_database(page, demo)
    assert int(page.page.locator("#held").inner_text()) <= 200
    assert page.page.locator(".row").count() < 120


@test
def it_scrolls_by_keys(page, demo):
    page.page.locator("#list").focus()
    page.page.keyboard.press("End")
    expect(page.row(int(demo.sql("SELECT count(*) FROM well")) - 1)).to_be_in_viewport(timeout=10_000)
    page.page.keyboard.press("Home")
    expect(page.row(0)).to_be_in_viewport(timeout=10_000)
    page.page.keyboard.press("PageDown")
    expect(page.row(0)).not_to_be_in_viewport(timeout=10_000)
    # What is scrolled by keys glides: one that is on its way would carry the next test's position along.
    page.page.wait_for_timeout(1000)


@test
def a_letter_leads_to_its_first_county(page, demo):
    page.page.locator("#index button", has_text="M").click()
    offset = int(demo.sql("SELECT count(*) FROM well WHERE county < 'M'"))
    expect(page.row(offset)).to_be_in_viewport()
    assert agrees_with_database(page, demo)[0][0] <= offset


@test
def what_the_shell_changes_appears(page, demo):
    key = demo.sql(f"SELECT id {IN_ORDER} LIMIT 1 OFFSET 3")
    demo.sql(f"UPDATE well SET depth = 12345.6 WHERE id = {key}")
    expect(page.row(3).locator(".depth")).to_contain_text("12,345.6")
    demo.sql(f"UPDATE well SET name = '!First of all' WHERE id = {key}")
    expect(page.name(0)).to_have_text("!First of all")
    demo.sql(f"DELETE FROM well WHERE id = {key}")
    expect(page.name(0)).not_to_have_text("!First of all")
    agrees_with_database(page, demo)


@test
def sections_come_and_go(page, demo):
    demo.sql("INSERT INTO well(name, county, operator, status, depth, county_id, operator_id)"
             " VALUES ('Lonely 1', 'Aaa', 'Nobody', 'Drilling', 1, 1, 1)")
    expect(page.page.locator(".section-title").first).to_be_visible()
    expect(page.name(0)).to_have_text("Lonely 1")
    expect(page.page.get_by_text("Aaa", exact=True)).to_be_visible()
    demo.sql("DELETE FROM well WHERE county = 'Aaa'")
    expect(page.page.get_by_text("Aaa", exact=True)).to_have_count(0)
    agrees_with_database(page, demo)


@test
def the_view_stays_on_its_rows_when_others_come_above(page, demo):
    page.scroll(0.5)
    rows = agrees_with_database(page, demo)
    name = page.name(rows[3][0])
    before = name.bounding_box()["y"]
    demo.sql("INSERT INTO well(name, county, operator, status, depth, county_id, operator_id)"
             " SELECT 'Above ' || id, county, operator, status, depth, county_id, operator_id"
             f" {IN_ORDER} LIMIT 50")
    moved = page.name(rows[3][0] + 50)
    expect(moved).to_have_text(rows[3][1])
    page.page.wait_for_timeout(500)
    assert abs(moved.bounding_box()["y"] - before) <= 1
    agrees_with_database(page, demo)
    demo.sql("DELETE FROM well WHERE name LIKE 'Above %'")
    expect(page.name(rows[3][0])).to_have_text(rows[3][1])
    page.page.wait_for_timeout(500)
    assert abs(page.name(rows[3][0]).bounding_box()["y"] - before) <= 1


@test
def markup_in_data_is_text(page, demo):
    key = demo.sql(f"SELECT id {IN_ORDER} LIMIT 1 OFFSET 2")
    demo.sql(f"UPDATE well SET name = '!<img src=x onerror=alert(1)>' WHERE id = {key}")
    expect(page.name(0)).to_have_text("!<img src=x onerror=alert(1)>")
    demo.sql(f"DELETE FROM well WHERE id = {key}")


@test
def the_form_changes_a_well(page, demo):
    key = demo.sql(f"SELECT id {IN_ORDER} LIMIT 1 OFFSET 4")
    page.name(4).locator("button").click()
    page.page.locator("#editor input[name=name]").fill("!Renamed here")
    page.page.locator("#editor button.primary").click()
    expect(page.name(0)).to_have_text("!Renamed here")
    expect(page.page.locator("#latency-kind")).to_have_text("Write to screen")
    assert demo.sql(f"SELECT name FROM well WHERE id = {key}") == "!Renamed here"


@test
def escape_changes_nothing(page, demo):
    before = demo.sql(f"SELECT * {IN_ORDER} LIMIT 5")
    page.name(2).locator("button").click()
    page.page.locator("#editor input[name=name]").fill("!Never")
    page.page.keyboard.press("Escape")
    expect(page.page.locator("#editor")).not_to_be_visible()
    page.page.wait_for_timeout(200)
    assert demo.sql(f"SELECT * {IN_ORDER} LIMIT 5") == before


@test
def a_broken_connection_comes_back_and_offers_the_version_held(page, demo):
    sent, answers, routes = [], [], []

    def route(socket):
        server = socket.connect_to_server()
        routes.append((socket, server))
        socket.on_message(lambda text: (sent.append(json.loads(text)), server.send(text)))
        server.on_message(lambda text: (answers.append(json.loads(text)), socket.send(text)))

    with another_page(page) as other:
        other.page.route_web_socket(re.compile("/v1/live$"), route)
        other.page.goto(demo.url)
        other.is_live()
        other.settle()
        for change in ("", f"UPDATE well SET depth = 77.7 WHERE id = (SELECT id {IN_ORDER} LIMIT 1)"):
            del sent[:], answers[:]
            routes[-1][1].close()
            routes[-1][0].close(code=1012)
            expect(other.page.locator("#state")).to_have_attribute("data-state", "reconnecting")
            if change:
                demo.sql(change)
            other.is_live()
            agrees_with_database(other, demo)
            assert "since" in [message for message in sent if message["type"] == "subscribe"][0]
            kinds = [message["type"] for message in answers if message["type"] in ("snapshot", "patch", "error")]
            # The server chooses; with a patch the page must come to the same rows (see live-list.test.mjs).
            assert kinds[0] in ("patch", "snapshot"), kinds
        expect(other.row(0).locator(".depth")).to_contain_text("77.7")


@test
def who_prefers_reduced_motion_sees_colours_only(page, demo):
    with another_page(page, reduced_motion="reduce") as other:
        other.page.goto(demo.url)
        other.is_live()
        other.settle()
        demo.sql("INSERT INTO well(name, county, operator, status, depth, county_id, operator_id)"
                 " VALUES ('!New', 'Adams', 'Nobody', 'Drilling', 1, 1, 1)")
        expect(other.name(0)).to_have_text("!New")
        moving = other.page.evaluate(
            "document.getAnimations().filter(({ effect }) => effect?.getKeyframes?.()"
            ".some(({ transform, opacity }) => transform || opacity)).length")
        assert moving == 0, moving
        assert other.page.evaluate("document.getAnimations().length") > 0
    demo.sql("DELETE FROM well WHERE name = '!New'")


@test
def there_were_no_errors_so_far(page, demo):
    assert page.errors == [], page.errors


@test
def it_recovers_when_the_server_is_killed_and_comes_back(page, demo):
    page.scroll(0.4)
    rows = page.settle()
    demo.kill()
    expect(page.page.locator("#state")).to_have_attribute("data-state", "reconnecting", timeout=10_000)
    demo.sql(f"UPDATE well SET depth = 54.3 WHERE id = (SELECT id {IN_ORDER} LIMIT 1 OFFSET {rows[5][0]})")
    demo.start()
    page.is_live()
    expect(page.row(rows[5][0]).locator(".depth")).to_contain_text("54.3")
    assert agrees_with_database(page, demo)[0] == rows[0]
    # The browser itself reports attempts to connect that fail.
    assert all("ERR_CONNECTION_REFUSED" in error for error in page.errors), page.errors


@test
def it_follows_the_writer_and_the_writer_ends_with_the_server(page, demo):
    demo.stop()
    demo.start(writes_per_second=100)
    page.is_live()
    page.scroll(0)
    page.page.wait_for_timeout(4000)
    assert float(page.page.locator("#rate").inner_text()) > 5
    writer = demo.writer()
    assert writer
    demo.kill()
    deadline = time.monotonic() + 5
    while pathlib.Path(f"/proc/{writer}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not pathlib.Path(f"/proc/{writer}").exists(), "the writer outlived the server"
    demo.start()
    page.is_live()
    agrees_with_database(page, demo)
    expect(page.page.locator("#total")).to_have_text(f"{int(demo.sql('SELECT count(*) FROM well')):,}")


def take_screenshots(browser, demo):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    demo.stop()
    url = demo.start(writes_per_second=20)
    phone = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
    for device, options in {"desktop": {"viewport": {"width": 1280, "height": 800}}, "phone": phone}.items():
        for scheme in ("light", "dark"):
            page = Page(browser.new_page(color_scheme=scheme, **options))
            page.page.goto(url)
            page.is_live()
            page.page.wait_for_timeout(3500)
            page.page.screenshot(path=SCREENSHOTS / f"{device}-{scheme}.png")
            page.scroll(0.5)
            page.settle()
            page.page.wait_for_timeout(400)
            page.page.screenshot(path=SCREENSHOTS / f"{device}-{scheme}-middle.png")
            page.page.locator(".name button").nth(12).click()
            page.page.wait_for_timeout(300)
            page.page.screenshot(path=SCREENSHOTS / f"{device}-{scheme}-form.png")
            assert page.errors == [], page.errors
            page.page.close()


def main():
    with tempfile.TemporaryDirectory() as folder, Demo(folder) as demo, chromium() as browser:
        page = Page(browser.new_page(viewport={"width": 1280, "height": 800}))
        page.page.goto(demo.url)
        page.is_live()
        screenshots = lambda page, demo: take_screenshots(browser, demo)
        screenshots.__name__ = "screenshots_are_taken_without_errors"
        return run([*TESTS, screenshots], lambda: page.scroll(0), page, demo) > 0


if __name__ == "__main__":
    sys.exit(main())
