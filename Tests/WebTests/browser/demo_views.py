"""Tests of the banks, the console and the server, and of the page as a whole."""
import os
import pathlib
import re
import subprocess
import tempfile
import time

from playwright.sync_api import expect

from demo_page import DemoPage
from harness import PATIENCE, ROOT, SCREENSHOTS, Server, another_page, mounted, program, tests

TESTS, test = tests()

JOINED = "FROM bank JOIN closing ON closing.bank_id = bank.id"


def counts_agree(page, demo, section):
    """The chart has SQLite's counts, and 0 for years without a section."""
    expected = dict(line.split("|") for line in demo.sql(f"SELECT {section}, count(*) {JOINED} GROUP BY 1").split("\n"))
    shown = {}
    deadline = time.monotonic() + PATIENCE
    while {name: count for name, count in shown.items() if count != "0"} != expected:
        assert time.monotonic() < deadline, (shown, expected)
        rows = page.page.locator("#bank-chart .chart-table tbody tr")
        shown = dict(rows.evaluate_all("rows => rows.map(({ cells }) => [...cells].map((cell) => cell.textContent))"))


@test
def banks_are_sorted_by_their_closings_in_the_other_table(page, demo):
    page.view("banks")
    rows = page.rows("#bank-list")
    names = demo.sql(f"SELECT name {JOINED} ORDER BY substr(closed, 1, 4) DESC, closed DESC, name, id LIMIT {len(rows)}")
    assert [name for _, name in rows] == names.split("\n")
    counts_agree(page, demo, "substr(closed, 1, 4)")


@test
def sections_and_the_chart_count_along(page, demo):
    page.view("banks")
    page.page.get_by_text("By state").click()
    expect(page.page.locator("#chart-title")).to_have_text("Closings by state")
    counts_agree(page, demo, "state")
    demo.sql("INSERT INTO bank(id, name, city, state, cert) VALUES (999999, 'Last Bank', 'Nowhere', 'AA', 1);"
             "INSERT INTO closing VALUES (999999, '2026-01-02', 'First Bank', 1)")
    expect(page.page.locator("#bank-chart .chart-name").filter(has_text="AA")).to_be_visible()
    expect(page.page.locator("#bank-list .live-row").first).to_contain_text("Last Bank")
    counts_agree(page, demo, "state")
    # Totals are those of all rows, whichever rows are held.
    expect(page.page.locator("#bank-list .section-total").first).to_have_text("assets of $1 million")
    assets, largest = (int(float(demo.sql(f"SELECT round({call}(assets)) {JOINED}"))) for call in ("sum", "max"))
    expect(page.page.locator("#bank-list .live-totals")).to_have_text(f"Assets ${assets:,} million, largest ${largest:,} million")
    demo.sql("UPDATE closing SET assets = 2500000 WHERE bank_id = 999999")
    expect(page.page.locator("#bank-list .section-total").first).to_have_text("assets of $2,500,000 million")
    expect(page.page.locator("#bank-list .live-totals")).to_contain_text("largest $2,500,000 million")
    demo.sql("DELETE FROM closing WHERE bank_id = 999999; DELETE FROM bank WHERE id = 999999")
    expect(page.page.locator("#bank-chart .chart-name").filter(has_text="AA")).to_have_count(0)
    page.page.locator("#bank-chart .chart-plot").focus()
    page.page.keyboard.press("End")
    page.page.keyboard.press("Enter")
    last = demo.sql("SELECT max(state) FROM bank")
    expect(page.page.locator("#bank-list .live-title", has_text=last)).to_be_in_viewport()
    page.page.get_by_text("By year", exact=True).click()


def fill(page, **fields):
    for field in page.page.locator("#fields input").all():
        field.fill(fields.get(field.get_attribute("name"), ""))
    page.page.locator("#query-form .primary").click()


@test
def the_console_answers_any_query(page, demo):
    page.view("console")
    fill(page, **{"from": "operator", "select": "name, length(name) AS len", "where": "len > :n", "params": '{"n": 15}',
                  "orderBy": "len DESC, name", "sectionBy": "len"})
    expected = demo.sql("SELECT name FROM operator WHERE length(name) > 15 ORDER BY length(name), length(name) DESC, name").split("\n")
    expect(page.page.locator("#result-note")).to_contain_text(f"{len(expected)} rows")
    rows = page.rows("#result-list")
    assert [name for _, name in rows] == expected[:len(rows)]
    expect(page.page.locator("#result-list .columns")).to_contain_text("len")
    sent = page.page.locator("#frame-log li.sent", has_text='"type":"subscribe"').first
    expect(sent).to_contain_text('"length(name) AS len"')


