"""Tests of how rows and headers are made (by templates, functions, or neither), and of contents that are refused."""
from playwright.sync_api import expect

from element_page import ListPage, name_at
from harness import another_page, tests

TESTS, test = tests()

FIRST_ROW = "#other .live-row:not(.live-leaving)[data-state=shown]"


def add_list(page, children="", query="", prepare=""):
    """Another list, with templates of its own. Markup is parsed by a template, which runs nothing."""
    page.page.evaluate("""([children, query, prepare]) => {
      document.getElementById("other")?.remove();
      const other = document.createElement("live-list");
      other.id = "other";
      const holder = document.createElement("template");
      holder.innerHTML = children;
      other.append(document.importNode(holder.content, true));
      other.query = { from: "well", orderBy: ["county", "name", "id"], ...(query ? JSON.parse(query) : {}) };
      other.addEventListener("error", (event) => seen.error.push(event.message));
      prepared = { "": () => {}, render: () => {
        other.renderRow = (element, row, { offset, path }) => element.replaceChildren(`${offset} ${path} ${row.name}`);
        other.renderSection = (element, section) => element.replaceChildren(`= ${section.name} ${section.count}`);
      }, header: () => {
        const header = document.createElement("div");
        header.style.height = "50px";
        header.append(...["Name", "Depth"].map((title) => Object.assign(document.createElement("button"), { textContent: title })));
        other.header = header;
      } }[prepare];
      prepared();
      document.body.append(other);
    }""", [children, query, prepare])
    expect(page.page.locator("#other")).to_have_attribute("data-status", "live")


@test
def without_a_template_there_is_a_cell_for_each_column(page, demo):
    add_list(page, query='{"select": ["name", "spud_date", "depth"], "limit": 3}')
    row = page.page.locator(FIRST_ROW).first
    expect(row.get_by_role("gridcell")).to_have_count(4)
    expect(row.get_by_role("gridcell").nth(1)).to_have_text(name_at(demo, 0))
    expect(page.page.locator("#other .live-header")).to_be_hidden()
    page.page.evaluate("""document.getElementById("other").query = { from: "well", select: ["id"], limit: 2 }""")
    expect(row.get_by_role("gridcell")).to_have_count(1)


@test
def functions_make_rows_and_headers(page, demo):
    add_list(page, query='{"sectionBy": "county"}', prepare="render")
    expect(page.page.locator(FIRST_ROW).first).to_have_text(f"0 0,0 {name_at(demo, 0)}")
    county, count = demo.sql("SELECT county, count(*) FROM well GROUP BY county LIMIT 1").split("|")
    expect(page.page.locator("#other .live-title").first).to_have_text(f"= {county} {count}")


@test
def column_headers_of_the_page_stay_above_the_rows(page, demo):
    add_list(page, query='{"select": ["name", "depth"], "sectionBy": "county"}', prepare="header")
    first = page.page.locator(FIRST_ROW).first
    top = page.page.locator("#other").bounding_box()["y"]
    section_header = page.page.locator("#other .live-header").first
    expect(page.page.locator("#other .live-head")).to_have_attribute("aria-rowindex", "1")
    expect(section_header).to_have_attribute("aria-rowindex", "2")
    expect(first).to_have_attribute("aria-rowindex", "3")
    expect(page.page.locator("#other [role=grid]")).to_have_attribute(
        "aria-rowcount", demo.sql("SELECT count(*) + count(DISTINCT county) + 1 FROM well"))
    assert first.bounding_box()["y"] == top + 50 + section_header.bounding_box()["height"]
    page.page.evaluate("document.querySelector('#other .live-scroller').scrollTop = 4000")
    page.frames(3)
    assert page.page.locator("#other .live-head").bounding_box()["y"] == top
    assert section_header.bounding_box()["y"] == top + 50
    # Keys in controls of the header do not move the active row, and changes do not take their focus.
    page.page.locator("#other .live-head button").first.focus()
    page.press("ArrowDown", "Enter", "Escape")
    demo.sql("UPDATE well SET depth = depth + 1 WHERE id < 100")
    page.catch_up()
    assert page.page.evaluate("document.activeElement.textContent") == "Name"
    # Rows that keys lead to appear below the header, down to the last one.
    page.page.evaluate("document.getElementById('other').focus()")
    page.press("End")
    last = page.page.locator("#other .live-row[aria-selected]").bounding_box()
    box = page.page.locator("#other").bounding_box()
    assert abs(last["y"] + last["height"] - box["y"] - box["height"]) < 2, (last, box)
    page.press("Home")
    assert first.bounding_box()["y"] == top + 50 + section_header.bounding_box()["height"]
    page.page.evaluate("document.getElementById('other').remove()")


@test
def a_template_makes_headers(page, demo):
    add_list(page, '<template slot="section"><i data-text="indexTitle"></i><b data-text="name"></b></template>',
             '{"sectionBy": "county"}')
    expect(page.page.locator("#other .live-title").first).to_have_text("AAdams")


