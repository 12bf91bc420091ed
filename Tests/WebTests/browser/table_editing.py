"""Writing in the table browser, always compared with what the sqlite3 shell then reads from the file."""
import random
import re
import signal
import sqlite3

from playwright.sync_api import expect

from harness import SCREENSHOTS, eventually, tests
from table_files import sql

TESTS, test = tests()


def becomes(server, query, expected):
    """Waits until the shell's answer is this."""
    eventually(lambda: sql(server.database, query), lambda found: found == expected, f"{query}, not {expected}")


@test
def a_cell_is_edited_by_mouse_and_by_keys(page, server):
    page.open(server, "Customers").is_open("Customers", 91)
    page.edit(0, "CompanyName", "Ann's \"shop\"").press("Enter")
    becomes(server, "SELECT CompanyName FROM Customers WHERE CustomerID = 'CU001'", "Ann's \"shop\"")
    expect(page.cell(0, "CompanyName")).to_have_text("Ann's \"shop\"")
    # From here on, keys are used: down one row, Enter, Tab to the next cell, Escape to give up.
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("F2")
    page.page.keyboard.type("Bob's")
    page.page.keyboard.press("Tab")
    becomes(server, "SELECT CompanyName FROM Customers WHERE CustomerID = 'CU002'", "Bob's")
    expect(page.page.locator(".value-editor input")).to_have_value("Contact 2")
    page.page.keyboard.type("nobody")
    page.page.keyboard.press("Escape")
    expect(page.page.locator(".value-editor")).to_have_count(0)
    expect(page.cell(1, "ContactName")).to_have_text("Contact 2")
    page.page.keyboard.press("ArrowLeft")
    page.page.keyboard.press("Enter")
    expect(page.page.locator(".value-editor input")).to_have_value("Bob's")
    page.page.keyboard.press("Escape")
    becomes(server, "SELECT ContactName FROM Customers WHERE CustomerID = 'CU002'", "Contact 2")


@test
def values_keep_their_types(page, server):
    page.open(server, "Products").is_open("Products", 77)
    for column, text, stored in (("UnitPrice", "12.50", "real|12.5"), ("UnitPrice", "7", "integer|7"), ("ProductName", "42", "text|42"),
                                 ("UnitsInStock", "", "null|"), ("QuantityPerUnit", "", "text|")):
        page.edit(0, column, text).press("Enter")
        becomes(server, f"SELECT typeof({column}), {column} FROM Products WHERE ProductID = 1", stored)
    field = page.edit(0, "QuantityPerUnit", "no longer")
    field.press("Control+Backspace")
    field.press("Enter")
    becomes(server, "SELECT typeof(QuantityPerUnit) FROM Products WHERE ProductID = 1", "null")
    expect(page.cell(0, "QuantityPerUnit")).to_have_text("NULL")
    page.open(server, "odd%20%22name%22%20%231%3F%26%2F%25")
    for column, text, stored in (("select", "9007199254740992", "9007199254740992"), ("select", "9223372036854775807", "9223372036854775807"),
                                 ("a b", "x'c0ffee'", "X'C0FFEE'"), ("x\"y", "<i>5</i>", "'<i>5</i>'")):
        page.cell(1, column.replace('"', '\\"')).dblclick()
        page.page.locator(".cell .value-editor input").fill(text)
        page.page.keyboard.press("Enter")
        name = column.replace('"', '""')
        becomes(server, f'SELECT quote("{name}") FROM "odd ""name"" #1?&/%" WHERE rowid = 2', stored)


