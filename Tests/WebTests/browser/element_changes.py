"""Changes of visible rows: what moves, what stays, and how smoothly."""
import os
import re
import sqlite3
import threading
import time

from playwright.sync_api import expect

from element_page import agrees_with_database, id_at, insert, name_at
from harness import IN_ORDER, another_page, tests

TESTS, test = tests()

MOVING = """document.getAnimations().filter(({ effect, playState }) => playState === "running"
  && effect.getKeyframes().some(({ transform, opacity }) => transform || opacity)).length"""
# Records animations as they begin.
WATCH = """() => {
  animated = { transform: 0, opacity: 0, backgroundColor: 0 };
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (keyframes, options) {
    for (const property of Object.keys(animated)) {
      if (keyframes.some((frame) => property in frame)) animated[property] += 1;
    }
    return animate.call(this, keyframes, options);
  };
}"""


def ids_in_view(page):
    return page.page.evaluate(
        "rowsInView().map(([offset]) => list.list.at(offset)?.id)")


@test
def what_changes_is_shown(page, demo):
    key = id_at(demo, 3)
    demo.sql(f"UPDATE well SET depth = 12345.6 WHERE id = {key}")
    expect(page.row(3).locator(".depth")).to_have_text("12345.6")
    demo.sql(f"UPDATE well SET name = '!First of all' WHERE id = {key}")
    expect(page.row(0).locator(".name")).to_have_text("!First of all")
    demo.sql(f"DELETE FROM well WHERE id = {key}")
    expect(page.named("!First of all")).to_have_count(0)
    agrees_with_database(page, demo)
    expect(page.page.locator(".live-leaving")).to_have_count(0)


@test
def sections_come_and_go(page, demo):
    insert(demo, "Lonely 1", "Aaa")
    expect(page.row(0).locator(".name")).to_have_text("Lonely 1")
    expect(page.page.get_by_text("Aaa", exact=True)).to_be_visible()
    agrees_with_database(page, demo)
    demo.sql("DELETE FROM well WHERE county = 'Aaa'")
    expect(page.page.get_by_text("Aaa", exact=True)).to_have_count(0)
    agrees_with_database(page, demo)


@test
def the_view_stays_on_its_rows_when_others_come_and_go_above(page, demo):
    page.scroll(0.5)
    rows = agrees_with_database(page, demo)
    offset, name, before = rows[3]
    page.page.evaluate("seen.shifts = 0; kept = document.querySelectorAll('.live-row')[15]")
    demo.sql("INSERT INTO well(name, county, operator, status, depth, county_id, operator_id)"
             " SELECT 'Above ' || id, county, operator, status, depth, county_id, operator_id"
             f" {IN_ORDER} LIMIT 50")
    page.has_all_rows(demo)
    expect(page.row(offset + 50).locator(".name")).to_have_text(name)
    now = next(row for row in agrees_with_database(page, demo) if row[1] == name)
    assert abs(now[2] - before) <= 1, (now, before)
    demo.sql("DELETE FROM well WHERE name LIKE 'Above %'")
    page.has_all_rows(demo)
    expect(page.row(offset).locator(".name")).to_have_text(name)
    now = next(row for row in agrees_with_database(page, demo) if row[1] == name)
    assert abs(now[2] - before) <= 1, (now, before)
    assert page.page.evaluate("kept.isConnected")
    assert page.page.evaluate("seen.shifts") == 0, page.page.evaluate("seen.shifts")


