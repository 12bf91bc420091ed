"""A table of a million rows and twenty columns in the table browser: first rows come soon, and nothing wrong is shown
until all have come.

FRESHET_MILLION is another number of rows (100,000 at least), for machines that are slow.
"""
import contextlib
import os
import pathlib
import re

from playwright.sync_api import expect

from harness import SCREENSHOTS, eventually, tests
from table_access import CONTRAST, NAMES, OVERFLOWING, PHONE
from table_files import sql
from table_focus import is_row
from table_page import TablePage, WritingServer
from table_truth import FIRST, Held, every, is_dimmed, none, whole

TESTS, test = tests()

ROWS = int(os.environ.get("FRESHET_MILLION", "1000000"))
DEVICES = {"desktop-light": {}, "desktop-dark": {"color_scheme": "dark"}, "phone-light": PHONE, "phone-dark": {"color_scheme": "dark", **PHONE}}
# Seconds to wait for the first rows. This is not a benchmark, because other programs may keep the machine busy.
SOON = 5
NUMBERS = [f"c{number}" for number in range(1, 13)]

PLANTS = "Amber   Birch   Cedar   Dahlia  Elder   Fern    Ginger  Hazel   Iris    Juniper Larch   Maple   Nettle  Olive   Poplar  Willow  "

# A word that 40 rows of a million have, and one that all have; an index on the name, and none on the total, the status
# and the county.
SCHEMA = f"""PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;
CREATE TABLE orders(id INTEGER PRIMARY KEY, name TEXT, status TEXT, county TEXT, note TEXT, total REAL, placed DATE, paid BOOLEAN,
  {", ".join(f"{name} INTEGER" for name in NUMBERS)});
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
INSERT INTO orders SELECT i,
  trim(substr('{PLANTS}', 1 + 8 * (i * 7919 % 16), 8)) || ' ' || i,
  CASE WHEN i % 1000 = 0 THEN 'void' WHEN i % 3 THEN 'open' ELSE 'paid' END, printf('County %03d', i * 104729 % 254),
  CASE WHEN i % 25000 THEN 'order' ELSE 'zebra' END || ' w' || (i * 7919 % 5003) || ' w' || (i * 31 % 1009),
  (i * 7919 % 1000003) / 8.0, date('2015-01-01', (i % 4000) || ' days'), i % 2, {", ".join(f"i * {name[1:]} % 9973" for name in NUMBERS)} FROM n;
CREATE INDEX orders_name ON orders(name);
CREATE VIRTUAL TABLE orders_fts USING fts5(name, note, content='orders', content_rowid='id');
INSERT INTO orders_fts(orders_fts) VALUES ('rebuild');"""

# Records what is on the screen, whenever it differs from the frame before.
WATCH = """() => {
  globalThis.seen = [];
  const step = () => {
    const list = document.querySelector("live-list.table-list");
    if (list) {
      const rows = [...list.querySelectorAll(".live-row:not(.live-leaving)[data-state=shown]")];
      const index = (row) => Number(row.getAttribute("aria-rowindex"));
      const first = rows.sort((one, two) => index(one) - index(two))[0]?.querySelector("[data-text=id] > .value").textContent ?? null;
      const now = { first, hash: location.hash, isOutdated: "outdated" in list.dataset, count: document.querySelector(".table-title .count").textContent,
        hasBar: !document.querySelector(".loading-bar").hidden, section: list.querySelector(".live-title .live-count")?.textContent ?? null };
      const { frames = 0, ...last } = seen.at(-1) ?? {};
      if (JSON.stringify(now) === JSON.stringify(last)) seen.at(-1).frames = frames + 1;
      else seen.push({ ...now, frames: 1 });
    }
    requestAnimationFrame(step);
  };
  step();
}"""


def serve(folder):
    path = str(pathlib.Path(folder) / "million.sqlite")
    sql(path, SCHEMA)
    return WritingServer(path)


