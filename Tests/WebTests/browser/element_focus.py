"""Keys, clicks, and the focus while rows are inserted, deleted and moved."""
from playwright.sync_api import expect

from element_page import agrees_with_database, id_at, insert, name_at
from harness import IN_ORDER, ROWS, tests

TESTS, test = tests()


def focus_row(page, offset):
    """Clicks the row at an offset, next to its controls."""
    page.row(offset).locator(".name").click()
    page.page.evaluate("seen.activate.length = 0")


@test
def the_list_is_one_stop_for_tab(page, demo):
    agrees_with_database(page, demo)
    page.page.locator("#before").focus()
    stops = []
    for _ in range(5):
        page.press("Tab")
        stops.append(page.focused())
    assert stops == [name_at(demo, 0), "edit", "note", "live-index", "after"], stops
    stops = []
    for _ in range(3):
        page.press("Shift+Tab")
        stops.append(page.focused())
    assert stops == ["live-index", name_at(demo, 0), "before"], stops


@test
def arrows_lead_from_row_to_row(page, demo):
    focus_row(page, 3)
    page.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert page.focused() == name_at(demo, 4)
    expect(page.row(4)).to_have_attribute("aria-selected", "true")
    expect(page.page.locator("#list [aria-selected]")).to_have_count(1)
    for _ in range(30):
        page.page.keyboard.press("ArrowDown")
    page.settle()
    assert page.focused() == name_at(demo, 34)
    expect(page.row(34)).to_be_in_viewport(ratio=1)
    page.press(*["ArrowUp"] * 30)
    box = page.row(4).bounding_box()
    assert box["y"] >= page.scroller.bounding_box()["y"] + 33, "below the header"


@test
def pages_sections_and_ends_have_keys(page, demo):
    count = int(demo.sql("SELECT count(*) FROM well GROUP BY county LIMIT 1"))
    focus_row(page, 0)
    for keys, offset in [
        (["PageDown"], 16), (["PageDown", "PageUp"], 16), (["]"], count), (["ArrowDown", "["], count), (["["], 0),
        (["Control+ArrowDown"], count), (["Control+ArrowUp"], 0), (["End"], ROWS - 1), (["Home"], 0),
    ]:
        page.press(*keys)
        page.settle()
        assert page.focused() == name_at(demo, offset), (keys, page.focused())
        expect(page.row(offset)).to_be_in_viewport(ratio=1)


@test
def a_row_that_is_awaited_has_the_focus_already(page, demo):
    focus_row(page, 0)
    page.press("End")
    page.page.evaluate("kept = document.activeElement")
    page.settle()
    assert page.page.evaluate("document.activeElement === kept && kept.dataset.state === 'shown'")


@test
def letters_lead_to_sections(page, demo):
    focus_row(page, 0)
    page.press("m")
    page.settle()
    first = int(demo.sql("SELECT count(*) FROM well WHERE county < 'M'"))
    assert page.focused() == name_at(demo, first), page.focused()
    page.page.wait_for_timeout(900)
    name = demo.sql("SELECT DISTINCT county FROM well WHERE county LIKE 'L%' ORDER BY 1 DESC LIMIT 1")
    page.page.keyboard.type(name[:5].lower())
    page.settle()
    offset = int(demo.sql(f"SELECT count(*) FROM well WHERE county < (SELECT min(county) FROM well"
                          f" WHERE county LIKE '{name[:5]}%')"))
    assert page.focused() == name_at(demo, offset), page.focused()


@test
def enter_and_clicks_activate(page, demo):
    focus_row(page, 2)
    page.press("ArrowDown", "Enter")
    page.row(5).locator(".status").click()
    events = page.page.evaluate("seen.activate")
    assert [event["offset"] for event in events] == [3, 5], events
    assert events[0]["row"]["name"] == name_at(demo, 3) and events[0]["path"] == [0, 3], events
    assert events[0]["row"]["id"] == int(id_at(demo, 3))
    page.row(6).locator(".edit").click()
    page.press("Enter")
    page.row(7).locator(".note").click()
    page.page.keyboard.type("m ]")
    assert len(page.page.evaluate("seen.activate")) == 2, "controls are not the row"
    expect(page.row(7).locator(".note")).to_have_value("m ]")
    expect(page.row(7)).to_have_attribute("aria-selected", "true")
    page.row(7).locator(".note").fill("")


