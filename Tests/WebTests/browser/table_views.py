"""Tables and views of a file: opening, sorting and filtering them, and the address of each view."""
import re

from playwright.sync_api import expect

from harness import SCREENSHOTS, eventually, tests
from table_files import sql

TESTS, test = tests()


@test
def the_first_useful_table_is_open_with_counts_at_the_left(page, server):
    page.open(server).is_open("Categories", 8)
    assert page.address == "/Categories"
    sidebar = page.page.locator("#sidebar")
    expect(sidebar.get_by_role("link", name="Orders 830")).to_be_visible()
    expect(sidebar.get_by_role("link", name="Invoices 2,490")).to_be_visible()
    expect(sidebar.locator("[aria-current]")).to_have_text("Categories8")
    # The tables of a full-text index are hidden in a closed group.
    expect(sidebar.get_by_role("link", name="Products_fts")).to_be_hidden()
    sql(server.database, "INSERT INTO log VALUES (1, 'counted')")
    expect(sidebar.get_by_role("link", name="log 41")).to_be_visible()
    sql(server.database, "DELETE FROM log WHERE message = 'counted'")
    expect(sidebar.get_by_role("link", name="log 40")).to_be_visible()
    sidebar.get_by_role("searchbox").fill("order")
    expect(sidebar.locator("li:visible")).to_have_count(4)
    sidebar.get_by_role("searchbox").press("Enter")
    page.is_open("Order Details", 2490)
    sidebar.get_by_role("searchbox").fill("")


@test
def every_table_and_view_opens(page, server):
    page.open(server)
    page.page.locator("#sidebar details summary").first.click()
    links = page.page.locator("#sidebar a[data-table]")
    names = [links.nth(index).get_attribute("data-table") for index in range(links.count())]
    assert len(names) >= 29, names
    for name in names:
        quoted = name.replace('"', '""')
        total = int(sql(server.database, f'SELECT count(*) FROM "{quoted}"'))
        page.page.locator(f"#sidebar a[data-table={js(name)}]").click()
        page.is_open(name, total)
        if total:
            expect(page.rows.first).to_be_visible()
        expect(page.page.locator(".query-error:visible")).to_have_count(0)


