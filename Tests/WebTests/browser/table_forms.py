"""Fields by their columns: check boxes, dates, menus and searches of referred-to rows, in cells and in the form of a new row."""
import pathlib
import re

from playwright.sync_api import expect

from harness import SCREENSHOTS, tests
from table_access import PHONE
from table_editing import becomes
from table_files import sql
from table_page import WritingServer, opened

TESTS, test = tests()


def serve(folder):
    path = str(pathlib.Path(folder) / "forms.sqlite")
    sql(path, """PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
        CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE task(id INTEGER PRIMARY KEY, title TEXT NOT NULL, done BOOLEAN NOT NULL DEFAULT 0, urgent BOOL, due DATE, seen DATETIME, sent TIMESTAMP,
          status TEXT NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'open', 'closed')), size TEXT CHECK (size IN ('small', 'large')), person_id INTEGER REFERENCES person);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO person SELECT i, printf('Person %d', i) FROM n;
        UPDATE person SET name = 'Ada Lovelace' WHERE id = 17; UPDATE person SET name = 'Grace Hopper' WHERE id = 42;
        INSERT INTO task VALUES (1, 'First', 0, NULL, '2026-01-31', '2026-01-31T09:30:00Z', '2026-01-31 09:30:15.250', 'new', NULL, 1),
          (2, 'Second', 1, 1, NULL, '2026-02-01T10:00:00Z', 'some day', 'open', 'small', 42), (3, 'Third', 0, 0, '2026-03-01', NULL, NULL, 'closed', 'large', NULL)""")
    return WritingServer(path, "--allow-writes")


def stored(column, row=1):
    return f"SELECT quote({column}) FROM task WHERE id = {row}"


def begin(page, row, column):
    page.cell(row, column).dblclick()
    return page.page.locator(".cell .value-editor :is(input, select)")


@test
def a_boolean_is_a_check_box(browser, server):
    with opened(browser, server, "task") as page:
        box = begin(page, 0, "done")
        expect(box).to_be_focused()
        expect(page.page.get_by_role("checkbox", name="done")).not_to_be_checked()
        expect(page.page.locator(".value-editor .set-null")).to_have_count(0)
        box.press("Space")
        expect(box).to_be_checked()
        box.press("Enter")
        becomes(server, stored("done"), "1")
        expect(page.cell(0, "done")).to_have_text("true")
        page.toast.get_by_role("button", name="Undo").click()
        becomes(server, stored("done"), "0")
        # NULL is neither checked nor unchecked. Escape leaves the value, Tab writes it and moves on.
        box = begin(page, 0, "urgent")
        assert box.evaluate("box => box.indeterminate")
        box.press("Space")
        box.press("Escape")
        becomes(server, stored("urgent"), "NULL")
        box = begin(page, 0, "urgent")
        page.page.locator(".truth-field").click()
        expect(box).to_be_focused()
        box.press("Tab")
        becomes(server, stored("urgent"), "1")
        expect(page.page.get_by_label("due", exact=True)).to_be_focused()
        page.page.keyboard.press("Escape")
        begin(page, 0, "urgent").press("Control+Backspace")
        page.page.keyboard.press("Enter")
        becomes(server, stored("urgent"), "NULL")


@test
def a_word_among_booleans_is_a_text(browser, server):
    server.sql("UPDATE task SET urgent = 'perhaps' WHERE id = 3")
    with opened(browser, server, "task") as page:
        field = begin(page, 2, "urgent")
        expect(field).to_have_value("perhaps")
        field.fill("no")
        field.press("Enter")
        becomes(server, stored("urgent", 3), "0")


@test
def dates_are_written_as_the_column_has_them(browser, server):
    with opened(browser, server, "task") as page:
        for column, kind, held, typed, written in (
                ("due", "date", "2026-01-31", "2026-02-28", "'2026-02-28'"), ("seen", "datetime-local", "2026-01-31T09:30", "2026-02-01T12:00", "'2026-02-01T12:00:00Z'"),
                ("sent", "datetime-local", "2026-01-31T09:30:15.25", "2026-01-31T09:31", "'2026-01-31 09:31:00.000'")):
            field = begin(page, 0, column)
            expect(field).to_have_attribute("type", kind)
            expect(field).to_have_value(held)
            before = server.sql(stored(column))
            field.press("Enter")
            assert server.sql(stored(column)) == before
            field = begin(page, 0, column)
            field.fill(typed)
            field.press("Enter")
            becomes(server, stored(column), written)
        # With keys only: the parts of the date are typed one after the other.
        field = begin(page, 1, "due")
        field.press_sequentially("0505")
        field.press("Enter")
        expect(page.page.locator(".refusal:popover-open")).to_contain_text("not complete")
        becomes(server, stored("due", 2), "NULL")
        field.press_sequentially("2026")
        field.press("Enter")
        becomes(server, stored("due", 2), "'2026-05-05'")
        begin(page, 1, "due").press("Control+Backspace")
        page.page.keyboard.press("Enter")
        becomes(server, stored("due", 2), "NULL")
        # Other texts stay texts, and NULL becomes a date like the others.
        expect(begin(page, 1, "sent")).to_have_value("some day")
        page.page.keyboard.press("Escape")
        field = begin(page, 2, "seen")
        field.fill("2026-04-01T08:00")
        field.press("Enter")
        becomes(server, stored("seen", 3), "'2026-04-01T08:00:00Z'")