@test
def what_does_not_fit_the_column_takes_a_second_enter(page, server):
    page.open(server, "Products").is_open("Products", 77)
    reason = page.page.locator(".refusal:popover-open")
    stored = lambda column: f"SELECT typeof({column}), {column} FROM Products WHERE ProductID = 1"
    # Words are typed; booleans and dates have fields of their own (see table_forms.py).
    sql(server.database, "UPDATE Products SET Discontinued = 'perhaps' WHERE ProductID = 1; UPDATE Orders SET ShippedDate = 'soon' WHERE OrderID = 10248")
    expect(page.cell(0, "Discontinued")).to_have_text("perhaps")
    for column, text, word, afterwards in (("UnitsInStock", "x1", "no number", "text|x1"), ("UnitPrice", "12,50", "Is 12.50 meant?", "text|12,50"),
                                           ("Discontinued", "maybe", "neither true nor false", "text|maybe")):
        before = sql(server.database, stored(column))
        field = page.edit(0, column, text)
        field.press("Enter")
        expect(reason).to_contain_text(word)
        expect(reason).to_contain_text("Enter again")
        assert reason.evaluate("reason => reason.scrollWidth <= reason.clientWidth"), "all of it can be read"
        assert sql(server.database, stored(column)) == before
        field.press("Enter")
        becomes(server, stored(column), afterwards)
    for text, afterwards in (("true", "integer|1"), ("false", "integer|0")):
        page.edit(0, "Discontinued", text).press("Enter")
        becomes(server, stored("Discontinued"), afterwards)
        sql(server.database, "UPDATE Products SET Discontinued = 'perhaps' WHERE ProductID = 1")
        expect(page.cell(0, "Discontinued")).to_have_text("perhaps")
    sql(server.database, "UPDATE Products SET Discontinued = 0 WHERE ProductID = 1")
    expect(page.cell(0, "Discontinued")).to_have_text("false")
    page.edit(0, "UnitPrice", "6.25").press("Enter")
    becomes(server, stored("UnitPrice"), "real|6.25")
    page.edit(0, "UnitsInStock", "3").press("Enter")
    page.open(server, "Orders").is_open("Orders", 830)
    shipped = "SELECT typeof(ShippedDate), ShippedDate FROM Orders WHERE OrderID = 10248"
    before = sql(server.database, shipped)
    field = page.edit(0, "ShippedDate", "yesterday")
    # A warning also comes when the focus moves elsewhere.
    page.cell(4, "ShipCity").click()
    expect(reason).to_contain_text("no date")
    assert sql(server.database, shipped) == before
    field.fill("")
    field.press("Enter")
    becomes(server, shipped, "null|")
    page.edit(0, "ShippedDate", "2016-07-15T00:00").press("Enter")
    becomes(server, shipped, "text|2016-07-15 00:00:00")
    # The form of a new row warns too.
    page.page.get_by_role("button", name="Add row").click()
    form = page.panel.locator("form")
    form.get_by_role("textbox", name=re.compile("^Freight ")).fill("1,5")
    form.get_by_role("button", name="Add row").click()
    expect(form.locator(".form-field", has_text="Freight").get_by_role("alert")).to_contain_text("Is 1.5 meant?")
    assert sql(server.database, "SELECT count(*) FROM Orders") == "830"
    form.get_by_role("textbox", name=re.compile("^Freight ")).fill("1.5")
    form.get_by_role("button", name="Add row").click()
    page.is_open("Orders", 831)
    page.toast.get_by_role("button", name="Undo").click()
    page.is_open("Orders", 830)


@test
def what_nobody_typed_is_not_written(page, server):
    """Above all line breaks, which a field of one line cannot have."""
    address = "SELECT quote(Address) FROM Employees WHERE EmployeeID = 2"
    sql(server.database, "UPDATE Employees SET Address = 'one' || char(13, 10) || 'two' || char(10) || 'three' WHERE EmployeeID = 2")
    before = sql(server.database, address)
    page.open(server, "Employees").is_open("Employees", 9)
    for leave in ("Enter", "Tab", None):
        page.cell(1, "Address").dblclick()
        field = page.page.locator(".value-editor textarea")
        expect(field).to_be_focused()
        expect(field).to_have_value("one\ntwo\nthree")
        if leave:
            field.press(leave)
        else:
            page.cell(5, "City").click()
        expect(page.page.locator(".value-editor")).to_have_count(0)
        assert sql(server.database, address) == before
    page.cell(1, "Address").dblclick()
    field = page.page.locator(".value-editor textarea")
    field.press("Control+End")
    field.press("Shift+Enter")
    page.page.keyboard.type("four")
    field.press("Enter")
    becomes(server, "SELECT hex(Address) FROM Employees WHERE EmployeeID = 2", "one\r\ntwo\nthree\r\nfour".encode().hex().upper())
    page.page.keyboard.press("Escape")
    # A text with line breaks is pasted into a field of one line.
    page.page.keyboard.press("Escape")
    page.cell(2, "Title").dblclick()
    page.page.locator(".cell .value-editor input").evaluate("""field => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "first\\nsecond");
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }""")
    page.page.locator(".cell .value-editor textarea").press("Enter")
    becomes(server, "SELECT quote(Title) FROM Employees WHERE EmployeeID = 3", "'first\nsecond'")


