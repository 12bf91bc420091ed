"""Tests of the wells: one pane and two, and the actions in them."""
import json
import re
import time

from playwright.sync_api import expect

from demo_page import agrees
from harness import IN_ORDER, PATIENCE, another_page, tests

TESTS, test = tests()


@test
def it_shows_all_wells_by_county(page, demo):
    rows = agrees(page, demo)
    assert rows[0][0] == 0
    total, counties = (int(demo.sql(f"SELECT {what} FROM well")) for what in ("count(*)", "count(DISTINCT county)"))
    expect(page.pane().locator("output")).to_have_text(f"{total:,} in {counties} sections")


@test
def sort_and_sections_are_switched(page, demo):
    page.field("sections").select_option("status")
    page.field("sort").select_option("Depth, deepest first")
    agrees(page, demo, "FROM well ORDER BY status, depth DESC, id")
    page.field("sections").select_option("year")
    agrees(page, demo, "FROM well ORDER BY substr(spud_date, 1, 4) DESC, depth DESC, id")
    page.field("sections").select_option("none")
    agrees(page, demo, "FROM well ORDER BY depth DESC, id")
    expect(page.pane().locator("output")).to_contain_text("in 1 section")


@test
def it_filters_as_one_types(page, demo):
    page.field("filter").press_sequentially("federal 1", delay=20)
    condition = "FROM well WHERE name LIKE '%federal 1%'"
    count = int(demo.sql(f"SELECT count(*) {condition}"))
    expect(page.pane().locator("output")).to_contain_text(f"{count:,} in")
    agrees(page, demo, f"{condition} ORDER BY county, name, id")
    page.field("filter").fill("100%_")
    expect(page.pane().get_by_text("No well has such a name.")).to_be_visible()


@test
def a_well_is_changed_where_it_stands(page, demo):
    _, name = page.rows()[4]
    page.row(name).click()
    editor = page.pane().locator(".well-editor")
    expect(editor.locator("[name=name]")).to_be_focused()
    editor.locator("[name=name]").fill("!Renamed here")
    editor.locator("[name=depth]").fill("4321.5")
    editor.locator("[name=depth]").press("Enter")
    expect(editor).to_have_count(0)
    expect(page.row("!Renamed here").locator(".feet")).to_have_text("4,321.5")
    assert agrees(page, demo)[0][1] == "!Renamed here"
    expect(page.page.locator("#latency-kind")).to_have_text("Write to screen")
    expect(page.row("!Renamed here")).to_be_focused()


@test
def keys_do_the_same(page, demo):
    page.pane().locator(".live-scroller").focus()
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    expect(page.pane().locator(".well-editor [name=name]")).to_be_focused()
    page.page.keyboard.type("Never")
    before = demo.sql(f"SELECT * {IN_ORDER} LIMIT 5")
    page.page.keyboard.press("Escape")
    expect(page.pane().locator(".well-editor")).to_have_count(0)
    assert demo.sql(f"SELECT * {IN_ORDER} LIMIT 5") == before


@test
def a_well_is_deleted(page, demo):
    _, name = page.rows()[2]
    key = demo.sql(f"SELECT id {IN_ORDER} LIMIT 1 OFFSET 2")
    page.row(name).click()
    page.pane().locator(".well-editor .danger").click()
    expect(page.pane().locator(".well-editor")).to_have_count(0)
    assert demo.sql(f"SELECT count(*) FROM well WHERE id = {key}") == "0"
    agrees(page, demo)


@test
def a_well_is_added_and_brought_into_view(page, demo):
    page.field("sort").select_option("Depth, deepest first")
    page.page.locator("#add").click()
    name = page.page.locator(".live-row .name", has_text="New well")
    expect(name).to_be_in_viewport()
    assert demo.sql(f"SELECT count(*) FROM well WHERE name = '{name.inner_text()}'") == "1"
    agrees(page, demo, "FROM well ORDER BY county, depth DESC, id")


@test
def what_cannot_be_written_is_said(page, demo):
    _, name = page.rows()[1]
    page.row(name).click()
    demo.sql("CREATE TRIGGER refuse BEFORE UPDATE ON well BEGIN SELECT raise(ABORT, 'not today'); END")
    page.pane().locator(".well-editor .primary").click()
    expect(page.page.locator("#notice")).to_contain_text("not today")
    demo.sql("DROP TRIGGER refuse")
    page.pane().locator(".well-editor .primary").click()
    # After a change of the schema, the server compiles and runs all queries of the last minute again, which takes a
    # moment.
    expect(page.page.locator("#notice")).to_be_hidden()


