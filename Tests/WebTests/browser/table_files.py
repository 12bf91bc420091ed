"""SQLite files of the kinds that people have, for the tests of the table browser."""
import pathlib
import sqlite3
import subprocess
import time

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000100000001008020000009091683600000017494441542891636"
    "4f8c3400260229a6a5403a31a86a8060000d2000114c9d1a7e50000000049454e44ae426082")

NORTHWIND = """
PRAGMA journal_mode = WAL;
CREATE TABLE Categories(CategoryID INTEGER PRIMARY KEY, CategoryName TEXT NOT NULL, Description TEXT, Picture BLOB);
CREATE TABLE Suppliers(SupplierID INTEGER PRIMARY KEY, CompanyName TEXT NOT NULL, ContactName TEXT, City TEXT, Country TEXT, Phone TEXT, HomePage TEXT);
CREATE TABLE Shippers(ShipperID INTEGER PRIMARY KEY, CompanyName TEXT NOT NULL, Phone TEXT);
CREATE TABLE Customers(CustomerID TEXT PRIMARY KEY, CompanyName TEXT NOT NULL, ContactName TEXT, Address TEXT, City TEXT, Region TEXT,
  PostalCode TEXT, Country TEXT, Phone TEXT);
CREATE TABLE Employees(EmployeeID INTEGER PRIMARY KEY, LastName TEXT NOT NULL, FirstName TEXT NOT NULL, Title TEXT, TitleOfCourtesy TEXT,
  BirthDate DATE, HireDate DATE, Address TEXT, City TEXT, Region TEXT, PostalCode TEXT, Country TEXT, HomePhone TEXT, Extension TEXT,
  Photo BLOB, Notes TEXT, ReportsTo INTEGER REFERENCES Employees, PhotoPath TEXT);
CREATE TABLE Products(ProductID INTEGER PRIMARY KEY, ProductName TEXT NOT NULL, SupplierID INTEGER REFERENCES Suppliers, CategoryID INTEGER
  REFERENCES Categories, QuantityPerUnit TEXT, UnitPrice NUMERIC DEFAULT 0 CHECK (UnitPrice >= 0), UnitsInStock INTEGER, Discontinued BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE Orders(OrderID INTEGER PRIMARY KEY, CustomerID TEXT REFERENCES Customers, EmployeeID INTEGER REFERENCES Employees, OrderDate DATETIME,
  ShippedDate DATETIME, ShipVia INTEGER REFERENCES Shippers, Freight NUMERIC DEFAULT 0, ShipName TEXT, ShipCity TEXT, ShipCountry TEXT);
CREATE TABLE "Order Details"(OrderID INTEGER REFERENCES Orders, ProductID INTEGER REFERENCES Products, UnitPrice NUMERIC NOT NULL DEFAULT 0,
  Quantity INTEGER NOT NULL DEFAULT 1, Discount REAL NOT NULL DEFAULT 0, Line AS (UnitPrice * Quantity), PRIMARY KEY (OrderID, ProductID)) WITHOUT ROWID;
CREATE TABLE Regions(RegionID INTEGER PRIMARY KEY, RegionDescription TEXT NOT NULL);
CREATE TABLE Territories(TerritoryID TEXT PRIMARY KEY, TerritoryDescription TEXT NOT NULL, RegionID INTEGER NOT NULL REFERENCES Regions);
CREATE TABLE EmployeeTerritories(EmployeeID INTEGER REFERENCES Employees, TerritoryID TEXT REFERENCES Territories, PRIMARY KEY (EmployeeID, TerritoryID));
CREATE TABLE "odd ""name"" #1?&/%"("a b", "select", "x""y", "100%", "");
CREATE TABLE log(at INTEGER, message);
CREATE TABLE __migrations(id INTEGER PRIMARY KEY, name TEXT);
CREATE VIRTUAL TABLE Products_fts USING fts5(ProductName, content='Products', content_rowid='ProductID');

CREATE VIEW "Alphabetical list of products" AS SELECT Products.*, CategoryName FROM Categories JOIN Products USING (CategoryID);
CREATE VIEW "Current Product List" AS SELECT ProductID, ProductName FROM Products WHERE Discontinued = 0;
CREATE VIEW "Customer and Suppliers by City" AS SELECT City, CompanyName, ContactName, 'Customers' AS Relationship FROM Customers
  UNION SELECT City, CompanyName, ContactName, 'Suppliers' FROM Suppliers;
CREATE VIEW Invoices AS SELECT o.ShipName, o.CustomerID, c.CompanyName, o.OrderID, o.OrderDate, p.ProductName, d.UnitPrice, d.Quantity,
  d.UnitPrice * d.Quantity AS ExtendedPrice FROM Orders o JOIN Customers c USING (CustomerID) JOIN "Order Details" d USING (OrderID) JOIN Products p USING (ProductID);
CREATE VIEW "Orders Qry" AS SELECT o.CustomerID, o.OrderID, c.CompanyName, o.Freight FROM Customers c JOIN Orders o USING (CustomerID);
CREATE VIEW "Order Subtotals" AS SELECT OrderID, sum(UnitPrice * Quantity * (1 - Discount)) AS Subtotal FROM "Order Details" GROUP BY OrderID;
CREATE VIEW "Product Sales" AS SELECT CategoryName, ProductName, sum(d.UnitPrice * Quantity) FROM Categories JOIN Products USING (CategoryID)
  JOIN "Order Details" d USING (ProductID) GROUP BY CategoryName, ProductName;
CREATE VIEW "Products Above Average Price" AS SELECT ProductName, UnitPrice FROM Products WHERE UnitPrice > (SELECT avg(UnitPrice) FROM Products);
CREATE VIEW "Products by Category" AS SELECT CategoryName, ProductName, QuantityPerUnit, UnitsInStock FROM Categories JOIN Products USING (CategoryID);
CREATE VIEW Quarters AS SELECT DISTINCT CompanyName, City FROM Customers JOIN Orders USING (CustomerID);
CREATE VIEW "Sales by Category" AS SELECT CategoryID, CategoryName, count(*) AS n FROM Categories JOIN Products USING (CategoryID) GROUP BY 1, 2;
CREATE VIEW Countries AS SELECT Country FROM Customers;
CREATE VIEW Cities AS SELECT DISTINCT City, Country FROM Suppliers;
CREATE VIEW Summary AS SELECT count(*), avg(Freight) AS "average freight" FROM Orders;

INSERT INTO Categories SELECT value, 'Category ' || value, 'All that belongs to ' || value || char(10) || 'and more', x'@picture@' FROM range WHERE value <= 8;
INSERT INTO Suppliers SELECT value, 'Supplier ' || value, NULL, 'City ' || (value % 9), 'Country ' || (value % 5), '555-' || (1000 + value), 'https://example.com/' || value FROM range WHERE value <= 29;
INSERT INTO Shippers SELECT value, 'Shipper ' || value, '(503) 555-983' || value FROM range WHERE value <= 3;
INSERT INTO Customers SELECT printf('CU%03d', value), 'Company ' || value, 'Contact ' || value, value || ' Main Street', 'City ' || (value % 20),
  CASE WHEN value % 3 THEN NULL ELSE 'West' END, 10000 + value, 'Country ' || (value % 7), '030-' || value FROM range WHERE value <= 91;
INSERT INTO Employees SELECT value, 'Last ' || value, 'First ' || value, 'Sales Representative', 'Ms.', date('1950-01-01', (value * 700) || ' days'),
  datetime('1992-05-01', (value * 70) || ' days'), value || ' Fake Street' || char(10) || 'Apt. ' || value, 'Seattle', 'WA', '98122', 'USA', '(206) 555-98' || value, '54' || value,
  zeroblob(20000 + value), printf('%s has a degree. %.*c', 'First ' || value, 900, 'x'), nullif((value + 1) / 3, value), NULL FROM range WHERE value <= 9;
INSERT INTO Products SELECT value, CASE value % 4 WHEN 0 THEN 'Quick tea ' WHEN 1 THEN 'Brown sugar ' WHEN 2 THEN 'Green syrup ' ELSE 'Old cheese ' END || value,
  1 + value % 29, 1 + value % 8, (1 + value % 12) || ' boxes', 5 + value * 1.25, value * 3 % 40, value % 9 = 0 FROM range WHERE value <= 77;
INSERT INTO Orders SELECT 10247 + value, printf('CU%03d', 1 + value * 7 % 91), 1 + value % 9, datetime('2016-07-04', value || ' days'), CASE WHEN value % 11 THEN datetime('2016-07-14', value || ' days') END,
  1 + value % 3, round(value * 7919 % 10007 / 17.0, 2), 'Company ' || (1 + value * 7 % 91), 'City ' || (value % 20), 'Country ' || (value % 7) FROM range WHERE value <= 830;
INSERT INTO "Order Details"(OrderID, ProductID, UnitPrice, Quantity, Discount) SELECT 10247 + o.value, 1 + (o.value * 13 + d.value * 7) % 77, 5 + d.value, 1 + o.value % 30, d.value * 0.05
  FROM range o, range d WHERE o.value <= 830 AND d.value <= 3;
INSERT INTO Regions VALUES (1, 'Eastern'), (2, 'Western'), (3, 'Northern'), (4, 'Southern');
INSERT INTO Territories SELECT printf('%05d', value * 97), 'Territory ' || value, 1 + value % 4 FROM range WHERE value <= 53;
INSERT INTO EmployeeTerritories SELECT 1 + value % 9, printf('%05d', value * 97) FROM range WHERE value <= 49;
INSERT INTO "odd ""name"" #1?&/%" VALUES ('it''s', 'from', '"', 5, ''), (NULL, 9007199254740993, '<b>bold</b>', 1.5, x'00ff');
INSERT INTO log SELECT 1700000000 + value, 'message ' || value FROM range WHERE value <= 40;
INSERT INTO Products_fts(Products_fts) VALUES ('rebuild');
DROP TABLE range;
"""


