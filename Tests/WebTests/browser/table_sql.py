"""The page SQL: a SELECT as a live list, its key, its explanation and its address; and statements that write."""
import pathlib

from playwright.sync_api import expect

from harness import SCREENSHOTS, tests
from table_access import PHONE
from table_editing import becomes
from table_files import sql
from table_page import TablePage, WritingServer, opened

TESTS, test = tests()


def serve(folder):
    path = str(pathlib.Path(folder) / "sql.sqlite")
    sql(path, """PRAGMA journal_mode = WAL; CREATE TABLE city(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, country TEXT NOT NULL, people INTEGER CHECK (people >= 0));
        INSERT INTO city VALUES (1, 'Bern', 'Switzerland', 134), (2, 'Basel', 'Switzerland', 173), (3, 'Porto', 'Portugal', 231), (4, 'Braga', 'Portugal', 193)""")
    return WritingServer(path, "--allow-writes")


def started(browser, server, **options):
    page = TablePage(browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **options}))
    page.page.goto(f"{server.url}#sql")
    return page


def run(page, text):
    page.page.get_by_role("textbox", name="SQL").fill(text)
    page.page.get_by_role("button", name="Run").click()


def column(page, name):
    return page.page.locator(f'#sql .live-row:not(.live-leaving)[data-state=shown] > [data-text="{name}"] .value')


@test
def a_select_is_a_list_that_changes(browser, server):
    page = started(browser, server)
    expect(page.page.get_by_role("textbox", name="SQL")).to_be_focused()
    page.page.keyboard.type("SELECT country, count(*) AS n, sum(people) AS people\nFROM city GROUP BY country -- all of them")
    page.page.keyboard.press("Control+Enter")
    expect(column(page, "people")).to_have_text(["424", "307"])
    expect(page.page.locator("#sql .count")).to_have_text("2 rows")
    expect(page.page.get_by_label("Key", exact=True)).to_be_hidden()
    server.sql("UPDATE city SET people = people + 1000 WHERE id = 1")
    expect(column(page, "people").nth(1)).to_have_text("1,307")
    server.sql("UPDATE city SET people = 134 WHERE id = 1")
    # The titles sort, and the address contains the query, the key and the order.
    page.header("people").click()
    page.header("people").click()
    expect(column(page, "country")).to_have_text(["Portugal", "Switzerland"])
    page.header("people").click()
    page.header("n").click()
    assert "sort=n" in page.page.url
    with opened(browser, server) as other:
        other.page.goto("about:blank")
        other.page.goto(page.page.url)
        expect(column(other, "people")).to_have_count(2)
        expect(other.page.get_by_role("textbox", name="SQL")).to_have_value("SELECT country, count(*) AS n, sum(people) AS people\nFROM city GROUP BY country -- all of them")
        expect(other.header("n")).to_have_attribute("aria-sort", "ascending")
    # Goes to another page and back.
    page.page.get_by_role("link", name="Tables").click()
    expect(page.title).to_have_text("city")
    page.page.get_by_role("link", name="SQL").click()
    expect(column(page, "people")).to_have_count(2)
    assert page.errors == [], page.errors
    page.page.close()


@test
def a_select_is_explained_and_used_elsewhere(browser, server):
    page = started(browser, server)
    expect(page.page.get_by_role("button", name="Explain")).to_be_hidden()
    run(page, "SELECT id, name FROM city WHERE people > 150")
    page.page.get_by_role("button", name="Explain").click()
    expect(page.page.get_by_role("region", name="Explanation")).to_contain_text("Followed change by change")
    page.page.screenshot(path=SCREENSHOTS / "sql-explained.png")
    page.page.get_by_role("button", name="Explain").click()
    expect(page.page.get_by_role("region", name="Explanation")).to_be_hidden()
    page.page.get_by_role("button", name="Use this list").click()
    dialog = page.page.get_by_role("dialog", name="Use this list")
    expect(dialog.locator("pre")).to_contain_text('"sql": "SELECT id, name FROM city WHERE people > 150"')
    dialog.get_by_text("Swift", exact=True).click()
    expect(dialog.locator("pre")).to_contain_text('sql: "SELECT id, name FROM city WHERE people > 150"')
    page.page.keyboard.press("Escape")
    page.page.close()


