"""Connections that break; elements that are moved and removed; shared connections."""
from playwright.sync_api import expect

from element_page import agrees_with_database, insert, name_at
from harness import IN_ORDER, another_page, eventually, tests

TESTS, test = tests()


@test
def an_element_that_is_moved_goes_on_and_one_that_is_removed_ends(page, demo):
    with another_page(page, viewport={"width": 1000, "height": 700}) as other:
        sockets = []
        other.page.on("websocket", lambda socket: sockets.append(socket))
        other.open(demo)
        other.scroll(0.5)
        before = agrees_with_database(other, demo)
        other.page.evaluate("document.body.insertBefore(list, document.getElementById('before'))")
        assert agrees_with_database(other, demo) == before
        assert len(sockets) == 1 and not sockets[0].is_closed()
        other.page.evaluate("list.remove()")
        eventually(sockets[0].is_closed, wait=other.wait)
        assert other.page.evaluate("[list.status, list.list]") == ["closed", None]
        other.page.evaluate("document.body.prepend(list)")
        other.is_live()
        agrees_with_database(other, demo)
        assert len(sockets) == 2 and not sockets[1].is_closed()
        assert other.page.evaluate("seen.status") == [
            "connecting", "loading", "live", "closed", "connecting", "loading", "live"]
        assert other.errors == [], other.errors


@test
def what_happens_while_it_is_hidden_is_there_afterwards(page, demo):
    page.scroll(0.5)
    rows = agrees_with_database(page, demo)
    page.page.evaluate("list.hidden = true")
    page.frames(2)
    insert(demo, "!Unseen")
    page.catch_up()
    page.page.evaluate("list.hidden = false")
    page.frames(2)
    now = agrees_with_database(page, demo)
    assert now == [[offset + 1, name, y] for offset, name, y in rows], (now[0], rows[0])
    demo.sql("DELETE FROM well WHERE name = '!Unseen'")


@test
def lists_share_a_connection(page, demo):
    with another_page(page) as other:
        sockets = []
        other.page.on("websocket", lambda socket: sockets.append(socket))
        other.page.goto(demo.url + "element.html")
        other.is_live()
        other.page.evaluate("""async () => {
          const { connect } = await import("./freshet.js");
          shared = connect();
          list.client = shared;
          second = document.createElement("live-list");
          second.client = shared;
          second.query = { from: "county", orderBy: ["name"] };
          document.body.append(second);
        }""")
        expect(other.page.locator("live-list").last).to_have_attribute("data-status", "live")
        other.is_live()
        eventually(lambda: [socket.is_closed() for socket in sockets], lambda closed: closed == [True, False], wait=other.wait)
        other.page.evaluate("list.remove()")
        # The shared connection is still open, although the list is gone.
        other.page.evaluate("shared.ping()")
        assert not sockets[1].is_closed()
        expect(other.page.locator("live-list")).to_have_attribute("data-status", "live")
        assert other.errors == [], other.errors


@test
def it_lives_in_a_shadow_tree_and_is_copied(page, demo):
    page.page.evaluate("""() => {
      const host = document.createElement("div");
      host.id = "host";
      document.body.append(host);
      host.attachShadow({ mode: "open" }).append(list.cloneNode(true));
    }""")
    inside = page.page.locator("#host live-list")
    expect(inside.locator(".live-scroller")).to_have_count(1)
    expect(inside.get_by_text(name_at(demo, 0), exact=True)).to_be_visible()
    assert inside.locator(".live-row").first.evaluate("row => getComputedStyle(row).position") == "absolute"
    page.page.evaluate("document.getElementById('host').remove()")


@test
def properties_set_before_the_element_is_defined_count(page, demo):
    with another_page(page) as other:
        # Modules run after the document has been read.
        other.page.add_init_script("""new MutationObserver((_, observer) => {
          const list = document.getElementById("list");
          if (!list || customElements.get("live-list")) return;
          list.query = { from: "county", orderBy: ["name"] };
          observer.disconnect();
        }).observe(document, { childList: true, subtree: true })""")
        other.page.goto(demo.url + "element.html")
        other.is_live()
        expect(other.scroller).to_have_attribute("aria-rowcount", demo.sql("SELECT count(*) FROM county"))


@test
def it_recovers_when_the_server_is_killed_and_comes_back(page, demo):
    page.scroll(0.4)
    rows = page.settle()
    page.row(rows[5][0]).locator(".name").click()
    name = page.focused()
    demo.kill()
    expect(page.page.locator("#list")).to_have_attribute("data-status", "reconnecting")
    expect(page.page.locator(".live-status")).to_have_text("Reconnecting")
    demo.sql(f"UPDATE well SET depth = 54.3 WHERE id = (SELECT id {IN_ORDER} LIMIT 1 OFFSET {rows[7][0]})")
    insert(demo, "!Meanwhile")
    page.scroll(0.4)
    page.press("ArrowDown", "ArrowUp")
    demo.start()
    page.is_live()
    expect(page.row(rows[7][0] + 1).locator(".depth")).to_have_text("54.3")
    now = agrees_with_database(page, demo)
    assert [now[0][1], abs(now[0][2] - rows[0][2]) <= 1] == [rows[0][1], True], (now[0], rows[0])
    assert page.focused() == name
    page.scroll(0.9)
    agrees_with_database(page, demo)
    demo.sql("DELETE FROM well WHERE name = '!Meanwhile'")
    # The browser itself reports attempts to connect that fail.
    assert all("ERR_CONNECTION_REFUSED" in error for error in page.errors), page.errors


@test
def nothing_violated_the_content_security_policy(page, demo):
    assert page.page.evaluate("seen.violations") == []
    assert page.page.evaluate("document.querySelectorAll('style').length") == 0
