"""Summaries: rows in groups, as a chart and as a table."""

from playwright.sync_api import expect

from harness import eventually, tests
from table_files import sql
from table_page import opened

TESTS, test = tests()


def groups(page):
    """The rows of the chart's table for assistive technology."""
    return dict(page.page.locator(".summary-body .chart-table tbody tr").evaluate_all("rows => rows.map(({ cells }) => [...cells].map((cell) => cell.textContent))"))


def become(page, expected):
    eventually(lambda: groups(page), lambda shown: shown == expected, f"not {expected}")


def counts(server, query):
    return {name: f"{int(count):,}" for name, count in (line.split("|") for line in sql(server.database, query).strip().split("\n"))}


@test
def a_table_is_grouped_and_the_chart_moves(browser, server):
    with opened(browser, server, "Orders?group=ShipCountry") as page:
        query = "SELECT ShipCountry, count(*) FROM Orders GROUP BY 1"
        become(page, counts(server, query))
        expect(page.count).to_have_text(f"{len(counts(server, query))} groups")
        expect(page.page.locator(".summary-body > live-chart")).to_have_attribute("data-type", "bar")
        sql(server.database, "UPDATE Orders SET ShipCountry = 'Atlantis' WHERE OrderID % 2 = 0")
        become(page, counts(server, query))
        # The largest group comes first.
        expect(page.cell(0, "ShipCountry").locator(".value")).to_have_text("Atlantis")
        sql(server.database, "UPDATE Orders SET ShipCountry = 'France' WHERE ShipCountry = 'Atlantis'")


@test
def dates_are_grouped_by_periods(browser, server):
    with opened(browser, server, "Orders?group=OrderDate") as page:
        page.page.get_by_label("Period").first.select_option("year")
        become(page, counts(server, "SELECT strftime('%Y', OrderDate), count(*) FROM Orders GROUP BY 1"))
        expect(page.page.locator(".summary-body > live-chart")).to_have_attribute("data-type", "line")
        assert "group=year:OrderDate" in page.address
        page.page.get_by_label("Period").first.select_option("week")
        weeks = counts(server, "SELECT date(OrderDate, '-6 days', 'weekday 1'), count(*) FROM Orders GROUP BY 1")
        expect(page.count).to_have_text(f"{len(weeks)} groups")
        page.page.go_back()
        expect(page.page.get_by_label("Period").first).to_have_value("year")


@test
def totals_are_added_and_drawn(browser, server):
    with opened(browser, server, "Orders?group=ShipCountry") as page:
        page.page.get_by_label("Add a total").select_option("sum:Freight")
        expect(page.header("sum(Freight)")).to_be_visible()
        expect(page.page.get_by_label("Show")).to_have_value("sum(Freight)")
        expected = sql(server.database, "SELECT ShipCountry FROM Orders GROUP BY 1 ORDER BY sum(Freight) DESC LIMIT 1").strip()
        expect(page.cell(0, "ShipCountry").locator(".value")).to_have_text(expected)
        page.page.get_by_label("Show").select_option("count")
        become(page, counts(server, "SELECT ShipCountry, count(*) FROM Orders GROUP BY 1"))
        assert "chart=count" in page.address


@test
def two_columns_are_an_axis_and_colours(browser, server):
    with opened(browser, server, "Orders?group=year:OrderDate,ShipVia") as page:
        carriers = sql(server.database, "SELECT count(DISTINCT ShipVia) FROM Orders").strip()
        expect(page.page.locator(".chart-legend li")).to_have_count(int(carriers))
        expect(page.page.locator(".chart-line")).to_have_count(int(carriers) * 2)  # also in the legend


@test
def a_section_leads_to_its_chart_and_a_bar_to_its_rows(browser, server):
    with opened(browser, server, "Orders?section=ShipCountry&total=sum:Freight") as page:
        page.page.locator(".live-title .to-chart").first.click()
        expect(page.page.locator(".summary-body > live-chart")).to_have_attribute("label", "sum(Freight) of Orders by ShipCountry")
        first = page.cell(0, "ShipCountry").locator(".value").inner_text()
        page.page.locator(".summary-body .chart-plot").focus()
        page.page.keyboard.press("Home")
        page.page.keyboard.press("Enter")
        page.is_open("Orders", int(sql(server.database, f"SELECT count(*) FROM Orders WHERE ShipCountry = '{first}'")))
        assert f"filter=ShipCountry:eq:{first}" in page.address


@test
def filters_hold_for_the_summary(browser, server):
    with opened(browser, server, "Orders?filter=Freight:gt:100&group=ShipCountry") as page:
        become(page, counts(server, "SELECT ShipCountry, count(*) FROM Orders WHERE Freight > 100 GROUP BY 1"))
        page.page.get_by_role("button", name="Summary").click()
        page.is_open("Orders", int(sql(server.database, "SELECT count(*) FROM Orders WHERE Freight > 100")))
        page.page.get_by_role("button", name="Summary").click()
        expect(page.page.locator(".summary-body > live-chart")).to_have_attribute("data-type", "line")


@test
def what_cannot_be_grouped_is_said(browser, server):
    with opened(browser, server, "Orders?group=Gone") as page:
        expect(page.page.locator(".filter-bar .query-error")).to_contain_text("Gone")