@test
def the_console_shows_frames_as_they_come_and_what_explains_them(page, demo):
    page.view("console")
    fill(page, **{"from": "county", "orderBy": "name"})
    expect(page.page.locator("#result-list .live-row").first).to_be_visible()
    demo.sql("UPDATE county SET state = state || '?' WHERE id = 1")
    expect(page.page.locator("#frame-log li").first).to_contain_text("patch")
    demo.sql("UPDATE county SET state = rtrim(state, '?') WHERE id = 1")
    page.page.get_by_text("Explanation", exact=True).click()
    expect(page.page.locator("#explanation .badge")).to_have_text("Followed change by change")
    expect(page.page.locator("#explanation table")).to_contain_text("county")
    expect(page.page.locator("#explanation table")).to_contain_text("row by row")
    fill(page, **{"from": "county", "select": "name, count(*) OVER () AS n"})
    expect(page.page.locator("#explanation .badge")).to_have_text("Run again and differed")
    page.page.get_by_text("Frames", exact=True).click()


@test
def the_console_keeps_its_query_over_a_reload(page, demo):
    page.view("console")
    fill(page, **{"from": "well", "orderBy": "depth", "limit": "7"})
    expect(page.page.locator("#result-note")).to_contain_text("7 rows")
    page.page.reload()
    expect(page.page.locator("[name=orderBy]")).to_have_value("depth")
    expect(page.page.locator("#result-note")).to_contain_text("7 rows")


@test
def the_console_says_what_is_wrong(page, demo):
    page.view("console")
    fill(page, **{"from": "nosuch"})
    expect(page.page.locator("#query-error")).to_contain_text("no such table: nosuch")
    fill(page, **{"from": "county", "params": "{"})
    expect(page.page.locator("#query-error")).to_contain_text("params must be JSON")
    fill(page, **{"from": "county"})
    expect(page.page.locator("#query-error")).to_be_hidden()


@test
def queries_are_copied_and_work_elsewhere(page, demo):
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.view("console")
    fill(page, **{"from": "county", "where": "name <> 'it''s'", "orderBy": "name", "limit": "3"})
    copied = {}
    for kind in ("curl", "javascript", "watch"):
        page.page.locator(f"[data-copy={kind}]").click()
        expect(page.page.locator("#copied")).to_have_text("Copied")
        copied[kind] = page.page.evaluate("navigator.clipboard.readText()")
    folder = str(pathlib.Path(program()).parent)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    watched = subprocess.run(["bash", "-c", f"{copied['watch']} --once"], capture_output=True, text=True, timeout=20, env=environment)
    first = demo.sql("SELECT name FROM county ORDER BY name LIMIT 1")
    assert first in watched.stdout, (copied["watch"], watched)
    curl = subprocess.run(["bash", "-c", f"timeout 2 {copied['curl']} -s"], capture_output=True, text=True, timeout=20)
    assert "event: snapshot" in curl.stdout and first in curl.stdout, (copied["curl"], curl)
    imported, rest = copied["javascript"].split("\n", 1)
    imported = re.sub(r'^import (.*) from (".*");$', r"const \1 = await import(\2);", imported)
    rest = rest.replace("console.log(total, sections);", "return [total, sections.length];")
    assert page.page.evaluate(f"async () => {{ {imported} {rest} }}") == [3, 1], copied["javascript"]


def chart(page, title):
    return page.page.locator(".chart", has=page.page.get_by_text(title, exact=True)).locator("dd")


@test
def the_server_page_draws_what_a_commit_takes(page, demo):
    page.view("server")
    expect(page.page.locator(".chart")).to_have_count(8)
    expect(chart(page, "Connections")).not_to_have_text("–")
    expect(chart(page, "Memory")).to_contain_text("MB")
    for depth in range(40):
        demo.sql(f"UPDATE well SET depth = {depth} WHERE id = (SELECT min(id) FROM well)")
    expect(chart(page, "Commits a second")).not_to_have_text("0.0")
    expect(chart(page, "From commit to client")).to_contain_text("ms")
    expect(page.page.locator("#latency-note")).to_contain_text("Half of the last commits took")
    assert page.page.locator(".chart-line").first.get_attribute("points")