@test
def escape_leads_out_of_controls_and_rows(page, demo):
    page.row(3).locator(".note").click()
    page.press("Escape")
    assert page.focused() == name_at(demo, 3)
    page.press("Escape")
    assert page.focused() == "live-scroller"
    page.press("Tab")
    assert page.focused() == "live-index"
    page.press("Shift+Tab")
    assert page.focused() == name_at(demo, 3)
    page.press("Escape", "ArrowDown")
    assert page.focused() == name_at(demo, 4)


@test
def the_focus_stays_on_its_row_when_others_come_above(page, demo):
    page.page.evaluate("list.scrollToOffset(300)")
    page.settle()
    focus_row(page, 305)
    name = page.focused()
    insert(demo, "!Above")
    expect(page.named(name)).to_have_attribute("aria-rowindex", str(306 + 1 + int(demo.sql(
        f"SELECT count(DISTINCT county) FROM (SELECT county {IN_ORDER} LIMIT 307)"))))
    assert page.focused() == name
    page.press("ArrowDown")
    page.settle()
    assert page.focused() == name_at(demo, 307), page.focused()
    demo.sql("DELETE FROM well WHERE name = '!Above'")
    page.has_all_rows(demo)
    page.settle()
    assert page.page.evaluate("list.activeRow.offset") == 306


@test
def the_focus_goes_where_the_row_goes(page, demo):
    focus_row(page, 5)
    key, name = id_at(demo, 5), name_at(demo, 5)
    demo.sql(f"UPDATE well SET name = '!Moved' WHERE id = {key}")
    expect(page.row(0).locator(".name")).to_have_text("!Moved")
    assert page.focused() == "!Moved"
    county = demo.sql("SELECT max(county) FROM well")
    page.row(0).locator(".note").click()
    page.page.keyboard.type("draft")
    page.press("ArrowLeft", "ArrowLeft")
    # The row moves to a section out of view, beyond the held rows.
    demo.sql(f"UPDATE well SET county = '{county}' WHERE id = {key}")
    expect(page.row(0).locator(".name")).not_to_have_text("!Moved")
    page.page.keyboard.type("-")
    assert page.page.evaluate("[document.activeElement.value, document.activeElement.selectionStart]") == ["dra-ft", 4]
    page.press("Escape", "ArrowUp")
    page.settle()
    offset = int(demo.sql(f"SELECT count(*) FROM well WHERE (county, name) < ('{county}', '!Moved')"))
    assert page.focused() == name_at(demo, offset - 1), page.focused()
    demo.sql(f"UPDATE well SET name = '{name}', county = 'Adams' WHERE id = {key}")
    expect(page.named("!Moved")).to_have_count(0)


def move_what_is_typed_into(page, demo):
    last = int(demo.sql("SELECT count(*) FROM well GROUP BY county LIMIT 1")) - 1
    page.page.evaluate(f"list.scrollToOffset({last - 3})")
    page.settle()
    key, name = id_at(demo, last), name_at(demo, last)
    second = demo.sql("SELECT DISTINCT county FROM well ORDER BY 1 LIMIT 1 OFFSET 1")
    page.row(last).locator(".note").click()
    page.page.keyboard.type("kept")
    page.page.evaluate("kept = document.activeElement")
    demo.sql(f"UPDATE well SET county = '{second}', name = '!{name}' WHERE id = {key}")
    expect(page.named(f"!{name}")).to_be_visible()
    page.settle()
    assert page.page.evaluate("document.activeElement === kept && kept.value === 'kept'")
    assert page.page.evaluate("kept.closest('.live-section').querySelector('.live-name').textContent") == second
    demo.sql(f"UPDATE well SET county = 'Adams', name = '{name}' WHERE id = {key}")
    expect(page.named(f"!{name}")).to_have_count(0)
    assert page.page.evaluate("document.activeElement === kept && kept.value === 'kept'")
    page.row(last).locator(".note").fill("")