@test
def a_burst_changes_a_thousand_rows_at_once(page, demo):
    demo.sql("CREATE TABLE old AS SELECT id, depth FROM well")
    page.page.locator("#burst").click()
    deadline = time.monotonic() + PATIENCE
    changed = 0
    while not changed and time.monotonic() < deadline:
        changed = int(demo.sql("SELECT count(*) FROM well JOIN old USING (id) WHERE well.depth <> old.depth"))
    assert 950 <= changed <= 1000, changed
    agrees(page, demo)
    demo.sql("DROP TABLE old")


@test
def two_panes_agree(page, demo):
    page.page.locator("#split").click()
    expect(page.page.locator(".pane")).to_have_count(2)
    page.field("sections", 1).select_option("none")
    page.field("sort", 1).select_option("Operator")
    page.page.locator(".pane").nth(1).locator(".live-row[data-state=shown]").first.wait_for()
    _, name = page.rows()[0]
    operator = page.row(name).locator(".operator").first.text_content()
    page.row(name).click()
    page.pane().locator(".well-editor [name=name]").fill("!!Seen twice")
    page.pane().locator(".well-editor .primary").click()
    expect(page.row("!!Seen twice")).to_be_visible()
    page.page.evaluate("""async () => {
      const [, list] = document.querySelectorAll('#panes live-list');
      await list.scrollToKey(document.querySelector('#panes live-list').list.at(0).id);
    }""")
    expect(page.row("!!Seen twice", 1)).to_be_in_viewport()
    expect(page.row("!!Seen twice", 1).locator(".operator")).to_have_text(operator)
    demo.sql("UPDATE well SET depth = 77.7 WHERE name = '!!Seen twice'")
    for pane in (0, 1):
        expect(page.row("!!Seen twice", pane).locator(".feet")).to_have_text("77.7")


@test
def what_the_shell_changes_appears(page, demo):
    key = demo.sql(f"SELECT id {IN_ORDER} LIMIT 1 OFFSET 3")
    demo.sql(f"UPDATE well SET name = '!<img src=x onerror=alert(1)>' WHERE id = {key}")
    expect(page.row("!<img src=x onerror=alert(1)>")).to_be_visible()
    demo.sql(f"DELETE FROM well WHERE id = {key}")
    agrees(page, demo)


@test
def who_was_away_goes_on_with_a_patch(page, demo):
    sent, answers, routes = [], [], []

    def route(socket):
        server = socket.connect_to_server()
        routes.append((socket, server))
        socket.on_message(lambda text: (sent.append(json.loads(text)), server.send(text)))
        server.on_message(lambda text: (answers.append(json.loads(text)), socket.send(text)))

    with another_page(page) as other:
        other.page.route_web_socket(re.compile("/v1/live$"), route)
        other.open(demo)
        other.rows()
        for change in ("", f"UPDATE well SET depth = 88.8 WHERE id = (SELECT id {IN_ORDER} LIMIT 1)"):
            del sent[:], answers[:]
            routes[-1][1].close()
            routes[-1][0].close(code=1012)
            expect(other.page.locator("#state")).to_have_attribute("data-state", "reconnecting")
            if change:
                demo.sql(change)
            other.is_live()
            agrees(other, demo)
            assert "since" in [message for message in sent if message["type"] == "subscribe"][0]
            kinds = [message["type"] for message in answers if message["type"] in ("snapshot", "patch", "error")]
            assert kinds[0] == "patch", kinds
        expect(other.pane().locator(".feet").first).to_have_text("88.8")


@test
def a_burst_says_what_it_took(page, demo):
    page.rows()
    page.page.locator("#burst").click()
    said = page.page.locator("#toast")
    expect(said).to_have_text(re.compile(r"^1,000 rows changed, 1 patch, [\d,]+ (kB|bytes?), [\d,]+ ms$"))
    page.page.locator("#split").click()
    page.page.locator(".pane").nth(1).locator(".live-row[data-state=shown]").first.wait_for()
    page.rows()
    page.page.locator("#burst").click()
    expect(said).to_have_text(re.compile(r"^1,000 rows changed, 2 patches, "))


@test
def bursts_wear_nothing_out(page, demo):
    shape = "SELECT count(*), round(sum(depth)), sum(status = 'Producing'), max(depth) FROM well"
    before = demo.sql(shape)
    for _ in range(3):
        page.rows()
        page.page.evaluate("document.querySelector('#toast').hidden = true")
        page.page.locator("#burst").click()
        expect(page.page.locator("#toast")).to_contain_text("1,000 rows changed")
    assert demo.sql(shape) == before


@test
def a_deletion_is_taken_back(page, demo):
    _, name = page.rows()[3]
    row = f"SELECT * {IN_ORDER} LIMIT 1 OFFSET 3"
    before = demo.sql(row)
    page.row(name).first.click()
    page.pane().locator(".well-editor .danger").click()
    expect(page.page.locator("#toast")).to_contain_text(f"“{name}” deleted")
    assert demo.sql(row) != before
    page.page.locator("#toast button").click()
    expect(page.row(name).first).to_be_visible()
    assert demo.sql(row) == before
    agrees(page, demo)


