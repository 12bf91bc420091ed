"""Many rows: selecting them by mouse and keys, copying them, and deleting them with the rows that depend on them."""
import csv
import io
import json

from playwright.sync_api import expect

import table_deleting
from harness import SCREENSHOTS, tests
from table_deleting import comes_back, everything
from table_access import PHONE
from table_editing import becomes
from table_page import SHOWN, opened

TESTS, test = tests()

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


def serve(folder):
    return table_deleting.serve(folder)


def bar(page):
    return page.page.get_by_role("toolbar", name="Selected rows")


def selected(page, *offsets):
    """Checks that these rows are selected, and no others in view."""
    if not offsets:
        expect(bar(page)).to_be_hidden()
    else:
        expect(bar(page).get_by_role("status")).to_have_text(f"{len(offsets)} {'row' if len(offsets) == 1 else 'rows'} selected")
    expect(page.page.locator(f"{SHOWN}.is-selected")).to_have_count(len(offsets))
    for offset in offsets:
        expect(page.page.locator(f'.live-row[aria-rowindex="{offset + 2}"].is-selected > [aria-selected="true"]').first).to_be_visible()


def copied(page, choice):
    bar(page).get_by_role("button", name="Copy").click()
    page.page.get_by_role("menuitem", name=choice).click()
    expect(page.toast).to_contain_text("copied")
    return page.page.evaluate("navigator.clipboard.readText()")


@test
def a_finger_that_rests_selects_a_row_and_taps_add_others(browser, server):
    with opened(browser, server, "notes", **PHONE) as page:
        page.is_open("notes", 50)
        touches = page.page.context.new_cdp_session(page.page)

        def at(offset):
            box = page.page.locator(f'.live-row[aria-rowindex="{offset + 2}"]').bounding_box()
            return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}

        def touch(kind, *points):
            touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", at(1))
        selected(page, 1)
        touch("touchEnd")
        selected(page, 1)
        for offset in (3, 0):
            page.page.touchscreen.tap(**at(offset))
        selected(page, 0, 1, 3)
        page.page.screenshot(path=SCREENSHOTS / "table-selection-phone.png")
        page.page.touchscreen.tap(**at(1))
        selected(page, 0, 3)
        bar(page).get_by_role("button", name="Select nothing").tap()
        selected(page)
        expect(page.page.locator("#row-panel")).to_be_hidden()
        # A finger that scrolls selects nothing.
        finger, top = at(4), at(4)["y"]
        touch("touchStart", finger)
        for step in range(1, 9):
            touch("touchMove", {**finger, "y": finger["y"] - 20 * step})
        touch("touchEnd")
        page.page.wait_for_function("top => document.querySelector('.live-row[aria-rowindex=\"6\"]').getBoundingClientRect().top < top - 100", arg=top)
        selected(page)


