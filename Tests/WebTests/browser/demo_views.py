"""Banks, the console, the server; and the page as a whole."""
import os
import pathlib
import re
import subprocess
import tempfile

from playwright.sync_api import expect

from demo_page import DemoPage
from harness import ROOT, SCREENSHOTS, Server, another_page, mounted, program, tests

TESTS, test = tests()

JOINED = "FROM bank JOIN closing ON closing.bank_id = bank.id"


def counts_agree(page, demo, section):
    """Headers in view and bars have SQLite's counts."""
    expected = dict(line.split("|") for line in demo.sql(f"SELECT {section}, count(*) {JOINED} GROUP BY 1").split("\n"))
    bars = page.page.locator("#bars li")
    expect(bars).to_have_count(len(expected))
    shown = bars.evaluate_all("bars => bars.map((bar) => [...bar.querySelectorAll('.bar-title, .bar-count')].map((part) => part.textContent))")
    assert dict(shown) == expected, (shown, expected)


@test
def banks_are_sorted_by_their_closings_in_the_other_table(page, demo):
    page.view("banks")
    rows = page.rows("#bank-list")
    names = demo.sql(f"SELECT name {JOINED} ORDER BY substr(closed, 1, 4) DESC, closed DESC, name, id LIMIT {len(rows)}")
    assert [name for _, name in rows] == names.split("\n")
    counts_agree(page, demo, "substr(closed, 1, 4)")


@test
def sections_and_bars_count_along(page, demo):
    page.view("banks")
    page.page.get_by_text("By state").click()
    expect(page.page.locator("#bars-title")).to_have_text("Closings by state")
    expect(page.page.locator("#bars li").first).to_contain_text(demo.sql("SELECT min(state) FROM bank"))
    counts_agree(page, demo, "state")
    demo.sql("INSERT INTO bank(id, name, city, state, cert) VALUES (999999, 'Last Bank', 'Nowhere', 'AA', 1);"
             "INSERT INTO closing VALUES (999999, '2026-01-02', 'First Bank', 1)")
    expect(page.page.locator("#bars li").first).to_contain_text("AA")
    expect(page.page.locator("#bank-list .live-row").first).to_contain_text("Last Bank")
    counts_agree(page, demo, "state")
    demo.sql("DELETE FROM closing WHERE bank_id = 999999; DELETE FROM bank WHERE id = 999999")
    expect(page.page.locator("#bars li").first).not_to_contain_text("AA")
    page.page.locator("#bars button").last.click()
    last = demo.sql("SELECT max(state) FROM bank")
    expect(page.page.locator("#bank-list .live-title", has_text=last)).to_be_in_viewport()
    page.page.get_by_text("By year").click()


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
    expect(page.page.locator("#result-columns")).to_contain_text("len")
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


@test
def the_server_is_drawn_from_its_metrics(page, demo):
    page.view("server")
    expect(page.page.locator(".chart")).to_have_count(8)
    chart = lambda title: page.page.locator(".chart", has=page.page.get_by_text(title, exact=True)).locator("dd")
    expect(chart("Connections")).not_to_have_text("–")
    for depth in range(40):
        demo.sql(f"UPDATE well SET depth = {depth} WHERE id = (SELECT min(id) FROM well)")
    expect(chart("Ticks per second")).not_to_have_text("0.0")
    expect(chart("Commit to frame")).to_contain_text("ms")
    assert page.page.locator(".chart-line").first.get_attribute("points")


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
def a_file_of_ones_own_has_the_console(page, demo):
    with tempfile.TemporaryDirectory() as folder:
        database = str(pathlib.Path(folder) / "own.sqlite")
        real = ROOT.parent / "shared" / "data" / "banklist.csv"
        if real.exists():
            subprocess.run([program(), "import", database, "banks", str(real)], check=True, capture_output=True, timeout=60)
        else:
            print("        without ../shared/data/banklist.csv: a table of one row instead")
            subprocess.run(["sqlite3", database, "CREATE TABLE banks(id INTEGER PRIMARY KEY, x); INSERT INTO banks VALUES (1, 2)"], check=True)
        total = int(subprocess.run(["sqlite3", database, "SELECT count(*) FROM banks"], capture_output=True, text=True).stdout)
        with Server(database) as server:
            other = DemoPage(page.page.context.browser.new_page())
            other.page.goto(server.url)
            other.is_live()
            expect(other.page.locator("#tabs a:visible")).to_have_text(["Console", "Server"])
            expect(other.page.locator("#result-note")).to_contain_text(f"{total:,} row")
            assert other.errors == [], other.errors
            other.page.close()


@test
def there_were_no_errors(page, demo):
    # The browser itself reports the answers that say what is wrong with a query.
    errors = [error for error in page.errors if "400 (Bad Request)" not in error]
    assert errors == [], errors


@test
def it_recovers_when_the_server_is_killed_and_comes_back(page, demo):
    page.view("wells")
    page.page.evaluate("document.querySelector('#panes live-list').scrollToOffset(8000)")
    rows = page.rows()
    demo.kill()
    expect(page.page.locator("#state")).to_have_attribute("data-state", "reconnecting", timeout=10_000)
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
    page.page.wait_for_timeout(6000)
    assert float(page.page.locator("#rate").inner_text()) > 5
    assert float(page.page.locator("#frames").inner_text()) > 20
    demo.stop()
    demo.start()


def overlapping(page):
    """Controls that lie over one another, or stick out of the page."""
    return page.page.evaluate("""() => {
      const shown = [...document.querySelectorAll('button, a, select, input, h2, dt, dd, .state')]
        .filter((element) => !element.closest('live-list, .bars, .frame-log') && element.checkVisibility() && element.getBoundingClientRect().width > 2);
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
    # What README.md shows (docs/demo.png is a copy of it).
    with another_page(page, viewport={"width": 1160, "height": 600}) as other:
        other.open(demo)
        other.rows()
        other.page.wait_for_timeout(2500)
        other.page.locator("#burst").click()
        other.page.wait_for_timeout(200)
        demo.sql("UPDATE well SET name = 'Aardvark, moved here' WHERE id = (SELECT id FROM well ORDER BY county, name, id LIMIT 1 OFFSET 7)")
        expect(other.row("Aardvark, moved here")).to_be_visible()
        other.page.wait_for_timeout(350)
        other.page.screenshot(path=SCREENSHOTS / "readme.png")
