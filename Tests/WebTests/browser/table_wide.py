"""A table of sixty columns in the table browser: visible texts are readable, nothing overlaps, and the key stays in
view."""
import pathlib

from playwright.sync_api import expect

from harness import SCREENSHOTS, tests
from table_access import CONTRAST, PHONE
from table_files import sql
from table_page import WritingServer, opened

TESTS, test = tests()

KINDS = ("INTEGER", "REAL", "TEXT", "DATE", "BLOB", "BOOLEAN")
COLUMNS = [f"c{number:02}_{KINDS[number % 6].lower()}" for number in range(1, 60)]
VALUES = ("value * 1000003 * {n}", "value / {n}.0", "'Text ' || {n} || ' of ' || value", "date('2020-01-01', (value * {n}) || ' days')",
          "CASE WHEN value % 5 THEN zeroblob({n} * 100 + value) END", "value % 2")
ROWS = 500

# Distances of headers from cells, overlaps, and cells whose text is cut too short to be recognizable. All must be
# empty.
LAYOUT = """(row) => {
  const found = [];
  const cells = [...document.querySelectorAll(`.table-list .live-row[aria-rowindex="${row + 2}"] > .cell`)];
  const headers = [...document.querySelectorAll(".table-list .head-cell")];
  if (cells.length !== headers.length) found.push(`${cells.length} cells, ${headers.length} headers`);
  const view = document.querySelector(".table-list .live-scroller").getBoundingClientRect();
  const fixed = cells[0].getBoundingClientRect();
  // Neither a title nor the handle at its edge shows through the key's title.
  const key = headers[0].getBoundingClientRect();
  for (let x = key.left + 1; x < key.right - 1; x += 2) {
    const top = document.elementFromPoint(x, (key.top + key.bottom) / 2)?.closest(".head-cell");
    if (top !== headers[0]) found.push(`${top?.textContent} is seen over the title of the key`);
  }
  cells.forEach((cell, index) => {
    const [box, header] = [cell.getBoundingClientRect(), headers[index].getBoundingClientRect()];
    const name = cell.dataset.text;
    if (Math.abs(box.left - header.left) > 1 || Math.abs(box.width - header.width) > 1) found.push(`${name} is not below its header`);
    if (index > 1 && cells[index - 1].getBoundingClientRect().right > box.left + 0.5) found.push(`${name} lies over the column before`);
    if (box.width < 64) found.push(`${name} is only ${box.width} wide`);
    const title = headers[index].querySelector("b");
    if (title.scrollWidth > title.clientWidth + 1) found.push(`the title of ${name} is cut`);
    const value = cell.querySelector(".value");
    const [left, right] = [index ? Math.max(box.left, fixed.right) : box.left, Math.min(box.right, view.right)];
    if (index && box.left < fixed.right || box.right > view.right) return;
    if (value.getBoundingClientRect().right > box.right + 1) found.push(`the text of ${name} runs out of its cell`);
    const top = document.elementFromPoint((left + right) / 2, (box.top + box.bottom) / 2)?.closest(".cell");
    if (top !== cell) found.push(`${top?.dataset.text} is seen in the place of ${name}`);
  });
  return found;
}"""


def wide(folder):
    path = str(pathlib.Path(folder) / "wide.sqlite")
    declared = ", ".join(f"{name} {KINDS[number % 6]}" for number, name in enumerate(COLUMNS, 1))
    values = ", ".join(VALUES[number % 6].format(n=number) for number in range(1, 60))
    sql(path, f"""PRAGMA journal_mode = WAL; CREATE TABLE wide(id INTEGER PRIMARY KEY, {declared});
        WITH RECURSIVE range(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM range WHERE value < {ROWS})
        INSERT INTO wide SELECT value, {values} FROM range;
        CREATE TABLE pairs(left_id INTEGER, right_id TEXT, {declared}, PRIMARY KEY (left_id, right_id)) WITHOUT ROWID;
        INSERT INTO pairs SELECT id, 'Right ' || id, {", ".join(COLUMNS)} FROM wide""")
    return path


def scroll(page, left):
    """Scrolls to this many pixels from the left; returns the reached position, and the last possible one."""
    return page.page.locator(".table-list .live-scroller").evaluate("""async (scroller, left) => {
      scroller.scrollLeft = left;
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
      return [scroller.scrollLeft, scroller.scrollWidth - scroller.clientWidth];
    }""", left)