@test
def what_is_typed_stays_when_its_row_moves_to_another_section(page, demo):
    move_what_is_typed_into(page, demo)


@test
def also_where_the_browser_cannot_move_elements_at_once(page, demo):
    page.page.evaluate("() => { moveBefore = Element.prototype.moveBefore; delete Element.prototype.moveBefore }")
    move_what_is_typed_into(page, demo)
    page.page.evaluate("() => { Element.prototype.moveBefore = moveBefore }")


@test
def the_focus_survives_scrolling_away(page, demo):
    page.row(2).locator(".note").click()
    page.page.keyboard.type("here")
    page.page.evaluate("kept = document.activeElement")
    page.scroll(0.8)
    agrees_with_database(page, demo)
    assert page.page.evaluate("document.activeElement === kept")
    insert(demo, "!First")
    page.catch_up()
    demo.sql("DELETE FROM well WHERE name = '!First'")
    page.catch_up()
    assert page.page.evaluate("document.activeElement === kept")
    page.scroll(0)
    agrees_with_database(page, demo)
    assert page.page.evaluate("document.activeElement === kept && kept.isConnected")
    expect(page.row(2).locator(".note")).to_have_value("here")
    page.press("Escape")


@test
def the_next_row_has_the_focus_when_its_row_is_deleted(page, demo):
    names = [name_at(demo, offset) for offset in range(8)]
    focus_row(page, 4)
    saved = demo.sql(f"SELECT id FROM well WHERE id = {id_at(demo, 4)}")
    demo.sql(f"CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM well WHERE 0;"
             f"INSERT INTO kept SELECT * FROM well WHERE id = {saved}; DELETE FROM well WHERE id = {saved}")
    expect(page.row(4).locator(".name")).to_have_text(names[5])
    assert page.focused() == names[5]
    expect(page.row(4)).to_have_attribute("aria-selected", "true")
    page.press("Shift+Tab")
    assert page.focused() == "before"
    page.press("Tab")
    assert page.focused() == names[5]
    demo.sql("INSERT INTO well SELECT * FROM kept; DROP TABLE kept")
    expect(page.row(4).locator(".name")).to_have_text(names[4])
    assert page.focused() == names[5]


@test
def the_row_before_has_the_focus_when_the_last_one_is_deleted(page, demo):
    insert(demo, "Zzz last", demo.sql("SELECT max(county) FROM well"))
    page.has_all_rows(demo)
    focus_row(page, 0)
    page.press("End")
    page.settle()
    assert page.focused() == "Zzz last"
    demo.sql("DELETE FROM well WHERE name = 'Zzz last'")
    expect(page.named("Zzz last")).to_have_count(0)
    page.settle()
    assert page.focused() == name_at(demo, ROWS - 1)


@test
def names_and_roles_are_right(page, demo):
    focus_row(page, 1)
    grid = page.page.get_by_role("grid", name="Wells by county")
    page.has_all_rows(demo)
    county, count = demo.sql("SELECT county, count(*) FROM well GROUP BY county LIMIT 1").split("|")
    count = f"{int(count):,}"
    group = grid.get_by_role("rowgroup", name=f"{county} {count}")
    expect(group.get_by_role("rowheader")).to_have_text(f"{county}{count}")
    rows = group.get_by_role("row")
    expect(rows.nth(0)).to_have_attribute("aria-rowindex", "1")
    expect(rows.nth(1)).to_have_attribute("aria-rowindex", "2")
    expect(rows.nth(1).get_by_role("gridcell")).to_have_count(4)
    expect(rows.nth(1).get_by_role("gridcell").first).to_have_text(name_at(demo, 0))
    expect(grid.get_by_role("row", selected=True)).to_have_count(1)
    cdp = page.page.context.new_cdp_session(page.page)
    nodes = cdp.send("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"] for node in nodes if not node.get("ignored")}
    assert {"grid", "rowgroup", "row", "rowheader", "gridcell", "slider", "status"} <= roles, roles
    expect(page.page.locator(".live-status")).to_have_text(f"{ROWS:,} rows")