@test
def a_rename_offers_undo_and_ctrl_z_takes_back_what_was_before(page, demo):
    _, first = page.rows()[2]
    _, second = page.rows()[3]
    before = demo.sql(f"SELECT * {IN_ORDER} LIMIT 4")
    page.row(second).first.click()
    page.pane().locator(".well-editor [name=depth]").fill("77.7")
    page.page.keyboard.press("Enter")
    expect(page.page.locator("#toast")).to_contain_text(f"“{second}” changed.")
    page.row(first).first.click()
    page.pane().locator(".well-editor [name=name]").fill("Zzz mine")
    page.page.keyboard.press("Enter")
    toast = page.page.locator("#toast")
    expect(toast).to_contain_text(f"“{first}” is now “Zzz mine”.")
    box, panes = toast.bounding_box(), page.page.locator("#panes").bounding_box()
    assert box["y"] >= panes["y"] + panes["height"], "it covers no row"
    toast.get_by_role("button", name="Undo").click()
    expect(toast).to_contain_text("Undone")
    expect(toast).to_be_hidden()
    page.page.keyboard.press("Control+z")
    expect(toast).to_contain_text(f"Undone: “{second}” changed.")
    assert demo.sql(f"SELECT * {IN_ORDER} LIMIT 4") == before


@test
def a_renamed_row_is_said_to_have_gone_and_can_be_followed(page, demo):
    # The message about the user's own action stays for a while, so it is hidden here.
    page.page.evaluate("document.querySelector('#toast').hidden = true")
    _, name = page.rows()[5]
    key = demo.sql(f"SELECT id {IN_ORDER} LIMIT 1 OFFSET 5")
    demo.sql(f"UPDATE well SET name = 'Zzz renamed' WHERE id = {key}")
    said = page.page.locator("#toast")
    expect(said).to_contain_text(f"“{name}” is now “Zzz renamed”,")
    expect(said).to_contain_text("rows down, in Adams")
    said.get_by_text("Follow").click()
    expect(page.row("Zzz renamed")).to_be_in_viewport()
    expect(page.row("Zzz renamed")).to_be_focused()
    assert page.row("Zzz renamed").evaluate("row => row.getAnimations().length") > 0, "it is marked"
    demo.sql(f"UPDATE well SET name = '{name}' WHERE id = {key}")


@test
def sort_sections_and_filter_survive_a_reload(page, demo):
    with another_page(page) as other:
        other.open(demo)
        other.field("sort").select_option("deepest")
        other.field("sections").select_option("operator")
        other.field("filter").fill("ridge")
        other.page.locator("#split").click()
        other.field("sections", 1).select_option("year")
        other.page.reload()
        other.is_live()
        expect(other.page.locator(".pane")).to_have_count(2)
        expect(other.field("sort")).to_have_value("deepest")
        expect(other.field("filter")).to_have_value("ridge")
        expect(other.field("sections", 1)).to_have_value("year")
        agrees(other, demo, "FROM well WHERE name LIKE '%ridge%' ORDER BY operator, depth DESC, id")


@test
def scrolling_survives_another_tab(page, demo):
    page.page.evaluate("document.querySelector('#panes live-list').scrollToOffset(5000)")
    rows = page.rows()
    assert rows[0][0] > 4000
    page.view("banks")
    page.rows("#bank-list")
    page.view("wells")
    assert page.rows()[0] == rows[0]


@test
def depth_bars_fit_the_data(page, demo):
    deepest = demo.sql("SELECT id FROM well ORDER BY depth DESC LIMIT 1")
    page.field("sort").select_option("deepest")
    page.field("sections").select_option("none")
    agrees(page, demo, "FROM well ORDER BY depth DESC, id")
    scale = "bar => new DOMMatrix(getComputedStyle(bar).transform).a"
    bar = page.pane().locator(".live-row:not(.live-leaving)[aria-rowindex='1'] .depth-bar")
    assert bar.evaluate(scale) == 1
    depth = demo.sql(f"SELECT depth FROM well WHERE id = {deepest}")
    demo.sql(f"UPDATE well SET depth = depth * 2 WHERE id = {deepest}")
    expect(page.pane().locator(".live-row:not(.live-leaving)[aria-rowindex='1'] .feet")).to_have_text(f"{float(depth) * 2:,.1f}")
    assert bar.evaluate(scale) == 1
    assert 0.4 < page.pane().locator(".live-row:not(.live-leaving)[aria-rowindex='2'] .depth-bar").evaluate(scale) < 0.6
    demo.sql(f"UPDATE well SET depth = {depth} WHERE id = {deepest}")