@test
def what_others_wrote_is_not_overwritten_unasked(page, server):
    page.open(server, "Customers").is_open("Customers", 91)
    phone = "SELECT Phone FROM Customers WHERE CustomerID = 'CU007'"
    first = sql(server.database, phone)
    reason = page.page.locator(".refusal:popover-open")
    for column_value in ("theirs", "THEIRS"):
        field = page.edit(6, "Phone", "mine")
        sql(server.database, f"UPDATE Customers SET Phone = '{column_value}' WHERE CustomerID = 'CU007'")
        field.press("Enter")
        expect(reason).to_contain_text(f"it is “{column_value}” now. Enter overwrites that")
        expect(page.page.locator(".value-editor input")).to_have_value("mine")
        assert sql(server.database, phone) == column_value
        page.page.keyboard.press("Escape")
        expect(page.cell(6, "Phone")).to_have_text(column_value)
    field = page.edit(6, "Phone", "mine")
    sql(server.database, "UPDATE Customers SET Phone = NULL WHERE CustomerID = 'CU007'")
    field.press("Enter")
    expect(reason).to_contain_text("it is NULL now")
    page.page.locator(".value-editor input").press("Enter")
    becomes(server, phone, "mine")
    # A conflict can also come later, by undoing.
    sql(server.database, "UPDATE Customers SET Phone = 'theirs again' WHERE CustomerID = 'CU007'")
    expect(page.cell(6, "Phone")).to_have_text("theirs again")
    page.cell(6, "City").click()
    page.page.keyboard.press("Control+z")
    expect(page.toast).to_contain_text("Not undone: Somebody else has changed it: it is “theirs again” now.")
    assert sql(server.database, phone) == "theirs again"
    page.toast.get_by_role("button", name="Undo all the same").click()
    becomes(server, f"SELECT quote(({phone}))", "NULL")
    # The same happens in the details of the row.
    page.go("Customers?row=[\"CU007\"]")
    page.panel.get_by_role("button", name="Edit Phone").click()
    field = page.panel.locator(".value-editor input")
    field.fill("mine")
    sql(server.database, "UPDATE Customers SET Phone = '030-8' WHERE CustomerID = 'CU007'")
    field.press("Enter")
    expect(reason).to_contain_text("it is “030-8” now")
    field.press("Enter")
    becomes(server, phone, "mine")
    sql(server.database, f"UPDATE Customers SET Phone = '{first}' WHERE CustomerID = 'CU007'")
    page.page.keyboard.press("Escape")


@test
def what_was_typed_into_a_row_that_others_delete_is_kept(page, server):
    page.open(server, "Customers").is_open("Customers", 91)
    row = sql(server.database, "SELECT group_concat(quote(value)) FROM (SELECT CustomerID AS value FROM Customers WHERE CustomerID = 'CU009'"
              + "".join(f" UNION ALL SELECT {name} FROM Customers WHERE CustomerID = 'CU009'" for name in
                        "CompanyName ContactName Address City Region PostalCode Country Phone".split()) + ")")
    field = page.edit(8, "ContactName", "a long story")
    field.press("End")
    sql(server.database, "PRAGMA foreign_keys = OFF; DELETE FROM Customers WHERE CustomerID = 'CU009'")
    kept = page.page.locator(".kept-text")
    expect(kept).to_contain_text("ContactName of Customers CU009 was not written, somebody else has deleted the row")
    expect(kept.locator("textarea")).to_have_value("a long story")
    expect(kept.locator("textarea")).to_be_focused()
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.type("!")
    expect(kept.locator("textarea")).to_have_value("a long story!")
    assert sql(server.database, "SELECT count(*) FROM Customers WHERE ContactName LIKE '%story%'") == "0"
    kept.screenshot(path=str(SCREENSHOTS / "kept-text.png"))
    page.page.screenshot(path=str(SCREENSHOTS / "kept-text-page.png"))
    page.page.keyboard.press("Escape")
    expect(kept).to_have_count(0)
    sql(server.database, f"INSERT INTO Customers VALUES ({row})")
    # A row that leaves the list still exists, and the typed text is kept as well.
    page.open(server, "Customers?where=City='City 3'")
    expect(page.rows.first).to_be_visible()
    key = page.column("CustomerID")[0]
    page.edit(0, "ContactName", "half typed")
    city = sql(server.database, f"SELECT City FROM Customers WHERE CustomerID = '{key}'")
    sql(server.database, f"UPDATE Customers SET City = 'elsewhere' WHERE CustomerID = '{key}'")
    expect(kept).to_contain_text("the row is out of view")
    kept.get_by_role("button", name="Close").click()
    sql(server.database, f"UPDATE Customers SET City = '{city}' WHERE CustomerID = '{key}'")