@test
def totals_stand_in_headers_and_below_the_rows(page, demo):
    add_list(page, '<template slot="section"><b data-text="name"></b> <i data-text="totals.feet"></i></template>'
             '<template slot="totals"><b data-text="count"></b> wells, <i data-text="totals.feet"></i> feet, <i data-text="totals.last"></i></template>',
             '{"select": ["name"], "sectionBy": "county", "totals": {"feet": "sum(CAST(depth AS INT))", "last": "max(spud_date)"}}')
    header = page.page.locator("#other .live-title").first
    bar = page.page.locator("#other .live-totals")

    def shown():
        feet = int(demo.sql("SELECT sum(CAST(depth AS INT)) FROM well"))
        county, of_county = demo.sql("SELECT county, sum(CAST(depth AS INT)) FROM well GROUP BY county LIMIT 1").split("|")
        count = int(demo.sql("SELECT count(*) FROM well"))
        expect(header).to_have_text(f"{county} {int(of_county):,}")
        expect(bar).to_have_text(f"{count:,} wells, {feet:,} feet, {demo.sql('SELECT max(spud_date) FROM well')}")
    shown()
    # This changes nothing that the list selects or sorts by, and nothing in the window.
    demo.sql("UPDATE well SET depth = depth + 1000 WHERE id IN (SELECT min(id) FROM well GROUP BY county)")
    shown()
    # The totals take room from the rows, so that no row is hidden behind them.
    box, line = page.page.locator("#other").bounding_box(), bar.bounding_box()
    scroller = page.page.locator("#other .live-scroller").bounding_box()
    assert abs(line["y"] + line["height"] - box["y"] - box["height"]) < 1 and abs(scroller["y"] + scroller["height"] - line["y"]) < 1
    page.page.evaluate("document.querySelector('#other > template[slot=totals]').remove()")
    page.page.evaluate("document.getElementById('other').query = { from: 'well', sectionBy: 'county' }")
    expect(bar).to_be_hidden()
    assert page.page.locator("#other .live-scroller").bounding_box()["height"] == box["height"]
    page.page.evaluate("document.getElementById('other').remove()")


@test
def values_become_text_and_attributes_never_programs(page, demo):
    values = [
        "'<img src=x onerror=alert(1)>' AS markup", "'javascript:alert(1)' AS program", "'https://a.example/' AS address",
        "'alert(1)' AS code", "NULL AS absent", "'color: red' AS css", "'java' || char(9) || 'script:alert(1)' AS tab",
    ]
    page.page.evaluate("seen.violations.length = 0")
    add_list(page, """<template>
      <span id="m" data-text="markup" data-attr="title:markup, onclick:code, style:css, hidden:absent"></span>
      <a id="p" data-attr="href:program">p</a><a id="q" data-attr="href:address">q</a><a id="t" data-attr="href:tab">t</a>
      <iframe id="f" data-attr="srcdoc:markup"></iframe><script id="s" data-text="code"></script>
    </template>""", '{"select": ["id", ' + ", ".join(f'"{value}"' for value in values) + '], "limit": 1}')
    row = page.page.locator(FIRST_ROW)
    expect(row.locator("#m")).to_have_text("<img src=x onerror=alert(1)>")
    assert row.locator("#m").evaluate("element => element.getAttributeNames().sort()") == [
        "data-attr", "data-text", "id", "role", "title"]
    assert row.locator("img").count() == 0
    assert row.locator("#p").get_attribute("href") is None
    assert row.locator("#t").get_attribute("href") is None
    assert row.locator("#q").get_attribute("href") == "https://a.example/"
    assert row.locator("#f").get_attribute("srcdoc") is None
    assert row.locator("#s").text_content() == ""
    assert page.page.evaluate("seen.violations") == []
    page.page.evaluate("document.getElementById('other').remove()")


@test
def a_result_without_rows_says_so(page, demo):
    add_list(page, '<template slot="empty"><b>Nothing here</b></template>', '{"where": "depth < 0"}')
    expect(page.page.locator("#other .live-message")).to_have_text("Nothing here")
    add_list(page, query='{"where": "depth < 0", "sectionBy": "county"}')
    expect(page.page.locator("#other .live-message")).to_have_text("No rows")
    expect(page.page.locator("#other .live-status")).to_have_text("No rows")
    page.page.evaluate("document.getElementById('other').query = { from: 'well', limit: 1 }")
    expect(page.page.locator("#other .live-message")).to_be_hidden()
    page.page.evaluate("document.getElementById('other').remove()")


@test
def what_the_server_refuses_is_told(page, demo):
    with another_page(page) as other:
        other.page.goto(demo.url + "element.html")
        other.is_live()
        other.settle()
        other.page.evaluate("list.query = { from: 'nowhere' }")
        other.until("seen.error.length === 1")
        assert "nowhere" in other.page.evaluate("seen.error[0]")
        expect(other.page.locator(".live-message")).to_be_hidden()
        other.page.evaluate("list.query = { from: 'well', where: 'depth < 10000', orderBy: ['id'] }")
        expect(other.page.locator("#list .live-header")).to_be_hidden()
        other.page.evaluate("""() => {
          const broken = document.createElement("live-list");
          broken.id = "broken";
          broken.setAttribute("query", '{"from": "nowhere"}');
          document.body.append(broken);
        }""")
        expect(other.page.locator("#broken .live-message")).to_contain_text("nowhere")
        other.page.evaluate("document.getElementById('broken').setAttribute('query', '{')")
        expect(other.page.locator("#broken")).to_have_attribute("data-status", "failed")
        other.page.evaluate("""document.getElementById('broken').setAttribute('query', '{"from": "well"}')""")
        expect(other.page.locator("#broken")).to_have_attribute("data-status", "live")
        expect(other.page.locator("#broken .live-message")).to_be_hidden()
        assert isinstance(other, ListPage) and other.errors == [], other.errors
