"""The page of changes: commits of another program, changes of one row, and putting changes back."""
import contextlib

from playwright.sync_api import expect

from harness import tests
from table_files import sql
from table_page import TablePage, WritingServer

TESTS, test = tests()


@contextlib.contextmanager
def activity(browser, database):
    """Opens the page, on a server that remembers no changes yet."""
    with WritingServer(database, "--allow-writes", "--no-state") as server:
        page = TablePage(browser.new_page(viewport={"width": 1280, "height": 800}))
        try:
            page.page.goto(f"{server.url}#activity")
            expect(note(page)).to_contain_text("The file has not changed since")
            yield page
            assert page.errors == [], page.errors
        finally:
            page.page.close()


def note(page):
    return page.page.locator("#activity > .toolbar [role=status]")


def card(page, index=0):
    return page.page.locator(".commit-card").nth(index)


def sides(card):
    return card.locator(".sides tbody tr").evaluate_all("rows => rows.map(({ cells }) => [...cells].map((cell) => cell.textContent))")


@test
def each_commit_is_shown_with_old_and_new(browser, database):
    with activity(browser, database) as page:
        old = sql(database, "SELECT ShipCity FROM Orders WHERE OrderID = 10300").strip()
        sql(database, "UPDATE Orders SET ShipCity = 'Ys' WHERE OrderID = 10300")
        expect(card(page).locator(".op")).to_have_text("changed")
        assert sides(card(page)) == [["ShipCity", old, "Ys"]]
        expect(card(page).get_by_role("link", name="10300")).to_have_attribute("href", "#/Orders?row=%5B10300%5D")
        sql(database, "BEGIN; INSERT INTO log VALUES (1, 'activity'); UPDATE Orders SET ShipCity = 'Is' WHERE OrderID = 10300; COMMIT")
        expect(card(page).locator("h3")).to_have_text(["Orders", "log"])
        expect(page.page.locator(".commit-card")).to_have_count(2)
        page.page.locator("#activity").get_by_label("Table").select_option("log")
        expect(page.page.locator(".commit-card")).to_have_count(1)
        expect(card(page).locator("h3")).to_have_text(["log"])
        sql(database, f"DELETE FROM log WHERE message = 'activity'; UPDATE Orders SET ShipCity = '{old}' WHERE OrderID = 10300")


@test
def a_visit_shows_what_the_server_remembers(browser, database):
    with activity(browser, database) as page:
        sql(database, "UPDATE Orders SET ShipName = 'one' WHERE OrderID = 10301")
        expect(page.page.locator(".commit-card")).to_have_count(1)
        address = page.page.url
        page.page.goto("about:blank")
        sql(database, "UPDATE Orders SET ShipName = 'two' WHERE OrderID = 10301")
        page.page.goto(address)
        expect(page.page.locator(".commit-card")).to_have_count(2)
        expect(card(page)).to_contain_text("before this page was opened")
        assert sides(card(page))[0][1:] == ["one", "two"]


@test
def a_row_leads_to_its_changes(browser, database):
    with activity(browser, database) as page:
        sql(database, "UPDATE Orders SET ShipName = 'three' WHERE OrderID IN (10302, 10303)")
        expect(page.page.locator(".row-change")).to_have_count(2)
        page.go("Orders?row=[10302]")
        page.panel.get_by_role("link", name="What changed last").click()
        expect(page.page.locator(".row-change")).to_have_count(1)
        expect(page.page.locator(".row-filter")).to_have_text("row 10302 ✕")
        page.page.locator(".row-filter").click()
        expect(page.page.locator(".row-change")).to_have_count(2)


@test
def a_row_is_put_back_unless_it_has_changed_since(browser, database):
    with activity(browser, database) as page:
        before = sql(database, "SELECT * FROM Orders WHERE OrderID = 10304").strip()
        sql(database, "UPDATE Orders SET ShipName = 'four', Freight = 1 WHERE OrderID = 10304")
        expect(page.page.locator(".commit-card")).to_have_count(1)
        card(page).get_by_role("button", name="Put back").click()
        expect(page.toast).to_contain_text("1 row put back.")
        assert sql(database, "SELECT * FROM Orders WHERE OrderID = 10304").strip() == before
        # The first commit's card then is the second one, and the row has changed since that commit.
        page.page.locator(".held-commits").click()
        expect(page.page.locator(".commit-card")).to_have_count(2)
        card(page, 1).get_by_role("button", name="Put back").click()
        expect(page.toast).to_contain_text("Not put back: 1 row has changed since")
        card(page, 0).get_by_role("button", name="Put back").click()
        expect(page.toast).to_contain_text("1 row put back.")
        page.toast.get_by_role("button", name="Undo").click()
        expect(page.toast).to_contain_text("Undone")
        assert sql(database, "SELECT * FROM Orders WHERE OrderID = 10304").strip() == before


@test
def a_commit_is_put_back_as_a_whole(browser, database):
    with activity(browser, database) as page:
        before = sql(database, "SELECT count(*), total(at) FROM log").strip()
        sql(database, "BEGIN; DELETE FROM log WHERE at <= 1700000003; INSERT INTO log VALUES (100, 'whole'); UPDATE log SET message = 'whole' WHERE at = 1700000005; COMMIT")
        expect(page.page.locator(".commit-card")).to_have_count(1)
        card(page).get_by_role("button", name="Put all back").click()
        expect(page.toast).to_contain_text("rows put back.")
        assert sql(database, "SELECT count(*), total(at) FROM log").strip() == before


@test
def new_commits_wait_while_somebody_reads(browser, database):
    with activity(browser, database) as page:
        page.page.set_viewport_size({"width": 1280, "height": 420})
        sql(database, "UPDATE Orders SET ShipCity = 'r' WHERE OrderID < 10320")
        expect(page.page.locator(".commit-card")).to_have_count(1)
        page.page.locator(".commit-scroller").evaluate("scroller => { scroller.scrollTop = 200 }")
        sql(database, "UPDATE Orders SET ShipCity = 's' WHERE OrderID = 10300")
        expect(page.page.locator(".held-commits")).to_have_text("1 new commit")
        expect(page.page.locator(".commit-card")).to_have_count(1)
        page.page.locator(".held-commits").click()
        expect(page.page.locator(".commit-card")).to_have_count(2)
