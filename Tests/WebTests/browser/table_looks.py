"""The look of tables: numbers and times in one form, widths, cards on phones; and the shown state of the connection."""
import contextlib
import pathlib
import shutil
import signal
import subprocess

from playwright.sync_api import expect

from harness import ROOT, eventually, tests
from table_access import PHONE
from table_files import sql
from table_page import TablePage, WritingServer
from table_truth import Held, none, whole

TESTS, test = tests()

ROWS = 30_000
TINTED = "() => document.getAnimations().filter(({ effect }) => effect.getKeyframes().some(({ backgroundColor }) => backgroundColor)).length"


def database(folder):
    path = str(pathlib.Path(folder) / "looks.sqlite")
    if not pathlib.Path(path).exists():
        sql(path, f"""PRAGMA journal_mode = WAL;
            CREATE TABLE parcel(id INTEGER PRIMARY KEY, kind TEXT, recipient_name TEXT, price DECIMAL(10,2), weight REAL, pieces INTEGER, sent_at TEXT, due DATE);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
            INSERT INTO parcel SELECT i, char(65 + i % 26), 'Recipient ' || i, i * 0.5, i / 7.0, i * 1000, datetime(1700000000 + i * 43200, 'unixepoch', 'start of day', (i % 2 * 9) || ' hours'),
              date(1700000000 + i * 86400, 'unixepoch') || ' 00:00:00' FROM n""")
    return path


@contextlib.contextmanager
def opened(browser, folder, address="parcel", hold=none, **options):
    with WritingServer(database(folder)) as server:
        page = TablePage(browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **options}))
        held = Held(page.page)
        held.hold(hold)
        try:
            yield page.open(server, address), held, server
            assert page.errors == [], page.errors
        finally:
            page.page.close()


@test
def numbers_and_times_of_a_column_have_one_form(browser, folder):
    with opened(browser, folder) as (page, _, _server):
        page.is_open("parcel", ROWS)
        expect(page.cell(0, "price").locator(".value")).to_have_text("0.50")
        for column, texts in {"price": ["0.50", "1.00", "1.50"], "weight": ["0.14286", "0.28571", "0.42857"], "pieces": ["1,000", "2,000", "3,000"], "id": ["1", "2", "3"]}.items():
            assert page.page.locator(".table-list").get_by_role("row").count() > 3
            shown = [page.cell(row, column).locator(".value").inner_text() for row in range(3)]
            assert shown == texts, (column, shown)
        assert [len(page.cell(row, "sent_at").locator(".value").inner_text()) for row in range(3)] == [19] * 3, "midnight is a time here"
        assert [len(page.cell(row, "due").locator(".value").inner_text()) for row in range(3)] == [10] * 3, "and says nothing there"
        page.go("parcel?row=[1]")
        expect(page.panel.get_by_text("0.14285714285714285")).to_be_visible()


@test
def columns_grow_into_empty_space(browser, folder):
    with opened(browser, folder) as (page, _, _server):
        page.is_open("parcel", ROWS)
        page.page.set_viewport_size({"width": 1700, "height": 800})
        right = "element => { const { right } = element.getBoundingClientRect(); return right }"
        eventually(
            lambda: page.page.locator(".table-list").evaluate(right) - page.header("due").evaluate(right), lambda gap: gap <= 30,
            "between the last column and the edge")


@test
def what_is_shown_for_the_first_time_has_not_changed(browser, folder):
    with opened(browser, folder, "parcel?section=kind&total=sum:pieces", hold=whole) as (page, held, server):
        expect(page.page.locator(".live-title .live-count").first).to_have_text("200+")
        held.hold(none)
        page.is_open("parcel", ROWS)
        expect(page.page.locator(".live-title .total b").first).to_be_visible()
        assert page.page.evaluate(TINTED) == 0
        first = page.column("id")[0]
        sql(server.database, f"UPDATE parcel SET pieces = pieces + 1 WHERE id = {first}")
        expect(page.cell(1, "pieces")).to_contain_text(f"{int(first) * 1000 + 1:,}")
        assert page.page.evaluate(TINTED) > 0
        sql(server.database, f"UPDATE parcel SET pieces = pieces - 1 WHERE id = {first}")