def make(path, script):
    path = pathlib.Path(path)
    path.unlink(missing_ok=True)
    # The shell, for its own functions are not needed but its FTS5 is.
    numbers = "CREATE TABLE range(value); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO range SELECT i FROM n;"
    subprocess.run(["sqlite3", str(path)], input=numbers + script.replace("@picture@", PICTURE.hex()), text=True, check=True, capture_output=True)
    return str(path)


def northwind(folder):
    """29 tables and views: odd names, BLOBs, 18 columns, foreign keys, views without keys, WITHOUT ROWID, FTS."""
    return make(pathlib.Path(folder) / "northwind.sqlite", NORTHWIND)


def empty(folder):
    return make(pathlib.Path(folder) / "empty.sqlite", "PRAGMA journal_mode = WAL; DROP TABLE range;")


def million(folder, rows=1_000_000, name="million"):
    """A file with a table of a million rows and one of a thousand; None if making it takes longer than a minute."""
    path = str(pathlib.Path(folder) / f"{name}.sqlite")
    deadline = time.monotonic() + 60
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        try:
            for table, count in (("large", rows), ("small", 1000)):
                database.execute(f"CREATE TABLE {table}(id INTEGER PRIMARY KEY, name TEXT, at INTEGER, amount REAL)")
                database.execute(f"""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
                    INSERT INTO {table} SELECT i, 'event ' || i, 1700000000 + i, i * 1.5 FROM n""")
        except sqlite3.OperationalError:
            return None
    database.close()
    return path


def sql(path, text):
    """The output of the sqlite3 shell: another process with another library."""
    return subprocess.run(["sqlite3", "-cmd", ".timeout 5000", path, text], check=True, capture_output=True, text=True).stdout.strip()