class LargePage(TablePage):
    """A page with a large table, whose rows are recorded frame by frame."""

    def watch(self):
        self.page.evaluate(WATCH)
        self.shown = self.first_row

    @property
    def first_row(self):
        return self.rows_as("id")[0]

    def begins_with(self, server, order, where="1"):
        """Checks that the first rows are soon these. Until then, the old rows were dimmed, and no count of all rows was
        shown with them or with a part of the rows."""
        expected = sql(server.database, f"SELECT id FROM orders WHERE {where} ORDER BY {order} LIMIT 8").split("\n")
        eventually(lambda: self.rows_as("id")[:8], lambda rows: rows == expected, f"{expected} first", SOON)
        is_dimmed(self, False)
        address = self.page.evaluate("location.hash")
        for frame in self.page.evaluate("seen.splice(0)"):
            assert frame["first"] in (self.shown, expected[0], None), frame
            # The address changes a moment before the page gets the event.
            if frame["hash"] == address and frame["first"] == self.shown != expected[0] and frame["frames"] > 10:
                assert frame["isOutdated"], frame
            if frame["isOutdated"]:
                assert not re.search(r"\d rows?( in|$)", frame["count"]), frame
        self.shown = expected[0]

    def is_whole(self, total, sections=None):
        """Waits until all rows have come and are counted. A long wait must have shown a bar, and a part of the rows
        must not have been counted as all."""
        expected = f"{total:,} rows" + (f" in {sections} sections" if sections else "")
        expect(self.count).to_have_text(expected, timeout=40_000)
        counted = self.page.locator(".live-title .live-count").first.inner_text() if sections else None
        for frame in self.page.evaluate("seen.splice(0)"):
            assert frame["count"] in ("counting…", f"{FIRST} rows so far", "0 rows so far", expected), frame
            assert frame["hasBar"] == ("so far" in frame["count"]), frame
            if "so far" in frame["count"] and frame["section"] is not None:
                assert frame["section"] in (f"{FIRST}+", counted), frame


@contextlib.contextmanager
def opened_large(browser, server, address="", **options):
    page = LargePage(browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **options}))
    try:
        page.open(server, address)
        expect(page.rows.first).to_be_visible(timeout=SOON * 1000)
        page.watch()
        yield page
        assert page.errors == [], page.errors
    finally:
        page.page.close()


def devices(*wanted):
    return ((name, DEVICES[name]) for name in wanted)


