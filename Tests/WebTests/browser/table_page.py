"""The table browser, as an object for tests."""
import contextlib
import re
import urllib.parse

from playwright.sync_api import expect

from harness import ROOT, Page, Server, eventually

SHOWN = ".live-row:not(.live-leaving)[data-state=shown]"


class TablePage(Page):
    def open(self, server, address=""):
        self.page.goto("about:blank")
        self.page.goto(f"{server.url}#/{address}")
        return self

    def go(self, address):
        """Goes to another address in the same page."""
        self.page.evaluate("hash => { location.hash = hash }", f"#/{address}")

    @property
    def address(self):
        return urllib.parse.unquote_plus(self.page.url.split("#")[1])

    @property
    def title(self):
        return self.page.locator(".table-title h2")

    @property
    def count(self):
        return self.page.locator(".table-title .count")

    @property
    def rows(self):
        return self.page.locator(SHOWN)

    def is_open(self, table, rows):
        expect(self.title).to_have_text(table)
        expect(self.count).to_contain_text(f"{rows:,} row")
        return self

    def header(self, column):
        return self.page.get_by_role("columnheader", name=re.compile(f"^{re.escape(column)}( |$)"))

    def headers(self):
        return self.page.locator(".head-title b").all_inner_texts()

    def cell(self, row, column):
        """The cell in the row at an offset."""
        return self.page.locator(f'.live-row[aria-rowindex="{row + 2}"]:not(.live-leaving) > [data-text="{column}"]')

    def column(self, name):
        """Offsets and values of the rows in view, as the list holds them, once all have come."""
        return eventually(lambda: self.page.evaluate("""name => {
              const element = document.querySelector("live-list.table-list");
              if (!element || element.list?.status !== "live" || "outdated" in element.dataset || element.partial) return [];
              const rows = [...element.querySelectorAll(".live-row:not(.live-leaving)")].map((row) => element.rowAt(row));
              return rows.includes(null) ? [] : rows.sort((left, right) => left.offset - right.offset).map(({ row }) => String(row[name]));
            }""", name), what="rows")

    def rows_as(self, *columns):
        """The texts of the cells of rows with elements, one line each, in the order on the screen."""
        return self.page.evaluate("""columns => [...document.querySelectorAll(".table-list .live-row:not(.live-leaving)[data-state=shown]")]
          .sort((one, two) => one.getAttribute("aria-rowindex") - two.getAttribute("aria-rowindex"))
          .map((row) => columns.map((name) => row.querySelector(`:scope > [data-text="${name}"] > .value`).textContent).join("|"))""", list(columns))

    def shows(self, name, expected):
        """Waits until the first rows are these."""
        eventually(lambda: self.column(name)[: len(expected)], lambda values: values == expected, f"{name}, not {expected}")

    def edit(self, row, column, text):
        self.cell(row, column).dblclick()
        field = self.page.locator(".cell .value-editor input")
        field.fill(text)
        return field

    @property
    def panel(self):
        return self.page.locator("#row-panel")

    @property
    def toast(self):
        return self.page.locator("#toast")


class WritingServer(Server):
    """`freshet serve` with more arguments."""

    def __init__(self, database, *arguments):
        super().__init__(database, ROOT / "public", *arguments)


@contextlib.contextmanager
def opened(browser, server, address="", **options):
    """Opens a page of its own, which must not report errors."""
    page = TablePage(browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **options}))
    try:
        yield page.open(server, address)
        assert page.errors == [], page.errors
    finally:
        page.page.close()