@test
def a_key_is_proposed_where_there_is_none(browser, server):
    page = started(browser, server)
    run(page, "SELECT name, country FROM city WHERE id < 3 UNION ALL SELECT name, country FROM city WHERE id > 2")
    expect(column(page, "name")).to_have_count(4)
    key = page.page.get_by_label("Key", exact=True)
    expect(key).to_have_value('["name"]')
    key.select_option("all columns")
    expect(page.header("country")).to_contain_text("key")
    expect(column(page, "name")).to_have_count(4)
    # An address may name a key that does not identify the rows.
    address = page.page.url.replace("key=name%2Ccountry", "key=country")
    assert address != page.page.url
    page.page.goto("about:blank")
    page.page.goto(address)
    expect(page.page.get_by_role("alert").filter(has_text="choose another key")).to_be_visible()
    key.select_option("name")
    expect(page.page.locator("#sql .query-error")).to_be_hidden()
    expect(column(page, "name")).to_have_count(4)
    key.select_option("other columns…")
    dialog = page.page.get_by_role("dialog", name="Which columns tell the rows apart?")
    dialog.get_by_role("checkbox", name="name").uncheck()
    dialog.get_by_role("checkbox", name="country").check()
    dialog.get_by_role("button", name="Use as key").click()
    expect(page.page.get_by_role("alert").filter(has_text="choose another key")).to_be_visible()
    expect(key.locator("option:checked")).to_have_text("country")
    # Rows that no columns identify are numbered.
    run(page, "SELECT country FROM city UNION ALL SELECT country FROM city ORDER BY country DESC; -- twice")
    expect(column(page, "country")).to_have_text(["Switzerland"] * 4 + ["Portugal"] * 4)
    expect(key.locator("option:checked")).to_have_text("row numbers")
    server.sql("DELETE FROM city WHERE id = 4")
    expect(column(page, "country")).to_have_text(["Switzerland"] * 4 + ["Portugal"] * 2)
    server.sql("INSERT INTO city VALUES (4, 'Braga', 'Portugal', 193)")
    expect(page.page.locator("#sql .count")).to_have_text("8 rows")
    page.page.close()


@test
def a_mistake_is_shown_as_the_server_says_it(browser, server):
    page = started(browser, server)
    error = page.page.locator("#sql .query-error")
    run(page, "SELECT nome FROM city")
    expect(error).to_contain_text("nome")
    expect(page.page.locator("#sql .count")).to_have_text("")
    run(page, "SELECT id FROM city")
    expect(error).to_be_hidden()
    expect(column(page, "id")).to_have_count(4)
    before = server.sql("SELECT count(*) FROM city")
    for text, words in (("UPDATE city SET people = -1", "CHECK constraint failed"), ("DELETE FROM city; INSERT INTO city(id) VALUES (1)", "NOT NULL"), ("DROP TABLE city", "not authorized"), ("HELLO", "syntax error")):
        run(page, text)
        expect(error).to_contain_text(words)
        expect(page.page.locator("#sql")).to_contain_text("Nothing was written.")
    assert server.sql("SELECT count(*) FROM city") == before
    page.page.close()


@test
def statements_write_when_they_are_asked_to(browser, server):
    page = started(browser, server)
    run(page, "UPDATE city SET people = people + 1 WHERE country = 'Portugal'; -- both\nINSERT INTO city VALUES (5, 'Faro', 'Portugal', 64) RETURNING id, name;\nSELECT 'a;b' AS text")
    results = page.page.get_by_role("region", name="Results of the statements")
    expect(results.locator("li")).to_have_count(3)
    expect(results).to_contain_text("3 rows changed.")
    expect(results.locator("li").nth(0)).to_contain_text("2 rows changed.")
    expect(results.locator("li").nth(1).locator("td")).to_have_text(["5", "Faro"])
    expect(results.locator("li").nth(2).locator("td")).to_have_text(["a;b"])
    becomes(server, "SELECT people FROM city WHERE id = 3", "232")
    page.page.screenshot(path=SCREENSHOTS / "sql-written.png")
    # The address alone writes nothing.
    address = page.page.url
    page.page.goto("about:blank")
    page.page.goto(address)
    expect(page.page.locator("#sql")).to_contain_text("These statements have not run.")
    assert server.sql("SELECT people FROM city WHERE id = 3") == "232"
    page.page.get_by_role("textbox", name="SQL").fill("DELETE FROM city WHERE id = 5; UPDATE city SET people = people - 1 WHERE country = 'Portugal'")
    page.page.get_by_role("button", name="Run").click()
    becomes(server, "SELECT people FROM city WHERE id = 3", "231")
    expect(results).to_contain_text("3 rows changed.")
    page.page.close()


@test
def without_writes_the_server_says_so(browser, server):
    with WritingServer(server.database) as other:
        page = started(browser, other)
        run(page, "DELETE FROM city")
        expect(page.page.locator("#sql .query-error")).to_have_text("writing is not allowed on this server")
        run(page, "SELECT id FROM city")
        expect(column(page, "id")).to_have_count(4)
        page.page.close()


@test
def the_page_fits_a_phone_and_the_dark(browser, server):
    for kind, options in (("dark", {"color_scheme": "dark"}), ("phone", PHONE), ("light", {})):
        page = started(browser, server, **options)
        run(page, "SELECT name, country FROM city WHERE id < 3 UNION ALL SELECT name, country FROM city WHERE id > 2")
        expect(column(page, "name")).to_have_count(4)
        page.page.screenshot(path=SCREENSHOTS / f"sql-{kind}.png")
        assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.page.close()