@test
def a_sort_a_filter_a_search_and_a_section_have_their_first_rows_soon(browser, server):
    for name, options in devices("desktop-dark", "phone-light"):
        with opened_large(browser, server, "orders", **options) as page:
            press = "tap" if "phone" in name else "click"
            getattr(page.header("name"), press)()
            page.begins_with(server, "name, id")
            # Sorted without an index, and starting from a list that is not complete.
            getattr(page.header("total"), press)() if "phone" not in name else page.go("orders?sort=total")
            page.begins_with(server, "total, id")
            page.page.get_by_role("searchbox").fill("zebra")
            page.begins_with(server, "total, id", "note LIKE 'zebra%'")
            page.is_whole(ROWS // 25_000)
            page.page.get_by_role("searchbox").fill("w")
            page.begins_with(server, "total, id")
            page.page.get_by_role("searchbox").fill("")
            page.begins_with(server, "total, id")
            page.page.get_by_role("combobox", name="Sections").select_option("county")
            page.begins_with(server, "county, total, id")
            page.go("orders?sort=-placed")
            page.begins_with(server, "placed DESC, id")
            getattr(page.page.get_by_role("button", name="Filter", exact=True), press)()
            line = page.page.get_by_role("group", name=re.compile("^Filter by"))
            line.get_by_label("Column").select_option("status")
            line.get_by_label("Value").fill("void")
            page.begins_with(server, "placed DESC, id", "status = 'void'")
            page.is_whole(ROWS // 1000)


@test
def a_link_to_a_sorted_table_has_its_first_rows_soon(browser, server):
    links = {"orders?sort=-total": "total DESC, id", "orders?sort=-name": "name DESC, id", "orders?section=status&sort=-c5": "status, c5 DESC, id"}
    for _, options in devices("desktop-light", "phone-dark"):
        for address, order in links.items():
            with opened_large(browser, server, address, **options) as page:
                page.begins_with(server, order)


@test
def the_whole_list_comes_with_its_counts_and_changes_like_any_other(browser, server):
    with opened_large(browser, server, "orders") as page:
        page.go("orders?section=county&sort=-total")
        page.begins_with(server, "county, total DESC, id")
        page.is_whole(ROWS, 254)
        expect(page.page.get_by_role("grid")).to_have_attribute("aria-rowcount", str(ROWS + 254 + 1))
        name, count = sql(server.database, "SELECT county, count(*) FROM orders GROUP BY county ORDER BY county LIMIT 1").split("|")
        title = page.page.locator(".live-title").first
        expect(title).to_contain_text(name)
        expect(title.locator(".live-count")).to_have_text(f"{int(count):,}")
        # Another program changes the first row.
        sql(server.database, f"UPDATE orders SET name = 'changed' WHERE id = {page.first_row}")
        expect(page.rows.filter(has_text="changed")).to_be_visible()
        assert page.rows_as("name")[0] == "changed"
        page.page.evaluate("offset => document.querySelector('live-list.table-list').scrollToOffset(offset)", ROWS // 2)
        middle = sql(server.database, f"SELECT id FROM orders ORDER BY county, total DESC, id LIMIT 1 OFFSET {ROWS // 2 + 3}")
        expect(page.rows.locator("[data-text=id] .value").get_by_text(middle, exact=True)).to_be_visible()


@test
def it_looks_right_at_each_stage(browser, server):
    """Takes pictures of states in which messages of the server are held back."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for name, options in devices("desktop-light", "desktop-dark", "phone-dark"):
        page = TablePage(browser.new_page(**{"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **options}))
        held = Held(page.page)
        page.open(server, "orders?where=id<300")
        page.is_open("orders", 299)

        def looks(stage):
            # Changed cells are marked for a moment.
            page.page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
            page.page.screenshot(path=SCREENSHOTS / f"tables-{name}-million-{stage}.png")
            for script in (NAMES, CONTRAST, OVERFLOWING):
                assert page.page.evaluate(script) == [], (name, stage, page.page.evaluate(script))

        bar = page.page.get_by_role("progressbar")
        held.hold(every)
        page.go("orders?section=county&sort=-total")
        is_dimmed(page, True)
        expect(page.count).to_have_text("0 rows so far")
        expect(bar).to_be_visible()
        looks("1-dimmed")
        held.hold(whole)
        is_dimmed(page, False)
        expect(page.count).to_have_text(f"{FIRST} rows so far")
        expect(page.page.locator(".live-title .live-count").first).to_have_text(f"{FIRST}+")
        looks("2-first")
        held.hold(none)
        page.go("orders?section=county&sort=-total&where=c1<50")
        expect(page.count).to_have_text(re.compile(r"^[\d,]+ rows in 254 sections$"), timeout=40_000)
        expect(bar).to_be_hidden()
        expect(page.page.locator(".live-title .live-count").first).not_to_contain_text("+")
        looks("3-whole")
        assert page.errors == [], page.errors
        page.page.close()


@test
def everything_is_asked_by_keys_alone(browser, server):
    with opened_large(browser, server, "orders") as page:
        press, type = page.page.keyboard.press, page.page.keyboard.type

        def tab_to(selector, key="Tab"):
            for _ in range(40):
                press(key)
                if page.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                    return
            raise AssertionError(f"{key} does not lead to {selector}")

        press("Tab")
        expect(page.page.get_by_role("link", name="Skip to the rows")).to_be_in_viewport()
        press("Enter")
        is_row(page, 1)
        # Sorting from the titles: the focus stays there.
        press("ArrowUp")
        for _ in range(5):
            press("ArrowRight")
        press("Enter")
        page.begins_with(server, "total, id")
        assert page.page.evaluate("document.activeElement.querySelector('b').textContent") == "total"
        expect(page.header("total")).to_have_attribute("aria-sort", "ascending")
        press("ArrowDown")
        is_row(page, page.first_row)
        # The dialog of keys, the details, and back to the row.
        press("?")
        expect(page.page.get_by_role("dialog", name="Keys")).to_be_visible()
        press("Escape")
        is_row(page, page.first_row)
        press("Space")
        expect(page.panel.get_by_role("heading", name=f"orders {page.first_row}")).to_be_visible()
        press("Escape")
        expect(page.panel).to_be_hidden()
        is_row(page, page.first_row)
        # A search, and then none.
        tab_to("[type=search]", "Shift+Tab")
        type("zebra")
        page.begins_with(server, "total, id", "note LIKE 'zebra%'")
        page.is_whole(ROWS // 25_000)
        press("Escape")
        page.begins_with(server, "total, id")
        # A filter: its value has the focus; the column and the condition come before it.
        tab_to(".filter-button")
        press("Enter")
        press("Shift+Tab")
        press("Shift+Tab")
        type("status")
        press("Tab")
        press("Tab")
        type("void")
        page.begins_with(server, "total, id", "status = 'void'")
        page.is_whole(ROWS // 1000)
        # With sections: from one to the next, and to the last row.
        tab_to("[aria-label=Sections]", "Shift+Tab")
        type("county")
        page.begins_with(server, "county, total, id", "status = 'void'")
        sections = int(sql(server.database, "SELECT count(DISTINCT county) FROM orders WHERE status = 'void'"))
        page.is_whole(ROWS // 1000, sections)
        # The row that was active last gets the focus, wherever it is now.
        tab_to(".live-row, .live-scroller")
        press("Home")
        is_row(page, sql(server.database, "SELECT id FROM orders WHERE status = 'void' ORDER BY county, total, id LIMIT 1"))
        press("]")
        is_row(page, sql(server.database, """SELECT id FROM orders WHERE county = (SELECT DISTINCT county FROM orders WHERE status = 'void' ORDER BY 1 LIMIT 1 OFFSET 1)
            AND status = 'void' ORDER BY total, id LIMIT 1"""))
        press("End")
        is_row(page, sql(server.database, "SELECT id FROM orders WHERE status = 'void' ORDER BY county DESC, total DESC, id DESC LIMIT 1"))
