"""The demo page, as an object for tests."""

from playwright.sync_api import expect

from harness import IN_ORDER, Page, eventually


class DemoPage(Page):
    def open(self, demo, view="wells", path=""):
        self.page.goto(f"{demo.url}{path}#{view}")
        self.is_live()
        expect(self.page.locator(f"#{view}")).to_be_visible()
        return self

    def is_live(self):
        expect(self.page.locator("#state")).to_have_attribute("data-state", "live")

    def view(self, name):
        self.page.locator(f'#tabs a[data-view="{name}"]').click()
        expect(self.page.locator(f"#{name}")).to_be_visible()

    def pane(self, index=0):
        return self.page.locator(".pane").nth(index)

    def field(self, name, pane=0):
        return self.pane(pane).locator(f"[name={name}]")

    def row(self, name, pane=0):
        """The row of the well with this name."""
        return self.pane(pane).locator(
            ".live-row:not(.live-leaving)", has=self.page.locator(".name").get_by_text(name, exact=True))

    def rows(self, list="#panes live-list", column="name"):
        """The offset and a column's value of each row in view, once all of them have come."""
        return eventually(lambda: self.page.evaluate("""([selector, column]) => {
              const element = document.querySelector(selector);
              if (!element) return [];
              const { first, last } = element.visibleRange;
              if (element.list?.status !== "live") return [];
              const shown = Array.from(element.querySelectorAll(".live-row:not(.live-leaving)"), (row) => element.rowAt(row));
              return shown.filter((row) => row && row.offset >= first && row.offset < last)
                .sort((left, right) => left.offset - right.offset).map(({ offset, row }) => [offset, row[column]])
                .filter((_, index, all) => all.length === last - first);
            }""", [list, column]), what="rows")

    def top(self):
        """Resets the page to its state after opening."""
        self.page.locator("#tabs a[href='#wells']").click()
        if self.page.locator(".pane").count() > 1:
            self.page.locator("#split").click()
        self.field("filter").fill("")
        self.field("sort").select_option(index=0)
        self.field("sections").select_option("county")
        self.page.evaluate("document.querySelector('#panes live-list').scrollToOffset(0)")


def agrees(page, demo, order=IN_ORDER):
    """Waits until the rows in view are those that SQLite selects there."""
    def are_right(rows):
        return [name for _, name in rows] == demo.sql(f"SELECT name {order} LIMIT {len(rows)} OFFSET {rows[0][0]}").split("\n")

    return eventually(page.rows, are_right, "other rows")