@test
def rows_are_selected_by_mouse_and_by_keys(browser, server):
    with opened(browser, server, "notes") as page:
        page.is_open("notes", 50)
        page.cell(1, "text").click()
        selected(page)
        page.cell(4, "text").click(modifiers=["Shift"])
        selected(page, 1, 2, 3, 4)
        assert page.page.evaluate("getSelection().isCollapsed")
        page.cell(2, "text").click(modifiers=["Control"])
        selected(page, 1, 3, 4)
        page.cell(7, "id").click(modifiers=["Control"])
        selected(page, 1, 3, 4, 7)
        page.page.screenshot(path=SCREENSHOTS / "table-selection.png")
        # The range begins at the row that was added last.
        page.cell(9, "id").click(modifiers=["Shift"])
        selected(page, 7, 8, 9)
        page.page.keyboard.press("Shift+ArrowUp")
        selected(page, 7, 8)
        for _ in range(3):
            page.page.keyboard.press("Shift+ArrowUp")
        selected(page, 5, 6, 7)
        page.page.keyboard.press("ArrowDown")
        selected(page)
        page.page.keyboard.press("Shift+Space")
        selected(page, 6)
        page.page.keyboard.press("Shift+Space")
        selected(page)
        page.page.keyboard.press("Shift+End")
        expect(bar(page).get_by_role("status")).to_have_text("44 rows selected")
        page.page.keyboard.press("Control+a")
        expect(bar(page).get_by_role("status")).to_have_text("50 rows selected")
        page.page.keyboard.press("Escape")
        selected(page)
        # Selecting does not open details, and a change of other rows does not change the selection.
        expect(page.panel).to_be_hidden()
        page.page.keyboard.press("Home")
        page.page.keyboard.press("Shift+ArrowDown")
        server.sql("INSERT INTO notes VALUES (-1, NULL, 'the first')")
        expect(page.cell(0, "text")).to_have_text("the first")
        selected(page, 1, 2)
        page.page.keyboard.press("Shift+ArrowDown")
        selected(page, 1, 2, 3)
        server.sql("DELETE FROM notes WHERE id = -1")
        selected(page, 0, 1, 2)
        bar(page).get_by_role("button", name="Select nothing").click()
        selected(page)
        expect(page.page.locator(".live-row:focus")).to_have_count(1)
        # Another view begins without a selection.
        page.page.keyboard.press("Control+a")
        page.go("notes?filter=id:lt:5")
        selected(page)


@test
def no_more_than_a_thousand_are_selected(browser, server):
    server.sql("CREATE TABLE many(id INTEGER PRIMARY KEY, text TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO many SELECT i, printf('%d %.*c', i, 400, 'x') FROM n")
    with opened(browser, server, "many", **CLIPBOARD) as page:
        page.is_open("many", 2500)
        page.cell(0, "id").click()
        page.page.keyboard.press("Control+a")
        expect(page.toast).to_contain_text("No more than 1,000 rows")
        expect(bar(page).get_by_role("status")).to_have_text("1,000 rows selected")
        # All selected rows are copied with their whole values, not as cells show them.
        lines = copied(page, "Cells for a spreadsheet").split("\n")
        assert len(lines) == 1000 and lines[999] == f"1000\t1000 {'x' * 400}", (len(lines), lines[-1])
        bar(page).get_by_role("button", name="Delete").click()
        page.page.get_by_role("dialog", name="Delete 1,000 rows of many?").get_by_role("button", name="Delete").click()
        becomes(server, "SELECT count(*), min(id) FROM many", "1500|1001")
        expect(bar(page)).to_be_hidden()
        page.toast.get_by_role("button", name="Undo").click()
        becomes(server, "SELECT count(*), sum(id), min(length(text)) FROM many", "2500|3126250|402")
    server.sql("DROP TABLE many")


@test
def selected_rows_are_copied(browser, server):
    server.sql("""UPDATE notes SET text = 'a "quoted", | text' || char(10) || 'of two lines', order_id = NULL WHERE id = 2""")
    with opened(browser, server, "notes", **CLIPBOARD) as page:
        page.is_open("notes", 50)
        page.cell(1, "text").click()
        page.page.keyboard.press("Control+c")
        expect(page.toast).to_have_text("text copied.")
        assert page.page.evaluate("navigator.clipboard.readText()") == 'a "quoted", | text\nof two lines'
        page.cell(0, "text").click()
        page.page.keyboard.press("Shift+ArrowDown")
        selected(page, 0, 1)
        page.page.keyboard.press("Control+c")
        expect(page.toast).to_have_text("2 rows copied.")
        assert page.page.evaluate("navigator.clipboard.readText()") == '1\t2\tnote 1\n2\t\t"a ""quoted"", | text\nof two lines"'
        rows = [["id", "order_id", "text"], ["1", "2", "note 1"], ["2", "", 'a "quoted", | text\nof two lines']]
        assert list(csv.reader(io.StringIO(copied(page, "CSV")))) == rows
        assert json.loads(copied(page, "JSON")) == [{"id": 1, "order_id": 2, "text": "note 1"}, {"id": 2, "order_id": None, "text": rows[2][2]}]
        assert copied(page, "Markdown") == '| id | order_id | text |\n| --- | --- | --- |\n| 1 | 2 | note 1 |\n| 2 |  | a "quoted", \\| text<br>of two lines |'
        # The copy has the shown columns, and the rows that still exist.
        server.sql("DELETE FROM notes WHERE id = 1")
        expect(page.cell(0, "order_id").locator(".value")).to_have_text("NULL")
        assert copied(page, "CSV").split("\r\n")[0] == "id,order_id,text"
        expect(page.toast).to_have_text("1 row copied.")
    server.sql("INSERT INTO notes VALUES (1, 2, 'note 1')")