@test
def a_refused_write_says_why_at_the_cell(page, server):
    page.open(server, "Products").is_open("Products", 77)
    before = sql(server.database, "SELECT UnitPrice FROM Products WHERE ProductID = 2")
    field = page.edit(1, "UnitPrice", "-1")
    field.press("Enter")
    reason = page.page.locator(".refusal:popover-open")
    expect(reason).to_contain_text("CHECK constraint failed")
    expect(field).to_have_attribute("aria-invalid", "true")
    cell, said = field.bounding_box(), reason.bounding_box()
    assert 0 <= said["y"] - cell["y"] - cell["height"] < 12 and abs(said["x"] - cell["x"]) < 300, (cell, said)
    assert sql(server.database, "SELECT UnitPrice FROM Products WHERE ProductID = 2") == before
    field.fill("3.25")
    expect(reason).to_have_count(0)
    field.press("Enter")
    becomes(server, "SELECT UnitPrice FROM Products WHERE ProductID = 2", "3.25")
    page.edit(1, "ProductName", "").press("Control+Backspace")
    expect(page.page.locator(".value-editor input")).to_have_value("")
    page.page.keyboard.press("Escape")
    # Generated columns and views are not edited at all.
    page.go("Order%20Details")
    page.is_open("Order Details", 2490)
    page.cell(0, "Line").dblclick()
    page.go("Invoices")
    expect(page.title).to_have_text("Invoices")
    page.rows.first.locator(".cell").nth(2).dblclick()
    expect(page.page.locator(".value-editor")).to_have_count(0)
    expect(page.page.get_by_role("button", name="Add row")).to_have_count(0)


