"""The layout of the table browser, the focus, and how long messages are shown."""
import re
import time

from playwright.sync_api import expect

from harness import tests
from table_access import PHONE
from table_files import sql
from table_page import TablePage, opened
from table_truth import Held, none

TESTS, test = tests()

FOCUSED = "document.activeElement.matches('.live-row') ? document.activeElement.querySelector('.cell .value').textContent : document.activeElement.className"


def is_row(page, key):
    """Checks that the row with this key has the focus."""
    page.page.wait_for_function(f"key => ({FOCUSED}) === key", arg=str(key))


@test
def section_letters_never_cover_a_column(browser, server):
    for options in ({"viewport": {"width": 800, "height": 700}}, PHONE):
        with opened(browser, server, "Products?section=ProductName", **options) as page:
            page.is_open("Products", 77)
            index = page.page.locator(".table-list .live-index")
            expect(index).to_be_visible()
            scroller = page.page.locator(".table-list .live-scroller")
            for left in (0, 150, 10_000):
                scroller.evaluate("(scroller, left) => { scroller.scrollLeft = left }", left)
                assert scroller.bounding_box()["x"] + scroller.bounding_box()["width"] <= index.bounding_box()["x"] + 0.5
            last = page.cell(1, "Discontinued").bounding_box()
            assert last["x"] + last["width"] <= index.bounding_box()["x"] + 1, "the last column ends before the letters"


@test
def the_sort_arrow_is_always_visible(browser, server):
    for options in ({}, PHONE):
        with opened(browser, server, "Orders?sort=-CustomerID", **options) as page:
            page.is_open("Orders", 830)
            header = page.header("CustomerID")
            header.focus()
            for _ in range(8):
                page.page.keyboard.press("Shift+ArrowLeft")
            # On phones, titles are in a strip, each with its natural width.
            assert options or header.bounding_box()["width"] <= 64
            if not options:
                header.hover()
            seen = header.locator(".sort-mark").evaluate("""mark => { const { left, width, top, height } = mark.getBoundingClientRect();
              return [mark.textContent, width > 6, [0.1, 0.5, 0.9].every((part) => document.elementFromPoint(left + width * part, top + height / 2) === mark)]; }""")
            assert seen == ["↓", True, True], seen
            page.page.evaluate("localStorage.clear()")


@test
def details_of_a_row_do_not_push_the_table_down(browser, server):
    for width in (1280, 1150, 900):
        with opened(browser, server, "Orders?where=OrderID>10250", viewport={"width": width, "height": 800}) as page:
            page.is_open("Orders", 827)
            before = page.cell(2, "OrderID").bounding_box()
            page.go("Orders?where=OrderID>10250&row=[10253]")
            expect(page.panel.get_by_role("heading", name="Orders 10253")).to_be_visible()
            assert page.cell(2, "OrderID").bounding_box() == before, width
            # Escape closes the panel whether or not an element has the focus.
            if width == 900:
                page.page.evaluate("document.activeElement.blur()")
            page.page.keyboard.press("Escape")
            expect(page.panel).to_be_hidden()
            assert page.cell(2, "OrderID").bounding_box() == before, width


@test
def escape_closes_the_details_and_the_focus_returns_to_the_row(browser, server):
    with opened(browser, server, "Orders") as page:
        page.is_open("Orders", 830)
        heading = lambda key: expect(page.panel.get_by_role("heading", name=f"Orders {key}")).to_be_visible()
        # The panel is opened by the pointer, then for another row. The focus stays in the table.
        page.cell(3, "OrderID").hover()
        page.page.locator('.live-row[aria-rowindex="5"] .open-row').click()
        heading(10251)
        page.cell(6, "ShipCity").click()
        heading(10254)
        page.page.keyboard.press("Escape")
        expect(page.panel).to_be_hidden()
        is_row(page, 10254)
        assert page.address == "/Orders"
        # The panel is opened by a key, and closed from inside.
        page.page.keyboard.press("Space")
        heading(10254)
        page.panel.get_by_role("link", name=re.compile("^Order Details")).focus()
        page.page.keyboard.press("Escape")
        expect(page.panel).to_be_hidden()
        is_row(page, 10254)
        # Escape in the toolbar closes the panel; in a menu, it closes only the menu.
        page.page.keyboard.press("Space")
        heading(10254)
        page.page.get_by_role("button", name="Columns").click()
        page.page.keyboard.press("Escape")
        expect(page.panel).to_be_visible()
        page.page.get_by_role("button", name="Columns").focus()
        page.page.keyboard.press("Escape")
        expect(page.panel).to_be_hidden()
        is_row(page, 10254)


