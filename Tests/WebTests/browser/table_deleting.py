"""Deleting a row that others refer to: the question before, the deleted rows, and what Undo brings back."""
import contextlib
import pathlib
import sqlite3

from playwright.sync_api import expect

import table_files
from harness import SCREENSHOTS, tests
from table_editing import becomes
from table_files import sql
from table_page import WritingServer, opened

TESTS, test = tests()

SHOP = """
PRAGMA journal_mode = WAL;
CREATE TABLE customers(name TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT REFERENCES customers ON DELETE CASCADE, parent INTEGER REFERENCES orders ON DELETE CASCADE);
CREATE TABLE order_items(order_id INTEGER REFERENCES orders ON DELETE CASCADE, line INTEGER, picture BLOB, twice AS (line * 2), PRIMARY KEY (order_id, line)) WITHOUT ROWID;
CREATE TABLE payments(id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders ON DELETE CASCADE, amount REAL);
CREATE TABLE scans(order_id INTEGER REFERENCES orders ON DELETE CASCADE, at TEXT);
CREATE TABLE notes(id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders ON DELETE SET NULL, text TEXT);
CREATE TABLE shipments(id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders);
CREATE TABLE tags(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE tag_count(n INTEGER);
CREATE TABLE tag_words(tag INTEGER, word TEXT);
CREATE TRIGGER tag_gone AFTER DELETE ON tags BEGIN
  UPDATE tag_count SET n = n - 1; DELETE FROM tag_words WHERE tag = OLD.id;
END;
INSERT INTO customers SELECT 'c' || value, value FROM range WHERE value <= 5;
INSERT INTO orders SELECT value, 'c' || (1 + value % 5), NULL FROM range WHERE value <= 40;
UPDATE orders SET parent = 7 WHERE id IN (8, 9);
UPDATE orders SET parent = 30 WHERE id = 30;
INSERT INTO order_items(order_id, line, picture) SELECT o.value, i.value, randomblob(9) FROM range o, range i WHERE o.value <= 40 AND i.value <= 4;
INSERT INTO payments SELECT value, 1 + value % 40, value + 0.0 FROM range WHERE value <= 40;
INSERT INTO scans SELECT 1 + value % 40, 'at ' || value FROM range WHERE value <= 60;
INSERT INTO notes SELECT value, 1 + value % 40, 'note ' || value FROM range WHERE value <= 50;
INSERT INTO shipments SELECT value, 36 + value FROM range WHERE value <= 3;
INSERT INTO tags VALUES (1, 'one'), (2, 'two'), (3, 'three');
INSERT INTO tag_count VALUES (3);
INSERT INTO tag_words VALUES (1, 'a'), (2, 'b'), (2, 'c');
DROP TABLE range;
"""
TABLES = ("customers", "orders", "order_items", "payments", "scans", "notes", "shipments", "tags", "tag_count", "tag_words")


def serve(folder):
    return WritingServer(table_files.make(pathlib.Path(folder) / "shop.sqlite", SHOP), "--allow-writes")


def everything(server):
    """All rows of all tables, with their rowids."""
    with contextlib.closing(sqlite3.connect(server.database)) as database:
        return {name: sorted(database.execute(f"SELECT {'1' if name == 'order_items' else 'rowid'}, * FROM {name}").fetchall(), key=repr) for name in TABLES}


def comes_back(page, server, before):
    page.toast.get_by_role("button", name="Undo").click()
    expect(page.toast).to_contain_text("Undone")
    after = everything(server)
    different = {name: (set(after[name]) - set(before[name]), set(before[name]) - set(after[name])) for name in TABLES if after[name] != before[name]}
    assert not different, different


@test
def what_goes_with_a_row_is_said_before_and_undo_brings_back_all_of_it(browser, server):
    with opened(browser, server, "orders") as page:
        page.is_open("orders", 40)
        before = everything(server)
        dialog = page.page.get_by_role("dialog")
        page.cell(6, "customer").click()
        page.page.keyboard.press("Shift+Delete")
        expect(dialog).to_contain_text("Delete orders 7?")
        # The deletion includes two orders, with their lines, payments and scans.
        for words in ("2 orders", "12 order_items", "3 payments", "6 scans", "It clears the references of 6 notes"):
            expect(dialog).to_contain_text(words)
        page.page.screenshot(path=str(SCREENSHOTS / "delete-row.png"))
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        page.page.keyboard.press("Enter")
        expect(dialog).to_have_count(0)
        assert everything(server) == before
        page.page.keyboard.press("Shift+Delete")
        dialog.get_by_role("button", name="Delete").click()
        page.is_open("orders", 37)
        expect(page.toast).to_contain_text("orders 7 deleted, and 2 orders, 12 order_items")
        assert sql(server.database, "SELECT count(*) FROM order_items WHERE order_id IN (7, 8, 9)") == "0"
        comes_back(page, server, before)
        page.is_open("orders", 40)
        # A row that refers to itself is deleted; and, from its details, a row two references away.
        page.cell(29, "customer").click()
        page.page.keyboard.press("Shift+Delete")
        dialog.get_by_role("button", name="Delete").click()
        page.is_open("orders", 39)
        expect(page.toast).to_contain_text("deleted")
        comes_back(page, server, before)
        page.go('customers?row=["c2"]')
        page.panel.get_by_role("button", name="Delete row").click()
        expect(dialog).to_contain_text("8 orders")
        dialog.get_by_role("button", name="Delete").click()
        page.is_open("customers", 4)
        expect(page.toast).to_contain_text("order_items")
        comes_back(page, server, before)


