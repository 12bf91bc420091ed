"""The page with a list, as an object for tests."""
import time

from playwright.sync_api import expect

from harness import IN_ORDER, PATIENCE, Page


class ListPage(Page):
    def open(self, demo):
        self.page.goto(demo.url + "element.html")
        self.is_live()
        return self

    @property
    def scroller(self):
        return self.page.locator("#list .live-scroller")

    def is_live(self):
        expect(self.page.locator("#list")).to_have_attribute("data-status", "live")

    def row(self, index):
        """The row at an offset of the result."""
        number = self.page.evaluate(
            "offset => { const path = list.list.state.pathOf(offset); return path && offset + path[0] + 2 }", index)
        return self.page.locator(f'#list .live-row[aria-rowindex="{number}"]:not(.live-leaving)')

    def has_all_rows(self, demo):
        """Waits until the list has as many rows as the database: only then is the row at an offset known."""
        expect(self.scroller).to_have_attribute(
            "aria-rowcount", demo.sql("SELECT count(*) + count(DISTINCT county) FROM well"))

    def named(self, name):
        return self.page.locator("#list .live-row:not(.live-leaving)", has=self.page.get_by_text(name, exact=True))

    def scroll(self, part):
        """Scrolls to a fraction of the list: 0 is the top, 1 the end."""
        self.scroller.evaluate(
            "(scroller, part) => { scroller.scrollTop = part * (scroller.scrollHeight - scroller.clientHeight) }", part)
        self.frames(2)

    def until(self, expression):
        """Waits for an expression. Playwright's own function cannot, because the page's policy forbids evaluating
        texts."""
        self.page.evaluate(
            f"async () => {{ while (!({expression})) await new Promise(requestAnimationFrame) }}")

    def frames(self, count=2):
        self.page.evaluate(
            "async count => { for (; count > 0; count--) await new Promise(requestAnimationFrame) }", count)

    def catch_up(self):
        """Waits until the list has drawn all earlier commits by any program. A write through the server that changes
        nothing is a later commit. Once the server has answered it, the list gets the missing patches before any other
        answer, such as that of `fetch`."""
        self.page.evaluate("""async () => {
          const statements = [{ sql: "UPDATE well SET depth = depth WHERE id = (SELECT min(id) FROM well)" }];
          const answer = await fetch("v1/transactions", {
            method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ statements }) });
          if (!answer.ok) throw new Error(await answer.text());
          await list.list.fetch({ offset: 0, limit: 0 });
        }""")
        self.frames(2)

    def settle(self):
        """The rows in view, once all have their contents and do not move."""
        deadline = time.monotonic() + PATIENCE
        rows = []
        while time.monotonic() < deadline:
            self.frames(1)
            rows, moving = self.page.evaluate(
                "[rowsInView(), document.getAnimations().some(({effect}) => effect.getKeyframes()"
                ".some(({transform}) => transform && transform !== 'none'))]")
            if rows and not moving and all(name is not None for _, name, _ in rows):
                return rows
        raise AssertionError(f"rows without contents, or still moving: {rows}")

    def focused(self):
        """The focused element: the row's name, or otherwise the element's tag, class or id."""
        return self.page.evaluate("""() => {
          const element = document.activeElement;
          if (element.matches('.live-row')) return element.firstElementChild?.textContent ?? 'awaited';
          return element.id || element.classList[0] || element.localName;
        }""")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        self.frames(1)


def agrees_with_database(page, demo, order=IN_ORDER):
    """Checks that the rows in view are those that SQLite selects there, one below the other without gaps."""
    page.catch_up()
    rows = page.settle()
    first = rows[0][0]
    names = demo.sql(f"SELECT name {order} LIMIT {len(rows)} OFFSET {first}").split("\n")
    assert [name for _, name, _ in rows] == names, (first, rows, names)
    assert [offset for offset, _, _ in rows] == list(range(first, first + len(rows)))
    return rows


def insert(demo, name, county="Adams"):
    demo.sql("INSERT INTO well(name, county, operator, status, depth, county_id, operator_id)"
             f" VALUES ('{name}', '{county}', 'Nobody', 'Drilling', 1, 1, 1)")


def name_at(demo, offset):
    return demo.sql(f"SELECT name {IN_ORDER} LIMIT 1 OFFSET {offset}")


def id_at(demo, offset):
    return demo.sql(f"SELECT id {IN_ORDER} LIMIT 1 OFFSET {offset}")