def js(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@test
def keys_of_views_are_guessed_and_can_be_chosen(page, server):
    keys = {"Orders Qry": "OrderID", "Order Subtotals": "OrderID", "Product Sales": "ProductName", "Countries": "row numbers",
            "Alphabetical list of products": "ProductID"}
    page.open(server)
    for name, expected in keys.items():
        page.go(name.replace(" ", "%20"))
        expect(page.title).to_have_text(name)
        expect(page.rows.first).to_be_visible()
        key = page.page.get_by_role("combobox", name="Key")
        chosen = key.evaluate("select => select.selectedOptions[0]?.textContent ?? ''")
        assert chosen == expected or name == "Product Sales", (name, chosen)
    page.page.get_by_role("combobox", name="Key").select_option(label="row numbers")
    expect(page.header("#")).to_be_visible()
    assert "key=%23" in page.address
    # A column that is not a key is reported.
    page.go("Countries?key=Country")
    expect(page.page.locator(".query-error:visible")).to_contain_text("choose another key")


@test
def any_columns_of_a_view_can_be_its_key(page, server):
    page.open(server, "Invoices")
    expect(page.rows.first).to_be_visible()
    key = page.page.get_by_role("combobox", name="Key")
    guessed = key.evaluate("select => select.selectedOptions[0].textContent")
    dialog = page.page.get_by_role("dialog", name="Which columns tell the rows apart?")
    key.select_option(label="other columns…")
    expect(dialog).to_be_visible()
    page.page.screenshot(path=SCREENSHOTS / "table-key.png")
    page.page.keyboard.press("Escape")
    expect(key).to_be_focused()
    expect(key.locator("option:checked")).to_have_text(guessed)
    key.select_option(label="other columns…")
    for box in dialog.get_by_role("checkbox").all():
        box.uncheck()
    expect(dialog.get_by_role("button", name="Use as key")).to_be_disabled()
    dialog.get_by_role("checkbox", name="OrderID").check()
    dialog.get_by_role("checkbox", name="ProductName").check()
    dialog.get_by_role("button", name="Use as key").click()
    expect(page.header("ProductName")).to_have_class(re.compile("fixed"))
    expect(key.locator("option:checked")).to_have_text("OrderID, ProductName")
    expect(page.rows.first).to_be_visible()
    assert "key=OrderID,ProductName" in page.address


@test
def a_guessed_key_that_two_rows_get_gives_way_to_the_next(page, server):
    page.open(server, "Products%20Above%20Average%20Price")
    expect(page.rows.first).to_be_visible()
    key = page.page.get_by_role("combobox", name="Key")
    expect(key.locator("option:checked")).to_have_text("ProductName")
    names = "SELECT group_concat(ProductName, '|') FROM (SELECT ProductName FROM Products WHERE ProductID > 75 ORDER BY ProductID)"
    before = server.sql(names).split("|")
    server.sql("UPDATE Products SET ProductName = 'twins' WHERE ProductID > 75")
    expect(key.locator("option:checked")).to_have_text("all columns")
    expect(page.page.locator(".query-error:visible")).to_have_count(0)
    expect(page.rows.first).to_be_visible()
    for number, name in zip((76, 77), before):
        server.sql(f"UPDATE Products SET ProductName = '{name}' WHERE ProductID = {number}")


@test
def headers_sort_and_the_address_says_so(page, server):
    page.open(server, "Orders").is_open("Orders", 830)
    page.header("Freight").click()
    page.shows("Freight", sql(server.database, "SELECT Freight FROM Orders ORDER BY Freight LIMIT 20").split("\n"))
    expect(page.header("Freight")).to_have_attribute("aria-sort", "ascending")
    page.header("Freight").click()
    page.shows("OrderID", sql(server.database, "SELECT OrderID FROM Orders ORDER BY Freight DESC, OrderID LIMIT 20").split("\n"))
    expect(page.header("Freight")).to_have_attribute("aria-sort", "descending")
    page.header("CustomerID").click()
    page.header("OrderDate").click(modifiers=["Shift"])
    page.header("OrderDate").click(modifiers=["Shift"])
    expected = sql(server.database, "SELECT OrderID FROM Orders ORDER BY CustomerID, OrderDate DESC LIMIT 20").split("\n")
    page.shows("OrderID", expected)
    assert page.address == "/Orders?sort=CustomerID,-OrderDate", page.address
    page.page.reload()
    page.shows("OrderID", expected)
    for _ in range(2):
        page.page.go_back()
    page.shows("OrderID", sql(server.database, "SELECT OrderID FROM Orders ORDER BY CustomerID, OrderID LIMIT 20").split("\n"))
    page.page.go_forward()
    assert page.address == "/Orders?sort=CustomerID,OrderDate"


@test
def filters_by_column_and_by_sql(page, server):
    page.open(server, "Orders").is_open("Orders", 830)
    page.page.get_by_role("button", name="Filter", exact=True).click()
    line = page.page.locator(".filter-line")
    line.locator("[name=column]").select_option("ShipCountry")
    line.locator("[name=operator]").select_option(label="=")
    line.locator("[name=value]").fill("Country 3")
    page.is_open("Orders", int(sql(server.database, "SELECT count(*) FROM Orders WHERE ShipCountry = 'Country 3'")))
    page.page.locator("[name=where]").fill("Freight > 300 OR OrderID = 10250")
    page.is_open("Orders", int(sql(server.database, "SELECT count(*) FROM Orders WHERE ShipCountry = 'Country 3' AND (Freight > 300 OR OrderID = 10250)")))
    assert "filter=ShipCountry:eq:Country 3" in page.address and "where=Freight > 300 OR OrderID = 10250" in page.address
    page.page.locator("[name=where]").fill("Freight >")
    expect(page.page.locator(".filter-bar [role=alert]")).to_contain_text("where")
    page.page.locator("[name=where]").fill("")
    expect(page.page.locator(".filter-bar [role=alert]")).to_be_hidden()
    line.locator("[name=operator]").select_option(label="is not null")
    line.locator("[name=column]").select_option("ShippedDate")
    page.is_open("Orders", int(sql(server.database, "SELECT count(*) FROM Orders WHERE ShippedDate IS NOT NULL")))
    page.page.get_by_role("button", name=re.compile("^Remove")).click()
    page.is_open("Orders", 830)


@test
def sections_and_search(page, server):
    page.open(server, "Products").is_open("Products", 77)
    page.page.get_by_role("combobox", name="Sections").select_option("SupplierID")
    expect(page.count).to_have_text("77 rows in 29 sections")
    expect(page.page.locator(".live-title").first).to_contain_text("1")
    assert page.address == "/Products?section=SupplierID"
    page.page.get_by_role("combobox", name="Sections").select_option("None")
    page.page.get_by_role("searchbox", name="Search").fill("quick te")
    page.is_open("Products", 19)
    page.shows("ProductName", sql(server.database, "SELECT ProductName FROM Products WHERE ProductName LIKE 'Quick tea%' ORDER BY ProductID LIMIT 9").split("\n"))
    sql(server.database, "INSERT INTO Products(ProductName) VALUES ('no match for it')")
    sql(server.database, "DELETE FROM Products WHERE ProductName = 'no match for it'")
    page.page.get_by_role("searchbox", name="Search").fill("")
    page.is_open("Products", 77)


@test
def totals_of_columns_stand_below_the_rows_and_in_headers(page, server):
    def choose(column, title):
        page.header(column).hover()
        page.header(column).locator(".head-menu").click()
        page.page.get_by_role("menuitemcheckbox", name=title).click()

    def number(query):
        return f"{round(float(sql(server.database, query)), 3):,.3f}".rstrip("0").rstrip(".")

    line = page.page.locator(".table-list .live-totals")
    page.open(server, "Orders?sort=-Freight").is_open("Orders", 830)
    expect(line).to_be_hidden()
    page.page.locator(".table-list .live-scroller").evaluate("scroller => { scroller.scrollTop = 3000 }")
    page.page.wait_for_timeout(300)
    seen = page.rows.first.text_content()
    choose("Freight", "Sum")
    expect(line).to_have_text(f"Sum of Freight {number('SELECT sum(Freight) FROM Orders')}")
    assert page.rows.first.text_content() == seen, "the rows stay in view"
    choose("ShipCountry", "Maximum")
    choose("Freight", "Average")
    expect(line).to_contain_text(f"Maximum of ShipCountry {sql(server.database, 'SELECT max(ShipCountry) FROM Orders')}")
    expect(line).to_contain_text(f"Average of Freight {number('SELECT avg(Freight) FROM Orders')}")
    assert page.address == "/Orders?sort=-Freight&total=sum:Freight,max:ShipCountry,avg:Freight"
    # Totals cover the filtered rows, change with the file, and a section's header has the section's totals.
    page.go("Orders?section=ShipCountry&filter=Freight:gt:100&total=sum:Freight")
    some = "SELECT sum(Freight) FROM Orders WHERE Freight > 100"
    first = f"{some} GROUP BY ShipCountry ORDER BY ShipCountry LIMIT 1"
    expect(line).to_have_text(f"Sum of Freight {number(some)}")
    largest = "(SELECT OrderID FROM Orders ORDER BY ShipCountry, Freight DESC LIMIT 1)"
    sql(server.database, f"UPDATE Orders SET Freight = Freight + 1000 WHERE OrderID = {largest}")
    expect(line).to_have_text(f"Sum of Freight {number(some)}")
    expect(page.page.locator(".table-list .live-title").first).to_contain_text(f"Sum of Freight {number(first)}")
    page.page.screenshot(path=SCREENSHOTS / "tables-totals.png")
    page.page.get_by_role("button", name="Use this list").click()
    expect(page.page.locator(".use-dialog pre")).to_contain_text('"sum(Freight)": "sum(Freight)"')
    page.page.locator(".use-dialog .close").click()
    expect(page.page.locator(".use-dialog")).to_have_count(0)
    choose("Freight", "Sum")
    expect(line).to_be_hidden()
    sql(server.database, f"UPDATE Orders SET Freight = Freight - 1000 WHERE OrderID = {largest}")
    # Texts have no sum.
    page.header("ShipName").hover()
    page.header("ShipName").locator(".head-menu").click()
    expect(page.page.get_by_role("menuitemcheckbox", name="Sum")).to_be_disabled()
    page.page.keyboard.press("Escape")


@test
def columns_are_resized_moved_hidden_and_stay_so(page, server):
    page.open(server, "Employees").is_open("Employees", 9)
    width = page.header("Title").bounding_box()["width"]
    handle = page.header("Title").locator(".resizer").bounding_box()
    page.page.mouse.move(handle["x"] + 4, handle["y"] + 5)
    page.page.mouse.down()
    page.page.mouse.move(handle["x"] + 64, handle["y"] + 5, steps=4)
    page.page.mouse.up()
    assert abs(page.header("Title").bounding_box()["width"] - width - 60) < 2
    assert abs(page.cell(0, "Title").bounding_box()["width"] - width - 60) < 2
    source, target = page.header("FirstName").bounding_box(), page.header("LastName").bounding_box()
    page.page.mouse.move(source["x"] + 30, source["y"] + 10)
    page.page.mouse.down()
    page.page.mouse.move(target["x"] + 10, target["y"] + 10, steps=6)
    page.page.mouse.up()
    assert page.headers()[:3] == ["EmployeeID", "FirstName", "LastName"]
    assert "sort" not in page.address, "dragging is no click"
    page.header("Title").hover()
    page.header("Title").locator(".head-menu").click()
    page.page.get_by_role("menuitem", name="Hide").click()
    page.page.reload()
    page.is_open("Employees", 9)
    assert page.headers()[:4] == ["EmployeeID", "FirstName", "LastName", "TitleOfCourtesy"]
    page.page.get_by_role("button", name="Columns").click()
    page.page.get_by_role("checkbox", name="Title", exact=True).check()
    page.page.keyboard.press("Escape")
    assert "Title" in page.headers()
    page.page.evaluate("localStorage.clear()")


@test
def eighteen_columns_scroll_sideways_beside_the_key(page, server):
    page.open(server, "Employees").is_open("Employees", 9)
    scroller = page.page.locator(".table-list .live-scroller")
    assert len(page.headers()) == 18
    key = page.cell(2, "EmployeeID").bounding_box()["x"]
    scroller.evaluate("scroller => { scroller.scrollLeft = 900 }")
    eventually(lambda: page.cell(2, "EmployeeID").bounding_box()["x"], lambda x: x == key)
    assert page.header("EmployeeID").bounding_box()["x"] == key
    for column in ("HomePhone", "Photo"):
        assert abs(page.header(column).bounding_box()["x"] - page.cell(2, column).bounding_box()["x"]) < 1
    # The key column covers the columns that scroll below it.
    box = page.cell(2, "EmployeeID").bounding_box()
    for offset in (8, box["width"] - 4):
        assert page.page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('.cell').dataset.text", [box["x"] + offset, box["y"] + 9]) == "EmployeeID"
    expect(page.cell(2, "Photo")).to_contain_text("BLOB, 20 kB")
    # Cells do not overlap.
    boxes = page.page.locator(".live-row").nth(2).locator(".cell").evaluate_all("cells => cells.slice(1).map(cell => [cell.offsetLeft, cell.offsetWidth])")
    assert all(left + width <= following + 0.5 for (left, width), (following, _) in zip(boxes, boxes[1:])), boxes


@test
def odd_names_and_values_are_only_text(page, server):
    page.open(server, "odd%20%22name%22%20%231%3F%26%2F%25").is_open('odd "name" #1?&/%', 2)
    assert page.headers() == ["rowid", "a b", "select", 'x"y', "100%"] + page.headers()[5:]
    expect(page.page.locator(SHOWN_BOLD)).to_have_count(0)
    expect(page.cell(1, "select")).to_contain_text("9,007,199,254,740,993")
    page.header("select").click()
    page.shows("rowid", ["2", "1"])


SHOWN_BOLD = ".table-list .live-row b"


@test
def a_row_has_whole_values_and_links_both_ways(page, server):
    page.open(server, "Orders").is_open("Orders", 830)
    page.cell(2, "OrderID").hover()
    page.page.locator('.live-row[aria-rowindex="4"] .open-row').click()
    expect(page.panel.get_by_role("heading", name="Orders 10250")).to_be_visible()
    assert page.address == "/Orders?row=[10250]"
    expect(page.panel.locator(".references a")).to_have_text(["Order Details OrderID3"])
    sql(server.database, "UPDATE Orders SET ShipName = 'seen at once' WHERE OrderID = 10250")
    expect(page.panel).to_contain_text("seen at once")
    page.panel.get_by_role("link", name=re.compile("→ Customers")).click()
    customer = sql(server.database, "SELECT CustomerID FROM Orders WHERE OrderID = 10250")
    expect(page.panel.get_by_role("heading", name=f"Customers {customer}")).to_be_visible()
    page.is_open("Customers", 91)
    expect(page.cell(int(customer[2:]) - 1, "CustomerID")).to_be_visible()
    page.panel.get_by_role("link", name=re.compile("^Orders")).click()
    page.is_open("Orders", int(sql(server.database, f"SELECT count(*) FROM Orders WHERE CustomerID = '{customer}'")))
    page.page.go_back()
    expect(page.panel.get_by_role("heading", name=f"Customers {customer}")).to_be_visible()
    page.go("Employees?row=[3]")
    expect(page.panel).to_contain_text("x" * 900)
    expect(page.panel).to_contain_text("3 Fake Street\nApt. 3")
    page.go("Categories?row=[2]")
    picture = page.panel.get_by_role("img")
    expect(picture).to_be_visible()
    page.panel.get_by_role("button", name="Close").click()
    expect(page.panel).to_be_hidden()
    assert page.address == "/Categories"


@test
def the_list_is_used_elsewhere(page, server):
    page.open(server, "Orders?filter=ShipCountry:eq:Country%203&sort=-Freight")
    page.page.get_by_role("button", name="Use this list").click()
    dialog = page.page.get_by_role("dialog", name="Use this list")
    expect(dialog.locator("pre")).to_contain_text('"orderBy": [\n    "Freight DESC"')
    for way, text in {"HTML": "<live-list", "Terminal": "freshet watch", "curl": "/v1/snapshot", "Events": "curl -N"}.items():
        dialog.get_by_text(way, exact=True).click()
        expect(dialog.locator("pre").first).to_contain_text(text)
    dialog.get_by_text("Explanation", exact=True).click()
    expect(dialog).to_contain_text("Followed change by change")
    page.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