@test
def a_row_alone_is_deleted_without_a_question(browser, server):
    with opened(browser, server, "payments") as page:
        page.is_open("payments", 40)
        before = everything(server)
        page.cell(3, "amount").click()
        page.page.keyboard.press("Shift+Delete")
        page.is_open("payments", 39)
        comes_back(page, server, before)


@test
def what_triggers_delete_comes_back_too(browser, server):
    with opened(browser, server, "tags") as page:
        page.is_open("tags", 3)
        before = everything(server)
        page.cell(1, "name").click()
        page.page.keyboard.press("Shift+Delete")
        dialog = page.page.get_by_role("dialog")
        expect(dialog).to_contain_text("Triggers of tags may change more")
        dialog.get_by_role("button", name="Delete").click()
        page.is_open("tags", 2)
        becomes(server, "SELECT n FROM tag_count", "2")
        expect(page.toast).to_contain_text("2 tag_words")
        comes_back(page, server, before)


@test
def what_is_too_much_for_a_message_does_not_come_back_and_the_page_says_so(browser, server):
    sql(server.database, "INSERT INTO orders VALUES (99, NULL, NULL); INSERT INTO order_items(order_id, line, picture) VALUES (99, 1, zeroblob(900000))")
    with opened(browser, server, "orders?where=id=99") as page:
        page.cell(0, "customer").click()
        page.page.keyboard.press("Shift+Delete")
        page.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.toast).to_contain_text("Undo brings back the row alone")
        page.toast.get_by_role("button", name="Undo").click()
        expect(page.toast).to_contain_text("What else had changed did not come back")
        becomes(server, "SELECT count(*) FROM orders WHERE id = 99", "1")
        assert sql(server.database, "SELECT count(*) FROM order_items WHERE order_id = 99") == "0"
    sql(server.database, "DELETE FROM orders WHERE id = 99")


@test
def a_foreign_key_names_the_table_that_refers(browser, server):
    with opened(browser, server, "orders") as page:
        page.is_open("orders", 40)
        before = everything(server)
        page.go("orders?row=[38]")
        page.panel.get_by_role("button", name="Delete row").click()
        expect(page.toast).to_contain_text("Not deleted: FOREIGN KEY constraint failed: 1 shipments refer to it")
        expect(page.panel).to_be_visible()
        assert everything(server) == before
        page.page.keyboard.press("Escape")
        page.go("payments")
        page.is_open("payments", 40)
        page.edit(0, "order_id", "4711").press("Enter")
        expect(page.page.locator(".refusal:popover-open")).to_contain_text("FOREIGN KEY constraint failed: orders has no 4711, to which order_id would refer")
        page.page.keyboard.press("Escape")
        page.go("customers")
        page.is_open("customers", 5)
        page.edit(0, "name", "another").press("Enter")
        expect(page.page.locator(".refusal:popover-open")).to_contain_text("rows of orders refer to it by customer")
        page.page.keyboard.press("Escape")
        assert everything(server) == before


@test
def a_new_row_that_others_refer_to_by_now_is_not_undone(browser, server):
    with opened(browser, server, "orders") as page:
        page.is_open("orders", 40)
        page.page.get_by_role("button", name="Add row").click()
        page.panel.locator("form").get_by_role("button", name="Add row").click()
        page.is_open("orders", 41)
        key = sql(server.database, "SELECT max(id) FROM orders")
        sql(server.database, f"INSERT INTO payments(id, order_id) VALUES (99, {key})")
        page.toast.get_by_role("button", name="Undo").click()
        expect(page.toast).to_contain_text("Not undone: rows of payments refer to it by now")
        assert sql(server.database, "SELECT count(*) FROM payments WHERE id = 99") == "1"
        sql(server.database, f"DELETE FROM payments WHERE id = 99; DELETE FROM orders WHERE id = {key}")