@test
def what_a_check_lists_is_a_menu(browser, server):
    with opened(browser, server, "task") as page:
        menu = begin(page, 0, "status")
        expect(menu).to_be_focused()
        assert menu.locator("option").all_inner_texts()[-3:] == ["new", "open", "closed"]
        menu.press("o")
        expect(menu).to_have_value("open")
        menu.press("Enter")
        becomes(server, stored("status"), "'open'")
        expect(page.cell(0, "status")).to_have_text("open")
        page.page.keyboard.press("Control+z")
        becomes(server, stored("status"), "'new'")
        menu = begin(page, 0, "size")
        assert menu.locator("option").all_inner_texts() == ["small", "large", "NULL"]
        expect(menu).to_have_value("NULL")
        menu.select_option("large")
        menu.press("Tab")
        becomes(server, stored("size"), "'large'")
        page.page.keyboard.press("Escape")
        begin(page, 0, "size").select_option("NULL")
        page.page.keyboard.press("Enter")
        becomes(server, stored("size"), "NULL")


@test
def a_reference_is_searched(browser, server):
    with opened(browser, server, "task") as page:
        field = begin(page, 0, "person_id")
        hits = page.page.get_by_role("listbox", name="Rows of person")
        expect(page.page.get_by_role("combobox", name="person_id")).to_be_focused()
        expect(hits).to_have_count(0)
        field.press_sequentially("ada")
        expect(hits.get_by_role("option")).to_have_text(["17 Ada Lovelace"])
        expect(field).to_have_attribute("aria-expanded", "true")
        field.press("ArrowDown")
        expect(hits.get_by_role("option", selected=True)).to_have_text("17 Ada Lovelace")
        field.press("Enter")
        expect(field).to_have_value("17")
        expect(hits).to_have_count(0)
        field.press("Enter")
        becomes(server, stored("person_id"), "17")
        page.page.keyboard.press("Control+z")
        becomes(server, stored("person_id"), "1")
        # By mouse: without typed words, the first ten rows are offered. If none is chosen, the typed text counts.
        field = begin(page, 1, "person_id")
        field.fill("")
        field.press("ArrowDown")
        expect(hits.get_by_role("option")).to_have_count(10)
        page.page.screenshot(path=SCREENSHOTS / "table-reference-search.png")
        hits.get_by_role("option").nth(1).click()
        expect(field).to_be_focused()
        expect(field).to_have_value("42")
        field.press("Escape")
        becomes(server, stored("person_id", 2), "42")
        field = begin(page, 2, "person_id")
        field.fill("5")
        expect(hits.get_by_role("option").first).to_have_text("5 Person 5")
        field.press("Enter")
        becomes(server, stored("person_id", 3), "5")
        field = begin(page, 2, "person_id")
        field.fill("nobody at all")
        expect(hits).to_contain_text("person has no such row")
        field.press("Escape")
        expect(page.page.locator(".value-editor")).to_have_count(0)
        becomes(server, stored("person_id", 3), "5")


@test
def a_new_row_has_the_same_fields(browser, server):
    for kind, options in (("light", {}), ("dark", {"color_scheme": "dark"}), ("phone", PHONE)):
        with opened(browser, server, "task", **options) as page:
            page.page.get_by_role("button", name="Add row").click()
            form = page.panel.locator("form")
            form.get_by_role("textbox", name=re.compile("^title ")).fill(f"Made on {kind}")
            expect(form.get_by_role("checkbox", name=re.compile("^done "))).not_to_be_checked()
            form.get_by_role("checkbox", name=re.compile("^urgent ")).check()
            expect(form.get_by_role("combobox", name=re.compile("^status "))).to_have_value("new")
            form.get_by_label(re.compile("^due")).fill("2026-12-24")
            form.get_by_role("combobox", name=re.compile("^size ")).select_option("large")
            person = form.get_by_role("combobox", name=re.compile("^person_id "))
            person.press_sequentially("hopper")
            expect(page.page.get_by_role("option", name="42 Grace Hopper")).to_be_visible()
            page.page.screenshot(path=SCREENSHOTS / f"table-form-{kind}.png")
            person.press("ArrowDown")
            person.press("Enter")
            form.get_by_role("button", name="Add row").click()
            becomes(server, f"SELECT done, urgent, due, seen IS NULL, status, size, person_id FROM task WHERE title = 'Made on {kind}'", "0|1|2026-12-24|1|new|large|42")


@test
def the_details_of_a_row_have_the_same_fields(browser, server):
    with opened(browser, server, "task?row=[1]") as page:
        page.panel.get_by_role("button", name="Edit status").click()
        page.panel.get_by_role("combobox", name="status").select_option("closed")
        page.panel.get_by_role("combobox", name="status").press("Enter")
        becomes(server, stored("status"), "'closed'")
        page.panel.get_by_role("button", name="Edit done").click()
        page.panel.get_by_role("checkbox", name="done").press("Space")
        page.panel.get_by_role("checkbox", name="done").press("Enter")
        becomes(server, stored("done"), "1")
        page.panel.get_by_role("button", name="Edit person_id").click()
        field = page.panel.get_by_role("combobox", name="person_id")
        field.fill("grace")
        expect(page.page.get_by_role("listbox").get_by_role("option")).to_have_text(["42 Grace Hopper"])
        field.press("ArrowDown")
        field.press("Tab")
        becomes(server, stored("person_id"), "42")