@test
def a_link_skips_to_the_rows(browser, server):
    with opened(browser, server, "Orders?sort=-OrderID") as page:
        page.is_open("Orders", 830)
        page.page.keyboard.press("Tab")
        expect(page.page.get_by_role("link", name="Skip to the rows")).to_be_in_viewport()
        page.page.keyboard.press("Enter")
        is_row(page, 11077)
        assert page.address == "/Orders?sort=-OrderID"


@test
def tab_leads_through_titles_and_rows_in_both_directions(browser, server):
    with opened(browser, server, "Orders") as page:
        page.is_open("Orders", 830)
        page.cell(2, "OrderID").click()
        at = lambda: page.page.evaluate("document.activeElement.closest('.live-row, .head-cell, .table-head, .live-scroller')?.className")
        stops = []
        for key in ("Shift+Tab", "Shift+Tab", "Tab", "Shift+Tab", "Tab"):
            page.page.keyboard.press(key)
            stops.append(at())
        assert stops == ["head-cell fixed", "table-head", "live-row", "head-cell fixed", "live-row"], stops
        is_row(page, 10250)


@test
def a_question_mark_shows_the_keys(browser, server):
    with opened(browser, server, "Products") as page:
        page.is_open("Products", 77)
        page.cell(0, "ProductName").click()
        page.page.keyboard.type("?")
        dialog = page.page.get_by_role("dialog", name="Keys")
        expect(dialog.get_by_role("row", name="Ctrl Z undo")).to_be_visible()
        page.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        is_row(page, 1)
        page.page.get_by_role("searchbox", name="Search the").focus()
        page.page.keyboard.type("?")
        expect(dialog).to_have_count(0)
        page.page.get_by_role("button", name="Keys").click()
        expect(dialog).to_be_visible()


@test
def following_a_reference_marks_and_focuses_the_row(browser, server):
    with opened(browser, server, "Orders") as page:
        page.is_open("Orders", 830)
        customer = sql(server.database, "SELECT CustomerID FROM Orders WHERE OrderID = 10290")
        page.page.evaluate("document.querySelector('live-list.table-list').scrollToOffset(40)")
        page.cell(42, "CustomerID").locator(".follow").click()
        page.is_open("Customers", 91)
        is_row(page, customer)
        marks = page.page.evaluate("document.activeElement.getAnimations().filter((each) => each.effect.getKeyframes()[0].backgroundColor).length")
        assert marks == 1, "the row is marked"


@test
def a_table_can_be_left_while_a_row_of_it_is_looked_for(browser, server):
    page = TablePage(browser.new_page())
    held = Held(page.page)
    held.hold(lambda message: message["type"] == "located")
    page.open(server, "Orders?row=[10290]").is_open("Orders", 830)
    page.page.wait_for_timeout(200)
    page.go("Shippers")
    held.hold(none)
    page.is_open("Shippers", 3)
    assert page.errors == [], page.errors
    page.page.close()


@test
def toasts_leave_after_three_seconds_and_cover_no_row(browser, server):
    for options in ({}, PHONE):
        with opened(browser, server, "Shippers", **options) as page:
            page.is_open("Shippers", 3)
            old = sql(server.database, "SELECT Phone FROM Shippers WHERE ShipperID = 2")
            if options:
                page.cell(1, "Phone").tap()
                page.panel.get_by_role("button", name="Edit Phone").tap()
                page.panel.locator(".value-editor input").fill("555")
                page.page.keyboard.press("Enter")
                page.page.keyboard.press("Escape")
            else:
                page.edit(1, "Phone", "555").press("Enter")
            expect(page.toast).to_contain_text("Phone of Shippers 2 changed.")
            start = time.monotonic()
            toast, list = page.toast.bounding_box(), page.page.locator(".table-list").bounding_box()
            assert toast["y"] >= list["y"] + list["height"], (toast, list)
            expect(page.toast).to_be_hidden()
            assert time.monotonic() - start < 4.5
            # The write can still be undone.
            page.cell(0, "Phone").focus()
            page.page.keyboard.press("Control+z")
            expect(page.cell(1, "Phone")).to_have_text(old)
            expect(page.toast).to_contain_text("Undone")
