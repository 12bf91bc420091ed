#!/usr/bin/env python3
"""Every view of the pages by axe (https://github.com/dequelabs/axe-core): no finding, light, dark and on a phone.

Skipped if axe_playwright_python, which contains axe, is not installed. Arguments pick views by words. The last line is
"N passed, N failed".
"""
import importlib.resources
import importlib.util
import re
import sys
import tempfile

from playwright.sync_api import expect

import table_files
from harness import Demo, chromium
from table_access import PHONE
from table_page import WritingServer

KINDS = {
    "light": {"viewport": {"width": 1280, "height": 800}}, "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"}, "phone": PHONE,
}
# Elements whose presence shows that a view is drawn: axe runs after they appear.
ROW = ".live-row:not(.live-leaving)[data-state=shown]:visible"
FIGURE = ".chart-svg text:visible"
DEMO = {
    "wells": ("#wells", ROW), "two panes": ("#wells?panes=2", ROW), "banks": ("#banks", ROW), "banks by state": ("#banks?by=state", ROW),
    "console": ("#console", ROW), "server": ("#server", ".chart:visible"),
}
TABLES = {
    "table": ("#/Orders", ROW), "sections and totals": ("#/Orders?section=ShipCountry&total=sum:Freight", ROW), "details": ("#/Orders?row=[10300]", "#row-panel dd:visible"),
    "filters": ("#/Orders?filter=ShipCountry:eq:Country%202&where=Freight%3E5", ROW), "summary by dates": ("#/Orders?group=month:OrderDate", FIGURE),
    "summary by values": ("#/Orders?group=ShipCountry,year:OrderDate", FIGURE), "a table that is not there": ("#/nothing", ".state-page:visible"),
    "activity": ("#activity", ".commit-card:visible"), "a new row": ("#/Products", ROW), "selected rows": ("#/Orders", ROW), "a key": ("#/Invoices", ROW), "an edited reference": ("#/Products?row=[3]", "#row-panel dd:visible"),
    "SQL": ("#sql?sql=SELECT+CompanyName%2C+City+FROM+Customers+UNION+ALL+SELECT+CompanyName%2C+City+FROM+Suppliers", ROW), "SQL that writes": ("#sql?sql=DELETE+FROM+log", ".sql-hint:visible"),
}
# Steps in a view before axe checks it.
STEPS = {
    "a new row": lambda page: page.get_by_role("button", name="Add row").click(),
    "an edited reference": lambda page: reference(page), "selected rows": lambda page: selected(page),
    "a key": lambda page: page.get_by_role("combobox", name="Key").select_option(label="other columns…"),
}
FINDINGS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map(({ id, nodes }) =>
  `${id}: ${nodes.slice(0, 3).map(({ target, any, all, none }) => `${target.join(" ")} (${(any[0] ?? all[0] ?? none[0])?.message ?? ""})`).join(", ")}`)"""


def axe():
    return (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text()


def selected(page):
    page.locator(ROW).nth(2).click(modifiers=["Control"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("menu")).to_be_visible()


def reference(page):
    """Opens the field of a reference, with its search results."""
    page.get_by_role("button", name="Edit SupplierID").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()


def findings(page, url, wanted, step=lambda page: None):
    page.goto("about:blank")
    page.goto(url)
    if page.viewport_size["width"] > 1000 or "chart" not in wanted:
        expect(page.locator(wanted).first).to_be_visible()
    step(page)
    # Wait for animations, because fading colors are not the page's final colors.
    page.evaluate("() => Promise.all(document.getAnimations().filter(({ effect }) => effect.getTiming().iterations === 1).map(({ finished }) => finished.catch(() => {})))")
    page.evaluate(axe())
    return page.evaluate(FINDINGS)


def main():
    if importlib.util.find_spec("axe_playwright_python") is None:
        print("skipped: axe_playwright_python is not installed\n0 passed, 0 failed")
        return False
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, chromium() as browser, Demo(folder, rows=2_000) as demo, \
            WritingServer(table_files.northwind(folder), "--allow-writes") as server:
        views = [(name, demo.url + address, wanted) for name, (address, wanted) in DEMO.items()]
        views += [(name, server.url + address, wanted) for name, (address, wanted) in TABLES.items()]
        for kind, options in KINDS.items():
            context = browser.new_context(**options, bypass_csp=True)
            page = context.new_page()
            page.goto(server.url + "#activity")
            expect(page.locator("#activity [role=status]")).to_contain_text(re.compile("commit"))
            table_files.sql(server.database, "UPDATE Orders SET ShipName = ShipName || '.' WHERE OrderID IN (10300, 10301)")
            for name, url, wanted in views:
                if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
                    continue
                found = findings(page, url, wanted, STEPS.get(name, lambda _: None))
                passed += not found
                failed += bool(found)
                print(f"{'failed' if found else 'ok    '}  {name}, {kind}", *found, sep="\n        ", flush=True)
            context.close()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