@test
def an_edit_shows_before_it_is_written(page, server):
    page.open(server, "Customers?sort=City").is_open("Customers", 91)
    keys = sql(server.database, "SELECT CustomerID FROM Customers ORDER BY City, CustomerID LIMIT 9").split("\n")
    page.shows("CustomerID", keys)
    other = sqlite3.connect(server.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    page.edit(2, "City", "!first").press("Enter")
    page.shows("CustomerID", [keys[2], *keys[:2], *keys[3:]])
    row = page.rows.first
    expect(row).to_have_attribute("pending", "")
    expect(row).to_have_attribute("aria-busy", "true")
    expect(page.cell(0, "City")).to_have_text("!first")
    expect(page.rows.nth(1)).not_to_have_attribute("pending", "")
    page.edit(4, "Phone", "1").press("Enter")
    page.cell(5, "Phone").click()
    page.page.keyboard.press("Shift+Delete")
    page.shows("CustomerID", [keys[2], *keys[:2], *keys[3:5], *keys[6:]])
    assert other.execute("SELECT count(*) FROM Customers").fetchone() == (91,)
    other.execute("COMMIT")
    expect(page.page.locator(".live-row[pending]")).to_have_count(0)
    expect(page.page.locator(".live-row[aria-busy]")).to_have_count(0)
    becomes(server, f"SELECT City FROM Customers WHERE CustomerID = '{keys[2]}'", "!first")
    becomes(server, f"SELECT Phone FROM Customers WHERE CustomerID = '{keys[4]}'", "1")
    expect(page.toast).to_contain_text("deleted")
    page.toast.get_by_role("button", name="Undo").click()
    becomes(server, "SELECT count(*) FROM Customers", "91")
    other.close()


@test
def a_refused_edit_is_taken_back(page, server):
    page.open(server, "Products").is_open("Products", 77)
    before = page.cell(1, "UnitPrice").inner_text()
    page.edit(1, "UnitPrice", "-1").press("Enter")
    expect(page.page.locator(".refusal:popover-open")).to_contain_text("CHECK constraint failed")
    expect(page.page.locator(".value-editor input")).to_have_value("-1")
    page.page.keyboard.press("Escape")
    expect(page.cell(1, "UnitPrice")).to_have_text(before)
    expect(page.page.locator(".live-row[pending]")).to_have_count(0)


@test
def what_others_write_meanwhile_moves_the_row_and_not_what_is_typed(page, server):
    page.open(server, "Customers?sort=City").is_open("Customers", 91)
    page.shows("CustomerID", sql(server.database, "SELECT CustomerID FROM Customers ORDER BY City, CustomerID LIMIT 9").split("\n"))
    key = page.column("CustomerID")[1]
    field = page.edit(1, "ContactName", "half typed")
    sql(server.database, f"UPDATE Customers SET City = 'City 00', Phone = 'changed' WHERE CustomerID = '{key}'")
    page.shows("CustomerID", sql(server.database, "SELECT CustomerID FROM Customers ORDER BY City, CustomerID LIMIT 9").split("\n"))
    expect(field).to_have_value("half typed")
    expect(field).to_be_focused()
    page.page.keyboard.type("!")
    page.page.keyboard.press("Enter")
    becomes(server, f"SELECT ContactName, City, Phone FROM Customers WHERE CustomerID = '{key}'", "half typed!|City 00|changed")


@test
def edits_are_undone(page, server):
    page.open(server, "Customers").is_open("Customers", 91)
    before = sql(server.database, "SELECT quote(Region), quote(Phone) FROM Customers WHERE CustomerID = 'CU004'")
    page.edit(3, "Region", "North").press("Enter")
    page.edit(3, "Phone", "12").press("Enter")
    becomes(server, "SELECT Region, Phone FROM Customers WHERE CustomerID = 'CU004'", "North|12")
    page.toast.get_by_role("button", name="Undo").click()
    page.page.keyboard.press("Control+z")
    becomes(server, "SELECT quote(Region), quote(Phone) FROM Customers WHERE CustomerID = 'CU004'", before)


@test
def undo_takes_back_what_the_server_has_not_answered(page, server):
    """Ctrl Z undoes what is visible, and the button undoes the write that is named next to it."""
    page.open(server, "Customers").is_open("Customers", 91)
    values = "SELECT quote(Region), quote(Phone) FROM Customers WHERE CustomerID = 'CU006'"
    before = sql(server.database, values)
    page.edit(5, "Region", "North").press("Enter")
    expect(page.toast).to_contain_text("Region of Customers CU006 changed.")
    server.process.send_signal(signal.SIGSTOP)
    try:
        page.edit(5, "Phone", "12").press("Enter")
        expect(page.cell(5, "Phone")).to_have_text("12")
        page.toast.get_by_role("button", name="Undo").click()
        page.page.keyboard.press("Control+z")
    finally:
        server.process.send_signal(signal.SIGCONT)
    becomes(server, values, before)


@test
def rows_are_deleted_and_come_back_as_they_were(page, server):
    cases = {"log": "rowid, at, message", "Order%20Details": "*", "odd%20%22name%22%20%231%3F%26%2F%25": 'rowid, quote("a b"), quote("select"), quote("x""y")',
             "Shippers": "*"}
    for address, columns in cases.items():
        page.open(server, address)
        expect(page.rows.first).to_be_visible()
        name = page.title.inner_text()
        quoted = name.replace('"', '""')
        everything = sql(server.database, f'PRAGMA foreign_keys = OFF; SELECT {columns} FROM "{quoted}"')
        page.cell(1, page.headers()[0].replace('"', '\\"')).click()
        page.page.keyboard.press("Shift+Delete")
        expect(page.toast).to_contain_text(re.compile("deleted|Not deleted"))
        if "Not deleted" in page.toast.inner_text():
            assert "FOREIGN KEY" in page.toast.inner_text(), page.toast.inner_text()
            continue
        becomes(server, f'SELECT count(*) FROM "{quoted}"', str(len(everything.split("\n")) - 1))
        page.toast.get_by_role("button", name="Undo").click()
        becomes(server, f'SELECT {columns} FROM "{quoted}"', everything)


@test
def a_new_row_comes_into_view_marked(page, server):
    page.open(server, "Orders?sort=ShipName").is_open("Orders", 830)
    page.page.get_by_role("button", name="Add row").click()
    form = page.panel.locator("form")
    form.get_by_role("textbox", name=re.compile("^ShipName ")).fill("Company 58 and a half")
    form.get_by_role("combobox", name=re.compile("^CustomerID ")).fill("CU004")
    form.get_by_role("textbox", name=re.compile("^Freight ")).fill("1.5")
    form.get_by_role("button", name="Add row").click()
    page.is_open("Orders", 831)
    row = page.page.locator(".live-row", has_text="Company 58 and a half")
    expect(row).to_be_visible()
    assert row.evaluate("row => row.getAnimations().length") > 0
    becomes(server, "SELECT CustomerID, Freight, typeof(ShipVia) FROM Orders WHERE ShipName LIKE '%half'", "CU004|1.5|null")
    page.toast.get_by_role("button", name="Undo").click()
    page.is_open("Orders", 830)
    # An error about a missing value is shown at its field.
    page.go("Products")
    page.is_open("Products", 77)
    page.page.get_by_role("button", name="Add row").click()
    form.get_by_role("button", name="Add row").click()
    expect(form.locator(".form-field", has_text="ProductName").get_by_role("alert")).to_contain_text("NOT NULL constraint failed")
    expect(form.get_by_role("textbox", name=re.compile("^ProductName "))).to_be_focused()
    page.page.keyboard.press("Escape")
    expect(page.panel).to_be_hidden()


@test
def long_values_are_edited_as_a_whole(page, server):
    page.open(server, "Employees").is_open("Employees", 9)
    page.cell(0, "Notes").dblclick()
    field = page.panel.locator("textarea")
    expect(field).to_be_focused()
    whole = sql(server.database, "SELECT Notes FROM Employees WHERE EmployeeID = 1")
    expect(field).to_have_value(whole)
    field.press("End")
    field.press("Control+End")
    page.page.keyboard.type(" The end.")
    field.press("Enter")
    becomes(server, "SELECT Notes FROM Employees WHERE EmployeeID = 1", whole + " The end.")
    becomes(server, "SELECT length(Photo) FROM Employees WHERE EmployeeID = 1", "20001")


@test
def a_picture_is_taken_from_a_file(page, server):
    page.open(server, "Categories?row=[3]").is_open("Categories", 8)
    expect(page.panel.get_by_role("img")).to_be_visible()
    page.panel.locator("dd", has=page.page.get_by_role("img")).locator("input[type=file]").set_input_files(
        {"name": "bytes.bin", "mimeType": "application/octet-stream", "buffer": bytes(range(256)) * 200})
    becomes(server, "SELECT length(Picture), hex(substr(Picture, 1, 4)) FROM Categories WHERE CategoryID = 3", "51200|00010203")
    expect(page.cell(2, "Picture")).to_have_text("BLOB, 51 kB")
    page.toast.get_by_role("button", name="Undo").click()
    becomes(server, "SELECT hex(substr(Picture, 2, 3)) FROM Categories WHERE CategoryID = 3", "504E47")


@test
def edited_from_both_sides_the_screen_shows_what_select_finds(page, server):
    """The browser and the shell take turns to write at random. In the end, all rows on the screen equal a SELECT."""
    chance = random.Random(14)
    page.open(server, "Territories?sort=TerritoryDescription").is_open("Territories", 53)
    order = "SELECT TerritoryID || '|' || TerritoryDescription || '|' || RegionID FROM Territories ORDER BY TerritoryDescription, TerritoryID"
    for number in range(12):
        expected = sql(server.database, order).split("\n")
        page.shows("TerritoryID", [line.split("|")[0] for line in expected[:9]])
        offset = chance.randrange(8)
        if chance.random() < 0.6:
            page.edit(offset, "TerritoryDescription", f"{chance.choice('ABTZ')} by the browser {number}").press("Enter")
            becomes(server, f"SELECT count(*) FROM Territories WHERE TerritoryDescription LIKE '%browser {number}'", "1")
        key = chance.choice(expected[:12]).split("|")[0]
        sql(server.database, chance.choice([
            f"UPDATE Territories SET TerritoryDescription = '{chance.choice('ABTZ')} by the shell {number}' WHERE TerritoryID = '{key}'",
            f"UPDATE Territories SET RegionID = {chance.randrange(1, 5)} WHERE TerritoryID < '00900'",
            f"INSERT INTO Territories VALUES ('new{number}', 'A new one {number}', 1)",
            f"DELETE FROM Territories WHERE TerritoryID LIKE 'new%' AND TerritoryID <> '{key}'"]))
    expected = sql(server.database, order).split("\n")
    eventually(
        lambda: page.rows_as("TerritoryID", "TerritoryDescription", "RegionID"),
        lambda shown: shown == expected[: len(shown)] and len(shown) > 15, f"not {expected}")
    expect(page.count).to_have_text(f"{len(expected)} rows")