@test
def keys_that_lead_beyond_the_rows_that_came_wait_for_the_rest(browser, folder):
    with opened(browser, folder, "parcel?section=kind", hold=whole) as (page, held, _server):
        expect(page.page.locator(".live-title .live-count").first).to_have_text("200+")
        page.page.locator(".table-list").evaluate("list => list.focus()")
        page.page.keyboard.press("q")
        expect(page.toast).to_have_text("That is done as soon as all rows are there.")
        held.hold(none)
        expect(page.page.locator(".live-row[aria-selected]:focus [data-text=kind] .value")).to_have_text("Q")
        page.page.keyboard.press("]")
        expect(page.page.locator(".live-row[aria-selected]:focus [data-text=kind] .value")).to_have_text("R")


@test
def filters_apply_while_they_are_typed(browser, folder):
    with opened(browser, folder) as (page, _, _server):
        page.is_open("parcel", ROWS)
        page.page.get_by_role("button", name="Filter", exact=True).click()
        page.page.get_by_label("Column", exact=True).select_option("recipient_name")
        page.page.get_by_label("Value", exact=True).press_sequentially("Recipient 2999")
        page.is_open("parcel", 11)
        expect(page.page.get_by_label("Value", exact=True)).to_be_focused()
        page.page.get_by_label("Value", exact=True).press_sequentially("9")
        page.is_open("parcel", 1)


@test
def a_row_is_a_card_on_phones(browser, folder):
    with opened(browser, folder, **PHONE) as (page, _, _server):
        page.is_open("parcel", ROWS)
        row = page.page.locator('.live-row[aria-rowindex="2"]')
        name, key = (row.locator(f"[data-text={column}]").bounding_box() for column in ("recipient_name", "id"))
        assert name["y"] < key["y"], "the naming column comes first"
        assert row.bounding_box()["width"] <= 390
        for button in page.page.locator(".table-head button:visible, .table-head select:visible").all():
            box = button.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 390, button
        page.header("price").locator(".head-menu").click()
        menu = page.page.get_by_role("menu").bounding_box()
        assert menu["x"] >= 0 and menu["y"] >= 0 and menu["x"] + menu["width"] <= 390 and menu["y"] + menu["height"] <= 844, menu


def state(page):
    return page.page.locator("#state")


@test
def a_server_that_hangs_is_not_live(browser, folder):
    with opened(browser, folder) as (page, _, server):
        page.is_open("parcel", ROWS)
        expect(state(page)).to_have_text("live")
        server.process.send_signal(signal.SIGSTOP)
        try:
            expect(state(page)).to_have_text("not answering", timeout=8_000)
        finally:
            server.process.send_signal(signal.SIGCONT)
        expect(state(page)).to_have_text("live")


@test
def one_countdown_and_a_button_that_does_not_wait(browser, folder):
    with WritingServer(database(folder)) as server:
        page = TablePage(browser.new_page()).open(server, "parcel")
        page.is_open("parcel", ROWS)
        server.kill()
        expect(page.page.locator("#countdown")).to_have_text("in 3 s")
        expect(page.page.locator(".table-list .live-stale")).to_have_text("Reconnecting")
        server.start()
        again = page.page.get_by_role("button", name="Try again now")
        if again.is_visible():
            again.click()
        expect(state(page)).to_have_text("live")
        expect(again).to_be_hidden()
        page.page.close()


@test
def a_token_that_has_expired_is_not_live(browser, folder):
    shop = pathlib.Path(folder) / "expiring"
    shutil.copytree(ROOT / "examples" / "shop", shop)
    (shop / "secret.txt").write_text("0123456789abcdef" * 4)
    subprocess.run(["sqlite3", str(shop / "shop.sqlite")], input=(shop / "shop.sql").read_text(), text=True, check=True, capture_output=True)
    command = ["bash", str(shop / "token.sh"), str(shop / "secret.txt"), "ann", "customer", "8"]
    token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    with WritingServer(str(shop / "shop.sqlite"), "--config", str(shop / "freshet.yaml")) as server:
        page = TablePage(browser.new_page())
        page.page.add_init_script(f"sessionStorage.setItem('freshet-token', '{token}')")
        page.open(server, "orders")
        expect(state(page)).to_have_text("live")
        expect(state(page)).to_have_text("signed out")
        page.page.close()
