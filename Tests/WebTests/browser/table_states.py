"""Files that are empty, missing, locked or damaged; servers that are down or answer only few queries; and large tables.
"""
import contextlib
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time

from playwright.sync_api import expect

import table_files
from harness import ROOT, tests
from table_page import TablePage, WritingServer, opened

TESTS, test = tests()


@test
def an_empty_file_says_so_until_there_is_a_table(browser, folder, northwind):
    path = table_files.empty(folder)
    with WritingServer(path) as server, opened(browser, server) as page:
        expect(page.page.get_by_role("heading", name="This file has no tables yet")).to_be_visible()
        table_files.sql(path, "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (1, 'first')")
        page.is_open("note", 1)
        table_files.sql(path, "ALTER TABLE note ADD COLUMN more; INSERT INTO note VALUES (2, 'second', 7)")
        page.is_open("note", 2)
        expect(page.header("more")).to_be_visible()


@test
def a_missing_file_is_waited_for(browser, folder, northwind):
    path = pathlib.Path(folder) / "missing.sqlite"
    with WritingServer(str(path)) as server:
        page = TablePage(browser.new_page()).open(server)
        expect(page.page.locator(".state-page h2")).to_contain_text(re.compile("not there yet|cannot be read"))
        table_files.sql(str(path), "PRAGMA journal_mode = WAL; CREATE TABLE late(x); INSERT INTO late VALUES (1)")
        page.is_open("late", 1)
        page.page.close()