@test
def rows_slide_fade_and_are_coloured(page, demo):
    with another_page(page, viewport={"width": 1000, "height": 700}) as other:
        other.open(demo).settle()
        other.page.evaluate(WATCH)
        first = other.page.evaluate_handle("document.querySelector('.live-row')")
        insert(demo, "!New")
        expect(other.row(0).locator(".name")).to_have_text("!New")
        colours = other.row(0).evaluate("""row => {
          const tint = row.getAnimations().find(({ effect }) => "backgroundColor" in effect.getKeyframes()[0]);
          tint.pause();
          return [0, 0.2, 1].map((part) => {
            tint.currentTime = part * 2199;
            return getComputedStyle(row).backgroundColor;
          });
        }""")
        red = [float(re.findall(r"[\d.]+", colour)[0]) for colour in colours]
        assert red[0] < red[1] < red[2], f"from green to white: {colours}"
        assert other.page.evaluate("row => row.isConnected && list.rowAt(row).offset", first) == 1
        animated = other.page.evaluate("animated")
        assert animated["transform"] >= 15 and animated["opacity"] == 1 and animated["backgroundColor"] == 2, animated
        demo.sql("DELETE FROM well WHERE name = '!New'")
        expect(other.row(0).locator(".name")).to_have_text(name_at(demo, 0))
        expect(other.page.locator(".live-leaving")).to_have_count(0)
        assert other.page.evaluate("animated.opacity") == 2
        other.settle()


@test
def another_query_leads_rows_from_their_places_to_their_new_ones(page, demo):
    with another_page(page, viewport={"width": 1000, "height": 700}) as other:
        other.open(demo).settle()
        few = "county = 'Adams' AND id <= (SELECT id FROM well WHERE county = 'Adams' ORDER BY id LIMIT 1 OFFSET 11)"
        query = lambda order: {
            "from": "well", "select": ["id", "name", "operator", "status", "depth"], "where": few,
            "sectionBy": "county", "orderBy": order}
        other.page.evaluate("query => { list.query = query }", query(["name", "id"]))
        expect(other.scroller).to_have_attribute("aria-rowcount", "13")
        other.settle()
        other.page.evaluate(WATCH)
        other.page.evaluate("""rows = new Map([...document.querySelectorAll('.live-row')]
          .map((row) => [list.rowAt(row).row.id, row]))""")
        other.page.evaluate("query => { list.query = query }", query(["depth DESC", "id"]))
        expect(other.row(0).locator(".name")).to_have_text(
            demo.sql(f"SELECT name FROM well WHERE {few} ORDER BY depth DESC, id LIMIT 1"))
        assert other.page.evaluate("[...rows].every(([id, row]) => row.isConnected && list.rowAt(row).row.id === id)")
        animated = other.page.evaluate("animated")
        assert animated["transform"] >= 8 and animated["opacity"] == 0 and animated["backgroundColor"] == 0, animated
        agrees_with_database(other, demo, f"FROM well WHERE {few} ORDER BY depth DESC, id")
        # Goes from deep in a long list to the beginning of another order.
        other.page.evaluate("query => { list.query = query }", {**query(["name", "id"]), "where": None})
        expect(other.scroller).to_have_attribute(
            "aria-rowcount", demo.sql("SELECT count(*) + count(DISTINCT county) FROM well"))
        other.scroll(0.5)
        agrees_with_database(other, demo)
        other.page.evaluate("query => { list.query = query }", {**query(["depth DESC", "id"]), "where": None})
        order = "FROM well ORDER BY county, depth DESC, id"
        expect(other.row(0).locator(".name")).to_have_text(demo.sql(f"SELECT name {order} LIMIT 1"))
        assert agrees_with_database(other, demo, order)[0][0] == 0
        assert other.errors == [], other.errors


@test
def who_prefers_reduced_motion_sees_colours_only(page, demo):
    with another_page(page, viewport={"width": 1000, "height": 700}, reduced_motion="reduce") as other:
        other.open(demo).settle()
        other.page.evaluate(WATCH)
        insert(demo, "!New")
        expect(other.row(0).locator(".name")).to_have_text("!New")
        assert other.page.evaluate(MOVING) == 0
        other.page.evaluate("list.query = { ...list.query, orderBy: ['depth DESC', 'id'] }")
        expect(other.row(0).locator(".name")).not_to_have_text("!New")
        demo.sql("DELETE FROM well WHERE name = '!New'")
        other.settle()
        animated = other.page.evaluate("animated")
        assert animated["transform"] == 0 and animated["opacity"] == 0 and animated["backgroundColor"] > 0, animated


