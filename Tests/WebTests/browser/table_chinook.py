"""A music shop like Chinook in the table browser: eleven tables that refer to each other, and a compound key."""
import pathlib
import re

from playwright.sync_api import expect

from harness import tests
from table_editing import becomes
from table_files import make, sql
from table_page import WritingServer, opened

TESTS, test = tests()

# The tables, columns and sizes of Chinook; its own data are not needed.
CHINOOK = """
PRAGMA journal_mode = WAL;
CREATE TABLE Artist(ArtistId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
CREATE TABLE Album(AlbumId INTEGER PRIMARY KEY NOT NULL, Title NVARCHAR(160) NOT NULL, ArtistId INTEGER NOT NULL REFERENCES Artist(ArtistId));
CREATE TABLE Genre(GenreId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
CREATE TABLE MediaType(MediaTypeId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
CREATE TABLE Track(TrackId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(200) NOT NULL, AlbumId INTEGER REFERENCES Album(AlbumId),
  MediaTypeId INTEGER NOT NULL REFERENCES MediaType(MediaTypeId), GenreId INTEGER REFERENCES Genre(GenreId), Composer NVARCHAR(220),
  Milliseconds INTEGER NOT NULL, Bytes INTEGER, UnitPrice NUMERIC(10,2) NOT NULL);
CREATE TABLE Playlist(PlaylistId INTEGER PRIMARY KEY NOT NULL, Name NVARCHAR(120));
CREATE TABLE PlaylistTrack(PlaylistId INTEGER NOT NULL REFERENCES Playlist(PlaylistId), TrackId INTEGER NOT NULL REFERENCES Track(TrackId),
  CONSTRAINT PK_PlaylistTrack PRIMARY KEY (PlaylistId, TrackId));
CREATE TABLE Employee(EmployeeId INTEGER PRIMARY KEY NOT NULL, LastName NVARCHAR(20) NOT NULL, FirstName NVARCHAR(20) NOT NULL, Title NVARCHAR(30),
  ReportsTo INTEGER REFERENCES Employee(EmployeeId), HireDate DATETIME, Email NVARCHAR(60));
CREATE TABLE Customer(CustomerId INTEGER PRIMARY KEY NOT NULL, FirstName NVARCHAR(40) NOT NULL, LastName NVARCHAR(20) NOT NULL, Company NVARCHAR(80),
  Country NVARCHAR(40), Email NVARCHAR(60) NOT NULL, SupportRepId INTEGER REFERENCES Employee(EmployeeId));
CREATE TABLE Invoice(InvoiceId INTEGER PRIMARY KEY NOT NULL, CustomerId INTEGER NOT NULL REFERENCES Customer(CustomerId), InvoiceDate DATETIME NOT NULL,
  BillingCountry NVARCHAR(40), Total NUMERIC(10,2) NOT NULL);
CREATE TABLE InvoiceLine(InvoiceLineId INTEGER PRIMARY KEY NOT NULL, InvoiceId INTEGER NOT NULL REFERENCES Invoice(InvoiceId),
  TrackId INTEGER NOT NULL REFERENCES Track(TrackId), UnitPrice NUMERIC(10,2) NOT NULL, Quantity INTEGER NOT NULL);
CREATE INDEX IFK_AlbumArtistId ON Album(ArtistId);
CREATE INDEX IFK_TrackAlbumId ON Track(AlbumId);

INSERT INTO Artist SELECT value, 'Artist ' || value FROM range WHERE value <= 275;
INSERT INTO Album SELECT value, 'Album ' || value, 1 + value % 200 FROM range WHERE value <= 347;
INSERT INTO Genre SELECT value, 'Genre ' || value FROM range WHERE value <= 25;
INSERT INTO MediaType SELECT value, 'Medium ' || value FROM range WHERE value <= 5;
INSERT INTO Track SELECT n, 'Track ' || n, 1 + n % 347, 1 + n % 5, 1 + n * 7 % 25, CASE WHEN n % 4 THEN 'Composer ' || (n % 90) END, 60000 + n * 7919 % 300000,
  n * 104729 % 10000000, CASE WHEN n % 15 THEN 0.99 ELSE 1.99 END
  FROM (SELECT one.value + 1000 * (two.value - 1) AS n FROM range one, range two WHERE two.value <= 4) WHERE n <= 3503;
INSERT INTO Playlist SELECT value, 'Playlist ' || value FROM range WHERE value <= 18;
INSERT INTO PlaylistTrack SELECT 1 + TrackId % 18, TrackId FROM Track;
INSERT INTO Employee SELECT value, 'Last ' || value, 'First ' || value, 'Sales', nullif(value / 3, 0), datetime('2002-01-01', (value * 90) || ' days'), NULL FROM range WHERE value <= 8;
INSERT INTO Customer SELECT value, 'First ' || value, 'Last ' || value, NULL, 'Country ' || (value % 24), value || '@example.com', 3 + value % 3 FROM range WHERE value <= 59;
INSERT INTO Invoice SELECT value, 1 + value % 59, datetime('2009-01-01', (value * 4) || ' days'), 'Country ' || (value % 24), round(value * 37 % 25 + 0.99, 2) FROM range WHERE value <= 412;
INSERT INTO InvoiceLine SELECT InvoiceId * 5 + value, InvoiceId, 1 + (InvoiceId * 5 + value) * 17 % 3503, 0.99, 1 FROM Invoice, range WHERE value <= 5;
DROP TABLE range;
"""


def counted(server, table):
    return int(sql(server.database, f"SELECT count(*) FROM {table}"))


