"""The table browser on other screens and without a mouse: phone, dark, keys only, roles, names and contrast."""
import re

from playwright.sync_api import expect

from harness import SCREENSHOTS, tests
from table_page import opened

TESTS, test = tests()

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
TABLET = {"viewport": {"width": 820, "height": 1100}, "has_touch": True}

CONTRAST = """() => {
  const channel = (value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const background = (element) => { const layers = [];
    for (let current = element; current; current = current.parentElement) layers.push(rgba(getComputedStyle(current).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]); };
  const found = [];
  for (const element of document.querySelectorAll("main:not([hidden]) *, header *, dialog *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const { opacity } = getComputedStyle(element);
    if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || element.closest(":disabled, .live-leaving, [aria-hidden=true]") || Number(opacity) < 0.5) continue;
    const below = background(element);
    const colour = over(rgba(getComputedStyle(element).color), below);
    const [one, two] = [light(colour), light(below)].sort((left, right) => right - left);
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < 4.5) found.push(`${element.className || element.localName} "${element.textContent.trim().slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
}"""

NAMES = """() => {
  const found = [];
  const say = (element, what) => found.push(`${what}: ${element.outerHTML.slice(0, 90)}`);
  const hidden = (element) => !element.checkVisibility() || element.closest("[aria-hidden=true]");
  for (const element of document.querySelectorAll("button, a[href], input, select, textarea")) {
    if (hidden(element)) continue;
    const name = element.ariaLabel || element.labels?.[0]?.textContent || element.textContent || element.title;
    if (!name?.trim()) say(element, "no name");
  }
  for (const row of document.querySelectorAll("[role=row]")) if (!row.closest("[role=grid]")) say(row, "row outside a grid");
  for (const cell of document.querySelectorAll("[role=gridcell], [role=columnheader]")) if (!cell.parentElement.matches("[role=row]")) say(cell, "cell outside a row");
  for (const element of document.querySelectorAll("[aria-activedescendant]")) {
    if (!document.getElementById(element.getAttribute("aria-activedescendant"))) say(element, "no such descendant");
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids.filter((id, index) => ids.indexOf(id) !== index)) found.push(`id twice: ${id}`);
  return found;
}"""

OVERFLOWING = """() => [...document.querySelectorAll("main:not([hidden]) :is(button, select, input, h2), header *")]
  .filter((element) => !element.closest("live-list, .table-actions, .sidebar") && element.checkVisibility())
  .filter((element) => { const { left, right } = element.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; })
  .map((element) => element.outerHTML.slice(0, 90))"""


@test
def everything_has_a_role_a_name_and_contrast(browser, server):
    addresses = {"table": "Orders?sort=-Freight&filter=ShipCountry:eq:Country%203", "row": "Employees?row=[3]", "sections": "Products?section=CategoryID",
                 "view": "Invoices", "odd": "odd%20%22name%22%20%231%3F%26%2F%25"}
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for device, options in {"desktop": DESKTOP, "phone": PHONE, "tablet": TABLET}.items():
        for scheme in ("light", "dark"):
            for name, address in addresses.items():
                with opened(browser, server, address, color_scheme=scheme, reduced_motion="reduce", **options) as page:
                    expect(page.rows.first).to_be_visible()
                    page.page.wait_for_timeout(2800 if name == "row" else 300)
                    page.page.screenshot(path=SCREENSHOTS / f"tables-{device}-{scheme}-{name}.png")
                    where = (device, scheme, name)
                    assert page.page.evaluate(NAMES) == [], (where, page.page.evaluate(NAMES))
                    assert page.page.evaluate(CONTRAST) == [], (where, page.page.evaluate(CONTRAST))
                    assert page.page.evaluate(OVERFLOWING) == [], (where, page.page.evaluate(OVERFLOWING))


