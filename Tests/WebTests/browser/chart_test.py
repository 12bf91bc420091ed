#!/usr/bin/env python3
"""`<live-chart>` in a real browser against a real server and a real database (see harness.py).

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import sys
import tempfile
import time

from playwright.sync_api import expect

from harness import ROOT, Demo, Page, chromium, eventually, public_with, run, tests

PAGES = ROOT / "Tests" / "WebTests" / "pages"
TESTS, test = tests()
BY_STATUS = "SELECT status, count(*) FROM well GROUP BY status ORDER BY count(*) DESC, status"


class ChartPage(Page):
    def open(self, demo):
        self.page.goto(demo.url + "chart.html")
        for chart in ("bars", "lines", "split"):
            expect(self.chart(chart)).to_have_attribute("data-status", "live")
            expect(self.chart(chart).locator(".chart-svg text").first).to_be_visible()
        return self

    def chart(self, name):
        return self.page.locator(f"#{name}")

    def plot(self, name):
        return self.chart(name).locator(".chart-plot")

    def table(self, name):
        """The rows of the chart's table for assistive technology."""
        return self.chart(name).evaluate(
            "chart => [...chart.querySelectorAll('.chart-table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")

    def becomes(self, name, rows):
        eventually(lambda: self.table(name), lambda shown: shown == rows, f"not {rows}")

    def bars(self):
        """Names and lengths of the bars from top to bottom, once they do not move any more."""
        bars = None
        while True:
            now = self.chart("bars").evaluate("""chart => {
              const names = [...chart.querySelectorAll('.chart-name')], bars = [...chart.querySelectorAll('.chart-bar')];
              return names.map((name, index) => [Number(name.getAttribute('y')), name.textContent, Number(bars[index].getAttribute('width'))])
                .sort(([one], [two]) => one - two).map(([, ...rest]) => rest);
            }""")
            if now == bars:
                return now
            bars = now
            time.sleep(0.1)


def rows(demo, sql):
    return [[f"{int(part):,}" if part.isdigit() and index else part for index, part in enumerate(line.split("|"))]
            for line in demo.sql(sql).split("\n")]


@test
def bars_are_as_long_as_the_values(page, demo):
    expected = [line.split("|") for line in demo.sql(BY_STATUS).split("\n")]
    bars = page.bars()
    assert [name for name, _ in bars] == [name for name, _ in expected]
    for (_, length), (_, count) in zip(bars, expected):
        assert abs(length / bars[0][1] - int(count) / int(expected[0][1])) < 0.02, (bars, expected)


@test
def another_process_moves_them(page, demo):
    last = demo.sql(BY_STATUS).split("\n")[-1].split("|")[0]
    demo.sql(f"UPDATE well SET status = '{last}' WHERE id % 3 > 0")
    page.becomes("bars", rows(demo, BY_STATUS))
    assert page.bars()[0][0] == last


@test
def dates_are_a_line_and_null_is_not_drawn(page, demo):
    expect(page.chart("lines")).to_have_attribute("data-type", "line")
    expected = demo.sql("SELECT count(DISTINCT substr(spud_date, 1, 4)) FROM well")
    expect(page.chart("lines").locator(".chart-table tbody tr")).to_have_count(int(expected))
    if demo.sql("SELECT count(*) FROM well WHERE spud_date IS NULL") != "0":
        expect(page.chart("lines").locator(".chart-note")).to_have_text("1 row without a date is not drawn.")
    # The line is a single path from the first to the last point.
    path = page.chart("lines").locator(".chart-line").get_attribute("d")
    assert path.count("M") == 1 and path.count("L") == int(expected) - 1, path


@test
def series_have_a_pattern_each_and_a_legend(page, demo):
    chart = page.chart("split")
    fills = set(chart.locator(".chart-bar").evaluate_all("bars => bars.map(bar => bar.getAttribute('fill'))"))
    expect(chart.locator(".chart-legend li")).to_have_count(len(fills))
    assert len([fill for fill in fills if fill.startswith("url(")]) == len(fills) - 1, fills
    expect(chart.locator(".chart-note")).to_contain_text("The first 40 of")


@test
def keys_lead_from_value_to_value(page, demo):
    page.page.locator("#before").focus()
    page.page.keyboard.press("Tab")
    expect(page.plot("bars")).to_be_focused()
    expect(page.plot("bars")).to_have_attribute("aria-label", "Wells by status: " + demo.sql("SELECT count(DISTINCT status) FROM well")
                                                + " values. Arrow keys lead from one to the next.")
    first, second = rows(demo, BY_STATUS)[:2]
    page.page.keyboard.press("ArrowDown")
    expect(page.chart("bars").locator("[role=status]")).to_have_text(f"{first[0]}, wells: {first[1]}")
    page.page.keyboard.press("ArrowDown")
    expect(page.chart("bars").locator(".chart-tip")).to_have_text(f"{second[0]}wells: {second[1]}")
    page.page.evaluate("addEventListener('activate', ({ detail }) => { globalThis.activated = detail.row.status }, { once: true })")
    page.page.keyboard.press("Enter")
    assert page.page.evaluate("globalThis.activated") == second[0]
    page.page.keyboard.press("Escape")
    expect(page.chart("bars").locator(".chart-tip")).to_be_hidden()


@test
def the_pointer_shows_the_value_below_it(page, demo):
    page.chart("bars").scroll_into_view_if_needed()
    name, *_ = page.bars()[1]
    box = page.chart("bars").locator(".chart-bar").nth(1).bounding_box()
    page.page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    shown = page.chart("bars").locator(".chart-tip > :first-child")
    expect(shown).to_be_visible()
    assert shown.text_content() in [row[0] for row in rows(demo, BY_STATUS)], name
    page.page.mouse.move(0, 0)
    expect(shown).to_be_hidden()


@test
def another_query_leads_to_other_values(page, demo):
    page.chart("bars").evaluate("""chart => {
      chart.setAttribute("x", "county");
      chart.query = { from: "well", select: ["county", "count(*) AS wells"], groupBy: ["county"], orderBy: ["county"] };
    }""")
    page.becomes("bars", rows(demo, "SELECT county, count(*) FROM well GROUP BY county ORDER BY county"))


@test
def a_column_that_there_is_not_is_said(page, demo):
    page.chart("lines").evaluate("chart => chart.setAttribute('y', 'fathoms')")
    expect(page.chart("lines").locator(".chart-message")).to_have_text("There is no column fathoms. There are year, feet.")
    page.chart("lines").evaluate("chart => chart.setAttribute('y', 'feet')")
    expect(page.chart("lines").locator(".chart-message")).to_be_hidden()


@test
def a_server_that_goes_is_said_and_values_stay(page, demo):
    before = page.table("split")
    demo.kill()
    expect(page.chart("split").locator(".chart-stale")).to_contain_text("Reconnecting")
    assert page.table("split") == before
    demo.start()
    expect(page.chart("split").locator(".chart-stale")).to_be_hidden()
    page.errors.clear()


def main():
    with tempfile.TemporaryDirectory() as folder, public_with(*PAGES.iterdir()) as public, \
            Demo(folder, public, rows=2_000) as demo, chromium() as browser:
        page = ChartPage(browser.new_page(viewport={"width": 1000, "height": 1100}))
        return run(TESTS, lambda: page.open(demo), page, demo) > 0


if __name__ == "__main__":
    sys.exit(main())