@test
def all_eleven_tables_open_with_their_counts(browser, server):
    with opened(browser, server) as page:
        page.is_open("Album", 347)
        links = page.page.locator("#sidebar a[data-table]")
        expect(links).to_have_count(11)
        for name in [links.nth(index).get_attribute("data-table") for index in range(11)]:
            page.page.locator(f'#sidebar a[data-table="{name}"]').click()
            page.is_open(name, counted(server, name))
            expect(page.rows.first).to_be_visible()
            expect(page.page.get_by_role("link", name=f"{name} {counted(server, name):,}", exact=True)).to_be_visible()


@test
def links_lead_from_a_line_of_an_invoice_to_the_artist(browser, server):
    with opened(browser, server, "InvoiceLine?row=[777]") as page:
        track, album, artist = sql(server.database, """SELECT TrackId, AlbumId, ArtistId FROM InvoiceLine JOIN Track USING (TrackId)
            JOIN Album USING (AlbumId) WHERE InvoiceLineId = 777""").split("|")
        for table, key in (("Track", track), ("Album", album), ("Artist", artist)):
            page.panel.get_by_role("link", name=re.compile(f"→ {table} ")).click()
            expect(page.panel.get_by_role("heading", name=f"{table} {key}", exact=True)).to_be_visible()
            page.is_open(table, counted(server, table))
        # Back down again: all albums of the artist, counted live.
        albums = counted(server, f"Album WHERE ArtistId = {artist}")
        expect(page.panel.locator(".references a")).to_have_text([f"Album ArtistId{albums}"])
        sql(server.database, f"INSERT INTO Album(Title, ArtistId) VALUES ('A new one', {artist})")
        expect(page.panel.locator(".references a")).to_have_text([f"Album ArtistId{albums + 1}"])
        page.panel.get_by_role("link", name=re.compile("^Album")).click()
        page.is_open("Album", albums + 1)
        sql(server.database, "DELETE FROM Album WHERE Title = 'A new one'")
        page.is_open("Album", albums)


@test
def a_row_that_refers_to_its_own_table_has_links_both_ways(browser, server):
    with opened(browser, server, "Employee?row=[2]") as page:
        below = counted(server, "Employee WHERE ReportsTo = 2")
        expect(page.panel.locator(".references a").filter(has_text="Employee")).to_have_text(f"Employee ReportsTo{below}")
        page.go("Employee?row=[7]")
        page.panel.get_by_role("link", name="→ Employee 2").click()
        expect(page.panel.get_by_role("heading", name="Employee 2", exact=True)).to_be_visible()


@test
def a_row_with_a_compound_key_is_opened_by_its_address(browser, server):
    with opened(browser, server, "PlaylistTrack?row=[4,3405]") as page:
        expect(page.panel.get_by_role("heading", name="PlaylistTrack 4, 3405", exact=True)).to_be_visible()
        # The row itself is scrolled into view, 190 rows into the fourth playlist.
        before = counted(server, "PlaylistTrack WHERE (PlaylistId, TrackId) < (4, 3405)")
        expect(page.cell(before, "TrackId")).to_have_text(re.compile("3405|3,405"))
        expect(page.cell(before, "TrackId")).to_be_in_viewport()


@test
def tracks_are_sectioned_filtered_by_a_subquery_and_sorted(browser, server):
    where = "AlbumId IN (SELECT AlbumId FROM Album WHERE ArtistId < 40)"
    with opened(browser, server, "Track?section=GenreId&sort=-Milliseconds&where=" + where.replace(" ", "%20").replace("<", "%3C")) as page:
        page.is_open("Track", counted(server, f"Track WHERE {where}"))
        expect(page.count).to_contain_text("in 25 sections")
        query = f"SELECT TrackId FROM Track WHERE {where} ORDER BY GenreId, Milliseconds DESC, TrackId LIMIT 12"
        page.shows("TrackId", sql(server.database, query).split("\n"))
        # The longest track moves to this artist, and becomes the first row.
        sql(server.database, "UPDATE Track SET Milliseconds = 9000000, GenreId = 1, AlbumId = (SELECT AlbumId FROM Album WHERE ArtistId = 1) WHERE TrackId = 3000")
        page.shows("TrackId", ["3000"])
        page.shows("TrackId", sql(server.database, query).split("\n"))


@test
def what_a_foreign_key_forbids_is_refused_in_words(browser, server):
    with opened(browser, server, "Track") as page:
        page.is_open("Track", counted(server, "Track"))
        page.edit(0, "AlbumId", "99999").press("Enter")
        refusal = page.page.locator(".value-editor [role=alert]")
        expect(refusal).to_contain_text("FOREIGN KEY")
        assert "statements[" not in refusal.inner_text(), refusal.inner_text()
        page.page.keyboard.press("Escape")
        becomes(server, "SELECT count(*) FROM Track WHERE AlbumId = 99999", "0")
        page.edit(0, "AlbumId", "5").press("Enter")
        becomes(server, "SELECT AlbumId FROM Track WHERE TrackId = 1", "5")
        # An artist with albums cannot be deleted, and the page says why.
        page.go("Artist")
        page.is_open("Artist", 275)
        page.cell(4, "Name").click()
        page.page.keyboard.press("Shift+Delete")
        expect(page.toast).to_contain_text("Not deleted: FOREIGN KEY")
        expect(page.cell(4, "Name")).to_have_text("Artist 5")
        becomes(server, "SELECT count(*) FROM Artist", "275")


def serve(folder):
    return WritingServer(make(pathlib.Path(folder) / "chinook.sqlite", CHINOOK), "--allow-writes")