@test
def the_server_page_lists_what_is_open_and_who_shares_it(page, demo):
    """Checks the page with a given report of the server, and with an older server that has none."""
    report = {"server": "freshet/0.1.0", "startedAt": 1000, "now": 1000 + 7200, "file": "x.sqlite", "listsLeftOut": 2, "lists": [
        {"query": {"from": "well", "sectionBy": "county", "orderBy": ["name"]}, "subscriptions": 3, "rows": 244292, "sections": 89,
         "maintenance": "incremental", "reason": "A changed row is looked up by its key.", "tables": ["well"]},
        {"query": {"from": "<b>closing</b>"}, "subscriptions": 0, "rows": 1, "sections": 1, "maintenance": "refetch", "reason": "It has a window function.",
         "tables": ["closing"]}],
        "slowQueries": [{"query": {"from": "closing"}, "count": 12, "lastSeconds": 0.81, "longestSeconds": 1.92}]}
    with another_page(page) as other:
        other.page.route("**/v1/server", lambda route: route.fulfill(json=report))
        other.open(demo, "server")
        rows = other.page.locator("#open-lists tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("well, in sections by county, ordered by name")
        expect(rows.first).to_contain_text("shared by 3")
        expect(rows.first).to_contain_text("244,292 rows in 89 sections")
        expect(rows.first).to_contain_text("change by change")
        expect(rows.last).to_contain_text("<b>closing</b>")
        expect(rows.last).to_contain_text("kept for clients that reconnect")
        expect(rows.last).to_contain_text("It has a window function.")
        expect(other.page.locator("#open-lists")).to_contain_text("and 2 more lists")
        expect(other.page.locator("#slow-queries tbody tr")).to_contain_text("12 times")
        expect(other.page.locator("#server-note")).to_have_text("x.sqlite, served by freshet 0.1.0, running for 2 hours.")
    with another_page(page) as other:
        asked = []
        other.page.route("**/v1/server", lambda route: (asked.append(1), route.fulfill(status=404, json={"title": "Not Found"})))
        other.open(demo, "server")
        expect(other.page.locator("#open-lists")).to_have_text("This server does not list what is open.")
        other.page.wait_for_timeout(2500)
        assert len(asked) == 1, asked


@test
def the_console_begins_on_a_list_that_moves(page, demo):
    with another_page(page) as other:
        other.open(demo, "console")
        expect(other.page.locator("#result-note")).to_have_text("100 rows, 1 section")
        first = demo.sql("SELECT id FROM well ORDER BY county, name, id LIMIT 1")
        demo.sql(f"UPDATE well SET depth = 1234.5 WHERE id = {first}")
        expect(other.page.locator("#frame-log li").first).to_contain_text("patch")
        expect(other.page.locator("#result-list .live-row").first).to_contain_text("1234.5")


@test
def it_works_below_any_path(page, demo):
    with mounted(demo, "/tools/live/") as url:
        other = DemoPage(page.page.context.browser.new_page())
        other.page.goto(url)
        other.is_live()
        assert other.rows()
        for view in ("banks", "console", "server"):
            other.view(view)
        assert other.errors == [], other.errors
        other.page.close()


@test
def a_file_of_ones_own_has_tables_and_the_console(page, demo):
    with tempfile.TemporaryDirectory() as folder:
        database = str(pathlib.Path(folder) / "own.sqlite")
        real = ROOT.parent / "shared" / "data" / "banklist.csv"
        if real.exists():
            subprocess.run(["sqlite3", database, f".import --csv {real} banks"], check=True, capture_output=True, timeout=60)
        else:
            print("        without ../shared/data/banklist.csv: a table of one row instead")
            subprocess.run(["sqlite3", database, "CREATE TABLE banks(id INTEGER PRIMARY KEY, x); INSERT INTO banks VALUES (1, 2)"], check=True)
        total = int(subprocess.run(["sqlite3", database, "SELECT count(*) FROM banks"], capture_output=True, text=True).stdout)
        with Server(database) as server:
            other = DemoPage(page.page.context.browser.new_page())
            other.page.goto(server.url)
            other.is_live()
            expect(other.page.locator("#tabs a:visible")).to_have_text(["Tables", "Activity", "SQL", "Console", "Server"])
            other.view("console")
            expect(other.page.locator("#result-note")).to_contain_text(f"{total:,} row")
            assert other.errors == [], other.errors
            other.page.close()


@test
def there_were_no_errors(page, demo):
    # The browser itself logs the answers with errors of queries.
    errors = [error for error in page.errors if "400 (Bad Request)" not in error]
    assert errors == [], errors


@test
def it_recovers_when_the_server_is_killed_and_comes_back(page, demo):
    page.view("wells")
    page.page.evaluate("document.querySelector('#panes live-list').scrollToOffset(8000)")
    rows = page.rows()
    demo.kill()
    expect(page.page.locator("#state")).to_have_attribute("data-state", "reconnecting")
    demo.sql(f"UPDATE well SET depth = 54.3 WHERE id = (SELECT id FROM well ORDER BY county, name, id LIMIT 1 OFFSET {rows[5][0]})")
    demo.start()
    page.is_live()
    expect(page.row(rows[5][1]).locator(".feet").first).to_have_text("54.3")
    assert page.rows()[0] == rows[0]


@test
def it_follows_the_writer(page, demo):
    demo.stop()
    demo.start(writes_per_second=100)
    page.is_live()
    page.page.evaluate("document.querySelector('#panes live-list').scrollToOffset(0)")
    # Reconnecting may take some seconds, and drawing may be slow, because other tests run at the same time.
    page.page.wait_for_function("() => +document.querySelector('#rate').textContent > 5 && +document.querySelector('#frames').textContent > 20", timeout=90_000)
    demo.stop()
    demo.start()


def overlapping(page):
    """Controls that overlap each other, or stick out of the page."""
    return page.page.evaluate("""() => {
      const shown = [...document.querySelectorAll('button, a, select, input, h2, dt, dd, .state')]
        .filter((element) => !element.closest('live-list, live-chart, .frame-log') && element.checkVisibility() && element.getBoundingClientRect().width > 2);
      const boxes = shown.map((element) => [element, element.getBoundingClientRect()]);
      const out = boxes.filter(([, { left, right }]) => left < -1 || right > innerWidth + 1);
      const over = boxes.flatMap(([one, a], index) => boxes.slice(index + 1).filter(([other, b]) => !one.contains(other) && !other.contains(one)
        && a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom).map(([other]) => [one, other]));
      return [...out.map(([element]) => [element]), ...over].map((elements) => elements.map((element) => element.id || element.textContent || element.name));
    }""")


@test
def screenshots_are_taken_and_nothing_overlaps(page, demo):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    demo.stop()
    demo.start(writes_per_second=20)
    devices = {"desktop": {"viewport": {"width": 1280, "height": 800}},
               "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}}
    for device, options in devices.items():
        for scheme in ("light", "dark"):
            with another_page(page, color_scheme=scheme, **options) as other:
                other.open(demo)
                for view in ("wells", "banks", "console", "server"):
                    other.view(view)
                    other.page.wait_for_timeout(1500)
                    assert overlapping(other) == [], (device, view, overlapping(other))
                    other.page.screenshot(path=SCREENSHOTS / f"{device}-{scheme}-{view}.png")
                other.view("wells")
                other.page.locator("#split").click()
                other.page.wait_for_timeout(1000)
                other.page.locator(".pane .live-row .name").nth(3).click()
                other.page.wait_for_timeout(300)
                other.page.screenshot(path=SCREENSHOTS / f"{device}-{scheme}-editor.png")
                assert other.errors == [], other.errors


@test
def on_a_phone_the_console_keeps_its_navigation_and_its_words(page, demo):
    with another_page(page, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as other:
        other.open(demo, "console")
        other.page.locator("#result-list .live-row[data-state=shown]").first.wait_for()
        assert other.page.evaluate("!document.activeElement.matches('input')"), "no keyboard comes up"
        other.page.locator("#console").evaluate("main => main.scrollTo(0, 10000)")
        for name in ("Wells", "Banks", "Tables", "Console", "Server"):
            tab = other.page.locator("#tabs a", has_text=name).bounding_box()
            assert tab["y"] > 0 and tab["x"] >= 0 and tab["x"] + tab["width"] <= 390, (name, tab)
        cut = other.page.locator("#result-list .live-cell").evaluate_all(
            "cells => cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1 || cell.scrollHeight > cell.clientHeight + 1).map((cell) => cell.textContent)")
        assert cut == [], cut
        # Columns that do not fit are scrolled into view, with their titles.
        other.page.locator("#result-list .live-scroller").evaluate("scroller => scroller.scrollTo(10000, 0)")
        title = other.page.get_by_role("columnheader", name="depth").bounding_box()
        cell = other.page.locator("#result-list .live-row").first.locator(".live-cell").last.bounding_box()
        assert abs(title["x"] - cell["x"]) < 8 and cell["x"] + cell["width"] <= 390, (title, cell)
