"""The table browser never shows anything wrong while rows of other criteria are loading."""
import contextlib
import json
import pathlib

from playwright.sync_api import expect

from harness import tests
from table_files import sql
from table_page import TablePage, WritingServer

TESTS, test = tests()

ROWS = 30_000
FIRST = 200


def serve(folder):
    path = str(pathlib.Path(folder) / "truth.sqlite")
    sql(path, f"""PRAGMA journal_mode = WAL;
        CREATE TABLE event(id INTEGER PRIMARY KEY, kind TEXT, amount REAL);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
        INSERT INTO event SELECT i, 'kind ' || (i % 3), i * 1.5 FROM n""")
    return WritingServer(path)


class Held:
    """Holds back those messages of the server to a page that `wanted` selects."""

    def __init__(self, page):
        self.wanted = lambda message: False
        self.messages = []
        page.route_web_socket("**/v1/live", self.route)

    def route(self, socket):
        self.socket = socket
        server = socket.connect_to_server()
        socket.on_message(server.send)
        server.on_message(self.arrived)

    def arrived(self, text):
        message = json.loads(text)
        # The order of a list's messages stays; other lists' messages need not wait.
        if self.wanted(message) or any(held.get("id") == message.get("id") for _, held in self.messages):
            self.messages.append((text, message))
        else:
            self.socket.send(text)

    def hold(self, wanted):
        self.wanted = wanted
        messages, self.messages = self.messages, []
        for text, _ in messages:
            self.arrived(text)


def every(message):
    return True


def whole(message):
    return message.get("total", 0) > FIRST


def none(message):
    return False


@contextlib.contextmanager
def opened(browser, server):
    """Opens the table in a page of its own, with an object that can hold its messages back."""
    page = TablePage(browser.new_page(viewport={"width": 1280, "height": 800}))
    held = Held(page.page)
    try:
        yield page.open(server, "event").is_open("event", ROWS), held
        assert page.errors == [], page.errors
    finally:
        page.page.close()


def is_dimmed(page, dimmed):
    canvas = page.page.locator(".table-list .live-canvas")
    expect(canvas).to_have_css("opacity", "0.4" if dimmed else "1")


@test
def old_rows_are_dimmed_and_not_counted_until_those_of_the_new_criteria_are_there(browser, server):
    with opened(browser, server) as (page, held):
        bar = page.page.get_by_role("progressbar")
        grid = page.page.get_by_role("grid")
        for change in (lambda: page.header("amount").click(), lambda: page.go("event?where=id>7"), lambda: page.go("event?section=kind")):
            held.hold(every)
            change()
            is_dimmed(page, True)
            expect(grid).to_have_attribute("aria-busy", "true")
            expect(page.count).not_to_contain_text(f"{ROWS:,}")
            expect(bar).to_be_visible()
            expect(page.count).to_have_text("0 rows so far")
            # Now the first rows are sent, but not the whole list.
            held.hold(whole)
            is_dimmed(page, False)
            expect(page.count).to_have_text(f"{FIRST} rows so far")
            expect(bar).to_have_attribute("aria-valuetext", f"{FIRST} rows so far")
            expect(grid).to_have_attribute("aria-rowcount", "-1")
            held.hold(none)
            expect(page.count).to_contain_text("rows")
            expect(page.count).not_to_contain_text("so far")
            expect(bar).to_be_hidden()
            expect(grid).to_have_attribute("aria-busy", "false")
        assert int(grid.get_attribute("aria-rowcount")) == ROWS + 3 + 1


@test
def a_section_that_is_not_complete_says_so(browser, server):
    with opened(browser, server) as (page, held):
        held.hold(whole)
        page.go("event?section=kind")
        count = page.page.locator(".live-title .live-count").first
        expect(count).to_have_text(f"{FIRST}+")
        held.hold(none)
        expect(count).to_have_text("10,000")
        # Complete sections are not marked: there are only 60 rows.
        page.go("event?section=kind&where=id<=60")
        expect(count).to_have_text("20")


@test
def other_criteria_need_not_wait_for_the_whole_list_of_the_last_ones(browser, server):
    with opened(browser, server) as (page, held):
        held.hold(whole)
        page.go("event?sort=-amount")
        page_shows(page, ROWS)
        page.go("event?sort=-id&where=id<300")
        page_shows(page, 299)
        held.hold(none)
        page.is_open("event", 299)


def page_shows(page, first):
    """The first row, also of a list that is not complete yet."""
    expect(page.cell(0, "id")).to_contain_text(str(first))
    is_dimmed(page, False)


@test
def criteria_that_are_refused_leave_no_row_that_passes_for_theirs(browser, server):
    with opened(browser, server) as (page, _):
        page.go("event?where=amount<")
        expect(page.page.locator(".filter-bar [role=alert]")).to_contain_text("syntax error")
        is_dimmed(page, True)
        expect(page.count).to_have_text("")
        expect(page.page.get_by_role("progressbar")).to_be_hidden()
        page.go("event?where=amount<15")
        page.is_open("event", 9)
        is_dimmed(page, False)