@test
def the_grid_says_what_it_is(browser, server):
    with opened(browser, server, "Orders?sort=-Freight") as page:
        page.is_open("Orders", 830)
        grid = page.page.get_by_role("grid", name="Orders")
        expect(grid).to_have_attribute("aria-rowcount", "831")
        expect(grid).to_have_attribute("aria-colcount", "10")
        expect(grid).to_have_attribute("aria-readonly", "false")
        expect(page.header("Freight")).to_have_attribute("aria-sort", "descending")
        expect(page.header("OrderDate")).to_have_attribute("aria-colindex", "4")
        page.cell(0, "OrderDate").click()
        expect(page.cell(0, "OrderDate")).to_have_attribute("aria-colindex", "4")
        assert page.page.evaluate("document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).dataset.text") == "OrderDate"


@test
def everything_is_done_by_keys_alone(browser, server):
    with opened(browser, server, "Customers") as page:
        page.is_open("Customers", 91)
        press, type = page.page.keyboard.press, page.page.keyboard.type
        focused = lambda: page.page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")
        # Keys lead from the table's name at the left to its headers.
        page.page.locator("#sidebar a[aria-current]").focus()
        press("ArrowDown")
        press("Enter")
        page.is_open("EmployeeTerritories", 49)
        press("ArrowUp")
        press("Enter")
        page.is_open("Customers", 91)
        for _ in range(60):
            press("Tab")
            if page.page.evaluate("document.activeElement.matches('.head-cell, .live-row')"):
                break
        if page.page.evaluate("document.activeElement.matches('.live-row')"):
            press("ArrowUp")
        assert page.page.evaluate("document.activeElement.matches('.head-cell')"), focused()
        press("ArrowRight")
        press("Enter")
        expect(page.header("CompanyName")).to_have_attribute("aria-sort", "ascending")
        width = page.header("CompanyName").bounding_box()["width"]
        press("Shift+ArrowRight")
        assert page.header("CompanyName").bounding_box()["width"] == width + 16
        press("Alt+ArrowRight")
        assert page.headers()[:3] == ["CustomerID", "ContactName", "CompanyName"]
        assert "CompanyName" in focused()
        press("Alt+ArrowDown")
        expect(page.page.get_by_role("menu")).to_be_visible()
        assert focused() == "Sort ascending"
        press("Escape")
        assert "CompanyName" in focused()
        # Keys lead into the rows, to a cell, to its row's details and back.
        press("ArrowDown")
        press("ArrowDown")
        press("ArrowRight")
        cell = page.page.locator(".live-row:focus .cell.cursor")
        expect(cell).to_have_count(1)
        row = page.page.locator(".live-row:focus")
        outline = cell.evaluate("cell => getComputedStyle(cell).outlineStyle + getComputedStyle(cell).outlineWidth")
        assert outline == "solid2px", outline
        name = row.locator("[data-text=CustomerID]").inner_text()
        press("Space")
        expect(page.panel.get_by_role("heading")).to_contain_text([re.compile(re.escape(name.replace("⤢", "").strip()))])
        page.panel.get_by_role("button", name="Close").focus()
        press("Escape")
        expect(page.panel).to_be_hidden()
        assert page.page.evaluate("document.activeElement.matches('.live-row')")
        # The cell stays in view when it moves sideways.
        for _ in range(8):
            press("ArrowRight")
        box = page.page.locator(".cell.cursor").bounding_box()
        view = page.page.locator(".table-list .live-scroller").bounding_box()
        assert view["x"] <= box["x"] and box["x"] + box["width"] <= view["x"] + view["width"] + 1, (box, view)
        page.page.evaluate("localStorage.clear()")


@test
def on_a_phone_tables_and_rows_are_sheets(browser, server):
    with opened(browser, server, "Orders", **PHONE) as page:
        page.is_open("Orders", 830)
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.rows.count() >= 10
        expect(page.page.locator("#sidebar")).not_to_be_visible()
        page.page.get_by_role("button", name="Tables and views").tap()
        page.page.get_by_role("link", name=re.compile("^Shippers")).tap()
        page.is_open("Shippers", 3)
        expect(page.page.locator("#sidebar")).not_to_be_visible()
        page.cell(1, "CompanyName").tap()
        expect(page.panel.get_by_role("heading", name="Shippers 2")).to_be_visible()
        box = page.panel.bounding_box()
        assert box["width"] == 390 and box["height"] == 844, box
        page.page.go_back()
        expect(page.panel).to_be_hidden()