@test
def selected_rows_are_deleted_with_what_refers_to_them(browser, server):
    with opened(browser, server, "orders") as page:
        page.is_open("orders", 40)
        before = everything(server)
        page.cell(6, "id").click()
        page.cell(8, "id").click(modifiers=["Control"])
        page.cell(9, "id").click(modifiers=["Control"])
        selected(page, 8, 9)
        page.cell(6, "id").click(modifiers=["Control"])
        page.page.keyboard.press("Shift+Delete")
        question = page.page.get_by_role("dialog", name="Delete 3 rows of orders?")
        # Order 8 is deleted with 7; 9 and 10 are among the three selected ones.
        expect(question).to_contain_text("This also deletes 1 orders, 16 order_items, 4 payments, 8 scans.")
        expect(question).to_contain_text("clears the references of")
        page.page.screenshot(path=SCREENSHOTS / "table-selection-question.png")
        question.get_by_role("button", name="Cancel").click()
        assert everything(server) == before
        selected(page, 6, 8, 9)
        bar(page).get_by_role("button", name="Delete").click()
        question.get_by_role("button", name="Delete").click()
        page.is_open("orders", 36)
        selected(page)
        expect(page.toast).to_contain_text("3 rows of orders deleted, and 1 orders, 16 order_items, 4 payments, 8 scans.")
        comes_back(page, server, before)


@test
def a_refused_deletion_leaves_all_of_them(browser, server):
    with opened(browser, server, "orders") as page:
        page.is_open("orders", 40)
        before = everything(server)
        page.cell(0, "id").click()
        page.page.keyboard.press("Control+a")
        page.page.keyboard.press("Shift+Delete")
        expect(page.toast).to_contain_text("3 shipments refer to them")
        assert everything(server) == before
        expect(bar(page).get_by_role("status")).to_have_text("40 rows selected")
    with opened(browser, server, "shipments") as page:
        page.is_open("shipments", 3)
        page.cell(0, "id").click()
        page.page.keyboard.press("Control+a")
        page.page.keyboard.press("Shift+Delete")
        page.page.get_by_role("dialog", name="Delete 3 rows of shipments?").get_by_role("button", name="Delete").click()
        becomes(server, "SELECT count(*) FROM shipments", "0")
        expect(page.toast).to_contain_text("3 rows of shipments deleted.")
        page.page.keyboard.press("Control+z")
        becomes(server, "SELECT count(*) FROM shipments", "3")
        assert everything(server) == before


@test
def a_view_is_copied_and_never_deleted(browser, server):
    server.sql("CREATE VIEW lines AS SELECT order_id, line FROM order_items WHERE order_id < 3; CREATE VIEW halves AS SELECT line / 2 AS half FROM order_items WHERE order_id = 1")
    with opened(browser, server, "halves", **CLIPBOARD) as page:
        page.is_open("halves", 4)
        page.cell(0, "half").click(modifiers=["Control"])
        page.cell(3, "half").click(modifiers=["Shift"])
        selected(page, 0, 1, 2, 3)
        expect(bar(page).get_by_role("button", name="Delete")).to_have_count(0)
        assert copied(page, "CSV").replace("\r", "").split("\n")[1:] == ["1,0", "2,1", "3,1", "4,2"]
        page.page.keyboard.press("Shift+Delete")
        becomes(server, "SELECT count(*) FROM halves", "4")
    server.sql("DROP VIEW lines; DROP VIEW halves")