@test
def a_locked_file_says_so_and_is_waited_for(browser, folder, northwind):
    path = pathlib.Path(folder) / "locked.sqlite"
    table_files.sql(str(path), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder, WritingServer(str(path)) as server:
        holder.execute("BEGIN EXCLUSIVE")
        page = TablePage(browser.new_page()).open(server)
        # SQLite waits for some seconds; meanwhile the page says that the file is locked.
        expect(page.page.locator("#notice")).to_contain_text("locked")
        expect(page.page.locator(".state-page h2")).to_contain_text(re.compile("locked|cannot be read"))
        expect(page.page.locator(".state-page")).to_contain_text("locked")
        holder.execute("COMMIT")
        page.is_open("t", 1)
        page.page.close()


@test
def a_server_that_is_away_leaves_the_rows_and_comes_back(browser, folder, northwind):
    server = WritingServer(northwind, "--allow-writes").start()
    page = TablePage(browser.new_page()).open(server, "Orders?sort=-Freight")
    page.is_open("Orders", 830)
    rows = page.column("OrderID")
    server.stop()
    expect(page.page.locator("#state")).to_have_attribute("data-state", "reconnecting")
    time.sleep(5)
    expect(page.rows.first).to_be_visible()
    table_files.sql(northwind, f"UPDATE Orders SET ShipName = 'while away' WHERE OrderID = {rows[1]}")
    with server:
        expect(page.page.locator("#state")).to_have_attribute("data-state", "live")
        expect(page.cell(1, "ShipName")).to_have_text("while away")
        assert page.column("OrderID") == rows
    page.page.close()


@test
def where_only_published_queries_are_answered_those_are_listed(browser, folder, northwind):
    configuration = pathlib.Path(folder) / "published.yaml"
    configuration.write_text("""queries:
  productsOfCategory:
    description: Products of one category
    query: { from: Products, select: [ProductName, UnitPrice], where: "CategoryID = :category", orderBy: ["UnitPrice DESC"] }
    parameters: { category: { type: integer, default: 1 } }
  ordersTo:
    query: { from: Orders, where: "ShipCountry = :country" }
    parameters: { country: { type: text } }
""")
    with WritingServer(northwind, "--host", "0.0.0.0", "--config", str(configuration)) as server:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        page = TablePage(browser.new_page()).open(server, "productsOfCategory")
        expect(page.page.locator("#sidebar a[href]")).to_have_count(2)
        expect(page.title).to_have_text("productsOfCategory")
        first = int(table_files.sql(northwind, "SELECT count(*) FROM Products WHERE CategoryID = 1"))
        expect(page.count).to_have_text(f"{first} rows")
        page.page.get_by_role("textbox", name="category").fill("5")
        page.page.get_by_role("button", name="Show").click()
        fifth = table_files.sql(northwind, "SELECT ProductName FROM Products WHERE CategoryID = 5 ORDER BY UnitPrice DESC").split("\n")
        page.shows("ProductName", fifth)
        page.page.get_by_role("link", name="ordersTo").click()
        expect(page.page.locator(".live-row")).to_have_count(0)
        page.page.get_by_role("textbox", name="country").fill("Country 2")
        page.page.keyboard.press("Enter")
        expect(page.count).to_have_text(f"{table_files.sql(northwind, '''SELECT count(*) FROM Orders WHERE ShipCountry = 'Country 2' ''')} rows")
        page.page.close()


@test
def a_role_shows_what_it_may_and_a_token_shows_more(browser, folder, northwind):
    shop = pathlib.Path(folder) / "shop"
    shutil.copytree(ROOT / "examples" / "shop", shop)
    (shop / "secret.txt").write_text("0123456789abcdef" * 4)
    subprocess.run(["sqlite3", str(shop / "shop.sqlite")], input=(shop / "shop.sql").read_text(), text=True, check=True, capture_output=True)
    token = subprocess.run(["bash", str(shop / "token.sh"), str(shop / "secret.txt"), "ann", "customer"], capture_output=True, text=True, check=True).stdout.strip()
    with WritingServer(str(shop / "shop.sqlite"), "--config", str(shop / "freshet.yaml")) as server:
        page = TablePage(browser.new_page()).open(server)
        page.is_open("product", 3)
        expect(page.page.locator("#sidebar a[data-table]")).to_have_count(1)
        page.page.get_by_text("Use a token").click()
        page.page.get_by_label("Token", exact=True).fill(token)
        page.page.get_by_role("button", name="Use this token").click()
        expect(page.page.locator("#sidebar a[data-table=orders]")).to_have_text("orders2")
        page.go("orders")
        page.is_open("orders", 2)
        expect(page.page.get_by_role("button", name="Add row")).to_have_count(0)
        page.page.get_by_text("Use a token").click()
        page.page.get_by_label("Token", exact=True).fill("nonsense")
        page.page.get_by_role("button", name="Use this token").click()
        expect(page.page.get_by_role("heading", name="The token was not accepted")).to_be_visible()
        page.page.locator(".state-page").get_by_role("button", name="Forget the token").click()
        expect(page.page.get_by_role("heading", name="There is no table orders")).to_be_visible()
        page.page.get_by_role("link", name=re.compile("^product")).click()
        page.is_open("product", 3)
        page.page.close()


@test
def a_token_shows_its_tables_at_once_and_each_refusal_says_why(browser, folder, northwind):
    shop = pathlib.Path(folder) / "shop-with-roles"
    shutil.copytree(ROOT / "examples" / "shop", shop)
    (shop / "secret.txt").write_text("0123456789abcdef" * 4)
    # Without a token nothing is shown; one role has no rights, one may ask and has no table.
    configuration = (shop / "freshet.yaml").read_text()
    (shop / "freshet.yaml").write_text(re.sub(r"  anonymous:.*?(?=\n  customer:)", "  guest: { limits: { rows: 9 } }\n  asker: { queries: any }", configuration, flags=re.S))
    subprocess.run(["sqlite3", str(shop / "shop.sqlite")], input=(shop / "shop.sql").read_text(), text=True, check=True, capture_output=True)

    def token(role, *seconds):
        command = ["bash", str(shop / "token.sh"), str(shop / "secret.txt"), "ann", role, *seconds]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with WritingServer(str(shop / "shop.sqlite"), "--config", str(shop / "freshet.yaml")) as server:
        page = TablePage(browser.new_page()).open(server)
        expect(page.page.get_by_role("heading", name="shows its tables to those with a token")).to_be_visible()
        asked = []
        page.page.on("request", lambda request: asked.append(request) if "/v1/schema" in request.url else None)

        def use(text):
            form = page.page.locator(".state-page")
            form.get_by_label("Token", exact=True).fill(text)
            form.get_by_role("button", name="Use this token").click()

        for refused, title in {token("guest"): "The role guest may read no table", token("boss"): "This server has no role boss",
                               token("asker"): "There is no table that you may read", token("customer", "-100"): "The token has expired",
                               token("customer")[:-3]: "The token was not accepted"}.items():
            use(refused)
            expect(page.page.get_by_role("heading", name=title)).to_be_visible()
            expect(page.page.locator(".state-page")).not_to_contain_text("--allow")
        asked.clear()
        use(token("customer"))
        # Milliseconds from the navigation on.
        shown = """async () => { while (!document.querySelector("#sidebar a[data-table=orders]") || !document.querySelector(".live-row[data-state=shown]")) {
          await new Promise(requestAnimationFrame); } return performance.now(); }"""
        expect(page.page.locator("#sidebar a[data-table=orders]")).to_be_visible()
        times = []
        for _ in range(3):
            page.page.reload()
            times.append(page.page.evaluate(shown))
        assert all("authorization" in request.all_headers() for request in asked), "the token goes with the first request"
        assert min(times) < 500, times
        page.page.close()


@test
def a_changed_schema_is_told_in_words_and_a_renamed_table_is_offered(browser, folder, northwind):
    path = str(pathlib.Path(folder) / "tasks.sqlite")
    table_files.sql(path, "PRAGMA journal_mode = WAL; CREATE TABLE task(id INTEGER PRIMARY KEY, title TEXT, due TEXT); INSERT INTO task VALUES (1, 'a', '2'), (2, 'b', '1')")
    with WritingServer(path) as server, opened(browser, server, "task?sort=-title") as page:
        page.is_open("task", 2)
        table_files.sql(path, "ALTER TABLE task DROP COLUMN due")
        expect(page.toast).to_have_text("The column `due` is gone.")
        page.is_open("task", 2)
        table_files.sql(path, "ALTER TABLE task RENAME COLUMN title TO name")
        expect(page.toast).to_have_text("The column `title` is now called `name`.")
        expect(page.page.locator(".query-error:visible")).to_have_text("There is no column `title`, and the sort names it.")
        page.go("task?sort=-name")
        page.shows("name", ["b", "a"])
        table_files.sql(path, "ALTER TABLE task RENAME TO todo")
        expect(page.page.get_by_role("heading", name="The table task is gone")).to_be_visible()
        page.page.get_by_role("link", name="Open todo").click()
        page.is_open("todo", 2).shows("name", ["b", "a"])
        assert page.address == "/todo?sort=-name"
        table_files.sql(path, "CREATE TABLE other(x); DROP TABLE todo")
        expect(page.page.get_by_role("heading", name="There is no table todo")).to_be_visible()


@test
def a_million_rows_open_as_fast_as_a_thousand(browser, folder, northwind):
    path = table_files.million(folder)
    if path is None:
        return print("        skipped: making a million rows took more than a minute")
    with WritingServer(path, "--allow-writes") as server, opened(browser, server, "small") as page:
        page.is_open("small", 1000)
        times = {"small": [], "large": []}
        for name in ("large", "small") * 3:
            # Each is opened by a page of its own.
            with opened(browser, server, name) as other:
                times[name].append(other.page.evaluate("""async () => {
                  while (!document.querySelector(".live-row[data-state=shown]")) await new Promise(requestAnimationFrame);
                  return performance.now();
                }"""))
                other.is_open(name, 1_000_000 if name == "large" else 1000)
        fastest = {name: min(all) for name, all in times.items()}
        print(f"        first rows of a thousand after {fastest['small']:.0f} ms, of a million after {fastest['large']:.0f} ms"
              f" (the first time {times['large'][0]:.0f} ms)")
        assert fastest["large"] < fastest["small"] * 1.5 + 100, times
        # The whole list can be scrolled, and is updated like any other list.
        page.go("large?sort=-id")
        page.is_open("large", 1_000_000)
        page.shows("id", ["1000000", "999999"])
        table_files.sql(path, "INSERT INTO large VALUES (1000001, 'newest', 0, 0)")
        page.shows("id", ["1000001", "1000000"])
        page.page.evaluate("document.querySelector('live-list.table-list').scrollToOffset(500000)")
        expect(page.page.locator(".live-row", has_text="event 500000").first).to_be_visible()


@test
def it_stays_smooth_while_rows_change(browser, folder, northwind):
    path = table_files.million(folder, rows=50_000, name="busy")
    with WritingServer(path) as server, opened(browser, server, "large?sort=amount") as page:
        page.is_open("large", 50_000)
        script = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None)
end = time.monotonic() + 6
while time.monotonic() < end:
    database.execute("UPDATE large SET amount = abs(random() % 90), name = 'event ' || abs(random() % 999) WHERE id IN (SELECT abs(random() % 40) FROM large LIMIT 20)")
    time.sleep(0.1)
"""
        measure = """async () => {
          const list = document.querySelector("live-list.table-list").list;
          let changes = 0;
          list.addEventListener("change", () => { changes += 1; });
          const start = performance.now();
          let frames = 0;
          while (performance.now() - start < 3000) { await new Promise(requestAnimationFrame); frames += 1; }
          return [frames / 3, changes / 3];
        }"""
        # Other programs may keep the machine busy, so the frames are compared with those without changes.
        possible, _ = page.page.evaluate(measure)
        writer = subprocess.Popen(["python3", "-c", script, path])
        page.page.wait_for_timeout(1500)
        frames, changes = page.page.evaluate(measure)
        writer.wait()
        print(f"        {frames:.0f} frames of {possible:.0f}, and {changes:.0f} patches a second")
        assert changes > 3 and frames > possible * 0.1, (frames, possible, changes)
        page.shows("id", table_files.sql(path, "SELECT id FROM large ORDER BY amount, id LIMIT 15").split("\n"))