@test
def sixty_columns_are_readable_at_every_scroll_position(browser, server):
    with opened(browser, server, "wide") as page:
        page.is_open("wide", ROWS)
        assert page.headers() == ["id", *COLUMNS]
        expect(page.cell(3, "id")).to_be_visible()
        key = page.cell(3, "id").bounding_box()["x"]
        at, end = scroll(page, 0)
        assert end > 3000, f"sixty columns take only {end} pixels more than the window"
        seen = set()
        while True:
            assert page.page.evaluate(LAYOUT, 3) == [], (at, page.page.evaluate(LAYOUT, 3))
            assert page.cell(3, "id").bounding_box()["x"] == key and page.header("id").bounding_box()["x"] == key
            seen |= set(page.page.evaluate("""() => { const view = document.querySelector(".table-list .live-scroller").getBoundingClientRect();
              const from = document.querySelector(".head-cell.fixed").getBoundingClientRect().right;
              return [...document.querySelectorAll(".head-cell:not(.fixed)")].filter((cell) => { const box = cell.getBoundingClientRect();
                return box.left >= from - 1 && box.right <= view.right + 1; }).map((cell) => cell.querySelector("b").textContent); }"""))
            if at >= end - 1:
                break
            at, end = scroll(page, at + 400)
        assert seen == set(COLUMNS), set(COLUMNS) - seen
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.page.screenshot(path=SCREENSHOTS / "tables-desktop-light-wide.png")
        assert page.page.evaluate(CONTRAST) == []


@test
def values_of_sixty_columns_are_those_of_the_file(browser, server):
    with opened(browser, server, "wide?sort=-id") as page:
        page.is_open("wide", ROWS)
        numbers = [name for name in COLUMNS if name.endswith(("text", "date"))]
        expected = sql(server.database, f"SELECT id, {', '.join(numbers)} FROM wide ORDER BY id DESC LIMIT 5").split("\n")
        page.shows("id", [line.split("|")[0] for line in expected])
        # Dates are shown in a readable form, texts unchanged.
        texts = [name for name in numbers if name.endswith("text")]
        assert page.rows_as(*texts)[:5] == sql(server.database, f"SELECT {', '.join(texts)} FROM wide ORDER BY id DESC LIMIT 5").split("\n")
        scroll(page, 4000)
        page.cell(0, texts[-1]).scroll_into_view_if_needed()
        sql(server.database, f"UPDATE wide SET {texts[-1]} = 'changed in a shell' WHERE id = {ROWS}")
        expect(page.cell(0, texts[-1])).to_have_text("changed in a shell")


@test
def keys_lead_to_the_last_of_sixty_columns_and_back(browser, server):
    with opened(browser, server, "wide") as page:
        page.is_open("wide", ROWS)
        page.cell(0, "id").click()
        for name in COLUMNS:
            page.page.keyboard.press("ArrowRight")
        cursor = page.page.locator(".cell.cursor")
        expect(cursor).to_have_attribute("data-text", COLUMNS[-1])
        inView = """(cell) => { const box = cell.getBoundingClientRect(); const view = cell.closest(".live-scroller").getBoundingClientRect();
          const from = cell.parentElement.querySelector(".fixed").getBoundingClientRect().right;
          return cell.matches(".fixed") || (box.left >= from - 1 && box.right <= view.right + 1); }"""
        assert cursor.evaluate(inView)
        for name in ["id", *COLUMNS[:-1]][::-1]:
            page.page.keyboard.press("ArrowLeft")
            expect(cursor).to_have_attribute("data-text", name)
            assert cursor.evaluate(inView), f"{name} is hidden, perhaps below the key"


@test
def both_columns_of_a_compound_key_stay(browser, server):
    with opened(browser, server, "pairs") as page:
        page.is_open("pairs", ROWS)
        before = [page.cell(2, name).bounding_box()["x"] for name in ("left_id", "right_id")]
        scroll(page, 2500)
        assert [page.cell(2, name).bounding_box()["x"] for name in ("left_id", "right_id")] == before
        end = page.cell(2, "right_id").bounding_box()
        under = page.page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('.cell').dataset.text", [end["x"] + end["width"] - 3, end["y"] + 9])
        assert under == "right_id", under


@test
def a_phone_shows_rows_of_sixty_columns_as_cards(browser, server):
    for scheme in ("light", "dark"):
        with opened(browser, server, "wide", color_scheme=scheme, **PHONE) as page:
            page.is_open("wide", ROWS)
            expect(page.cell(3, "id")).to_be_visible()
            # The titles can be scrolled sideways by themselves.
            last = page.page.locator(".head-cell").last
            last.scroll_into_view_if_needed()
            expect(last).to_be_in_viewport()
            assert page.page.evaluate("document.querySelector('.table-list .live-scroller').scrollLeft") == 0
            assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the whole page scrolls sideways"
            page.page.screenshot(path=SCREENSHOTS / f"tables-phone-{scheme}-wide.png")


def serve(folder):
    return WritingServer(wide(folder))