@test
def a_thousand_changes_at_once_are_simply_there(page, demo):
    demo.sql("CREATE TABLE kept AS SELECT * FROM well WHERE county = 'Adams'; UPDATE well SET depth = depth + 1"
             " WHERE county = 'Adams'; DELETE FROM well WHERE county = 'Adams' AND id % 3 = 0;"
             " UPDATE well SET name = '!' || name WHERE county = 'Adams' AND id % 3 = 1")
    expect(page.row(0).locator(".name")).to_have_text(name_at(demo, 0))
    agrees_with_database(page, demo)
    demo.sql("DELETE FROM well WHERE county = 'Adams'; INSERT INTO well SELECT * FROM kept; DROP TABLE kept")
    expect(page.row(0).locator(".name")).to_have_text(name_at(demo, 0))
    agrees_with_database(page, demo)


def writing(demo, per_second, stop, counts):
    """Transactions that each change a row near the top: its place, its contents, or its existence."""
    database = sqlite3.connect(demo.database, timeout=5, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    keys = [key for (key,) in database.execute(f"SELECT id {IN_ORDER} LIMIT 150")]
    start = time.monotonic()
    # Deleted by key: looking for the oldest by its name reads the whole table, which takes too long.
    added = []
    while not stop.is_set():
        number = counts[0]
        key = keys[number * 37 % len(keys)]
        if number % 3 == 0:
            database.execute("UPDATE well SET name = char(65 + ? % 26) || substr(name, 2) WHERE id = ?", (number * 7, key))
        elif number % 3 == 1:
            database.execute("UPDATE well SET depth = depth + 1 WHERE id = ?", (key,))
        elif number % 2:
            added.append(database.execute(
                "INSERT INTO well(name, county, operator, status, depth, county_id, operator_id)"
                " VALUES (char(65 + ? % 26) || ' busy', 'Adams', 'Nobody', 'Drilling', 1, 1, 1)", (number,)).lastrowid)
        elif added:
            database.execute("DELETE FROM well WHERE id = ?", (added.pop(0),))
        counts[0] += 1
        time.sleep(max(0, start + counts[0] / per_second - time.monotonic()))
    database.close()


def scrolling_beside_a_writer(page, demo):
    """Frames a second without writes, and with writes."""
    page.scroll(0)
    page.settle()
    idle = page.page.evaluate("scrolling(2)")
    page.scroll(0)
    page.page.evaluate("patches = 0")
    stop, counts = threading.Event(), [0]
    thread = threading.Thread(target=writing, args=(demo, 200, stop, counts))
    thread.start()
    start = time.monotonic()
    try:
        busy = page.page.evaluate("scrolling(6)")
    finally:
        seconds = time.monotonic() - start
        stop.set()
        thread.join()
    animations = page.page.evaluate("document.getAnimations().length")
    patches = page.page.evaluate("patches") / seconds
    print(f"        {counts[0] / seconds:.0f} changes in {patches:.0f} patches a second: {busy['perSecond']:.1f} frames a"
          f" second (idle {idle['perSecond']:.1f}), 99 of 100 within {busy['late']:.0f} ms, all within"
          f" {busy['longest']:.0f} ms, {animations} animations, load {os.getloadavg()[0]:.1f}")
    assert counts[0] / seconds > 150, "the writer did not keep up"
    assert animations < 400
    return idle["perSecond"], busy["perSecond"]


@test
def it_scrolls_smoothly_while_two_hundred_rows_change_a_second(page, demo):
    page.page.evaluate("list.list.addEventListener('change', ({ kind }) => { globalThis.patches += kind === 'patch' })")
    # Other work of the machine makes frames late, so the best of some attempts counts.
    attempts = []
    while len(attempts) < 4 and max((busy for _, busy in attempts), default=0) < 50:
        attempts.append(scrolling_beside_a_writer(page, demo))
    page.settle()
    page.scroll(0)
    agrees_with_database(page, demo)
    demo.sql("DELETE FROM well WHERE name LIKE '_ busy'")
    # On a busy machine, the result says nothing about the list.
    if os.environ.get("FRESHET_LONG"):
        assert max(busy for _, busy in attempts) >= 50 or max(idle for idle, _ in attempts) < 55, attempts
