#!/usr/bin/env python3
"""The client in a real browser against a real server: another process commits at random, and the lists' rows are
compared with what SQLite selects. Also React, with the hook.

FRESHET_SEED names the seed. The last line is "N passed, N failed".
"""
import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import expect

from harness import PATIENCE, ROOT, Demo, Page, Server, another_origin, chromium, eventually, public_with, run, tests

TESTS, test = tests()
PAGES = ROOT / "Tests" / "WebTests" / "pages"
REACT = ["/usr/share/nodejs/react/umd/react.development.js", "/usr/share/nodejs/react-dom/umd/react-dom.development.js"]
SEED = int(os.environ.get("FRESHET_SEED", "0")) or random.randrange(1, 1 << 31)

# Queries, each with a SELECT of the same rows in the same order.
QUERIES = [
    ({"from": "well", "select": ["name", "depth"], "sectionBy": "county", "orderBy": ["name"]},
     "SELECT id, name, depth FROM well ORDER BY county, name, id"),
    ({"from": "well", "select": ["name", "status"], "where": "depth > 9000", "orderBy": ["depth DESC"], "limit": 300},
     "SELECT id, name, status FROM well WHERE depth > 9000 ORDER BY depth DESC, id LIMIT 300"),
    ({"from": "bank JOIN closing ON closing.bank_id = bank.id", "select": ["name", "closed"], "sectionBy": "state", "orderBy": ["closed"]},
     "SELECT bank.id, name, closed FROM bank JOIN closing ON closing.bank_id = bank.id ORDER BY state, closed, bank.id"),
    ({"from": "well", "select": ["county", "count(*) AS wells", "max(depth) AS deepest"], "groupBy": ["county"], "orderBy": ["wells"]},
     "SELECT county, count(*) AS wells, max(depth) AS deepest FROM well GROUP BY county ORDER BY wells, county"),
]
WINDOWS = [None, {"offset": 0, "limit": 30}, {"offset": 120, "limit": 50}]


def commit(numbers, demo):
    """Runs a few statements in one transaction, by the shell."""
    statements = ["BEGIN"]
    for _ in range(numbers.choice([1, 1, 1, 3, 12])):
        key = f"(SELECT id FROM well ORDER BY county, name LIMIT 1 OFFSET {numbers.randrange(400)})"
        statements.append(numbers.choice([
            f"UPDATE well SET name = '{chr(numbers.randrange(65, 91))} {numbers.random()}' WHERE id = {key}",
            f"UPDATE well SET depth = {numbers.randrange(20000)} WHERE id = {key}",
            f"UPDATE well SET county = (SELECT name FROM county ORDER BY id LIMIT 1 OFFSET {numbers.randrange(80)}) WHERE id = {key}",
            f"DELETE FROM well WHERE id = {key}",
            "INSERT INTO well(name, county, operator, status, depth, county_id, operator_id) SELECT"
            f" 'N{numbers.random()}', county, operator, status, depth, county_id, operator_id FROM well WHERE id = {key}",
            f"UPDATE closing SET closed = '20{numbers.randrange(10, 25)}-01-02' WHERE bank_id = {numbers.randrange(1, 600)}",
            f"UPDATE bank SET state = 'S{numbers.randrange(9)}' WHERE id = {numbers.randrange(1, 600)}",
        ]))
    demo.sql("; ".join(statements + ["COMMIT"]))


def expected(demo, sql, window):
    """The rows of the window, and the number of all rows."""
    with contextlib.closing(sqlite3.connect(f"file:{demo.database}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        rows = [dict(row) for row in database.execute(sql)]
    return (rows[window["offset"]:window["offset"] + window["limit"]] if window else rows), len(rows)


@test
def lists_hold_what_sqlite_selects_after_every_commit(page, demo):
    print(f"        seed {SEED}", flush=True)
    numbers = random.Random(SEED)
    page.page.goto(demo.url + "client.html")
    page.page.evaluate("""async ([queries, windows]) => {
      const { connect } = await import("./freshet.min.js");
      globalThis.client = connect();
      globalThis.lists = queries.flatMap((query) => windows.map((window) => client.subscribe(query, window ? { window } : {})));
      globalThis.resyncs = 0;
      for (const list of lists) {
        const resync = list.resync;
        list.resync = function () { resyncs += 1; return resync.call(this); };
      }
      await Promise.all(lists.map(async (list) => { for await (const _ of list) return; }));
    }""", [[query for query, _ in QUERIES], WINDOWS])
    for round in range(30):
        commit(numbers, demo)
        if round % 6 == 5:
            offset = numbers.randrange(300)
            page.page.evaluate("offset => Promise.all(lists.filter(({ window }) => window).map((list) => list.setWindow({ offset, limit: 40 })))", offset)
        if round % 10 == 9:
            page.page.evaluate("() => Promise.all(lists.map((list) => list.requery(list.query)))")
        deadline = time.monotonic() + PATIENCE
        # A commit may not change some queries' rows, so the test waits until the held rows are right.
        while True:
            held = page.page.evaluate("""() => lists.map(({ state, window }) => ({ window, total: state.total,
              sections: state.sections.map(({ count }) => count), rows: Array.from(state.entries(), ([, row]) => ({ ...row })) }))""")
            wrong = []
            for index, (_, sql) in enumerate(QUERIES):
                for place in range(len(WINDOWS)):
                    state = held[index * len(WINDOWS) + place]
                    rows, total = expected(demo, sql, state["window"])
                    if state["rows"] != rows or state["total"] != total or sum(state["sections"]) != total:
                        wrong.append((index, place, state["rows"][:3], rows[:3]))
            if not wrong:
                break
            assert time.monotonic() < deadline, (SEED, round, wrong)
    assert page.page.evaluate("resyncs") == 0
    assert page.errors == [], page.errors


@test
def react_renders_the_list_and_follows_it(page, demo):
    if not all(os.path.exists(path) for path in REACT):
        print("        skipped: Debian's node-react and node-react-dom are not there")
        return
    page.page.goto(demo.url + "react.html")
    items = page.page.locator("li")
    names = lambda: demo.sql("SELECT name FROM bank ORDER BY name, id").split("\n")
    expect(items).to_have_count(len(names()))
    assert items.all_text_contents() == names()
    page.page.evaluate("document.querySelector('li').marked = true")
    # One commit is used, because the page may show a first one before the second comes.
    demo.sql("""BEGIN; INSERT INTO bank(name, city, state, cert) VALUES ('!First', 'x', 'GA', 1);
      UPDATE bank SET name = 'zz' WHERE id = 5; COMMIT""")
    expect(items.first).to_have_text("!First")
    assert items.all_text_contents() == names()
    # Rows that existed before keep their elements.
    assert page.page.evaluate("document.querySelectorAll('li')[1].marked")
    assert page.errors == [], page.errors


@test
def react_in_strict_mode_keeps_one_subscription_for_each_component(page, demo):
    if not all(os.path.exists(path) for path in REACT):
        print("        skipped: Debian's node-react and node-react-dom are not there")
        return
    sent = []
    page.page.once("websocket", lambda socket: socket.on("framesent", lambda text: sent.append(json.loads(text))))
    page.page.goto(demo.url + "react-strict.html")
    names = lambda limit: demo.sql(f"SELECT name FROM bank ORDER BY name, id LIMIT {limit}").split("\n")
    shown = lambda limit: [expect(page.page.locator(f"#{id} li")).to_have_text(names(limit)) for id in ("plain", "suspended")]
    count = lambda kind: sum(message["type"] == kind for message in sent)
    shown(3)
    demo.sql("INSERT INTO bank(name, city, state, cert) VALUES ('!!Strict', 'x', 'GA', 1)")
    shown(3)
    assert page.page.locator("#plain li").first.text_content() == "!!Strict"
    page.page.click("#more")
    shown(5)
    assert (count("subscribe"), count("requery"), count("unsubscribe")) == (2, 2, 0), sent
    page.page.click("#leave")
    page.page.wait_for_function("document.querySelectorAll('li').length === 0")
    eventually(lambda: count("unsubscribe"), lambda found: found == 2, wait=page.wait)
    assert page.errors == [], page.errors


@test
def the_page_of_the_readme_is_a_list(page, demo):
    with public_with() as public:
        heading = "A page of your own in five minutes"
        (public / "index.html").write_text(shown(heading, r"index\.html <<'END'\n(.*?)\nEND"))
        (public / "banks.css").write_text(shown(heading, r"echo '(.*?)' > site/banks\.css"))
        database = str(public.parent / "app.sqlite")
        table = re.search(r"CREATE TABLE bank.*?'2011-06-03'\)", (ROOT / "README.md").read_text(), re.S)[0]
        subprocess.run(["sqlite3", database, table], check=True)
        with Server(database, public) as server:
            page.page.goto(server.url)
            rows = page.page.locator(".live-row[data-state=shown]")
            expect(rows).to_have_text(["Citizens 2011-06-03", "First Security 2010-03-19"])
            expect(page.page.locator(".live-title")).to_have_text(["FL1", "GA1"])
            subprocess.run(["sqlite3", database, "UPDATE bank SET name = 'Mine' WHERE id = 1"], check=True)
            expect(rows.last).to_have_text("Mine 2010-03-19")
            assert page.errors == [], page.errors


@test
def a_refused_origin_is_an_error_and_a_status_within_a_second(page, demo):
    with another_origin(demo.public) as origin, tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/app.sqlite"
        subprocess.run(["sqlite3", database, "PRAGMA journal_mode = WAL; CREATE TABLE bank(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO bank VALUES (1, 'Mine')"], check=True)
        other = page.page.context.browser.new_page()
        other.goto(f"{origin}/client.html")
        connect = """async (url) => {
          await import("./live-list.js");
          const { connect } = await import("./freshet.js");
          globalThis.client = connect(url);
          globalThis.errors = [];
          client.addEventListener("error", ({ error }) => errors.push([error.code, error.message]));
          const list = Object.assign(document.createElement("live-list"), { client, query: { from: "bank" } });
          document.body.replaceChildren(list);
          const start = performance.now();
          while (client.status !== "refused" && client.status !== "live" && performance.now() - start < 2000) await new Promise(requestAnimationFrame);
          return [client.status, performance.now() - start];
        }"""
        with Server(database, demo.public) as refusing:
            port, url = refusing.port, refusing.url
            status, took = other.evaluate(connect, url)
            assert status == "refused" and took < 1000, (status, took)
            code, message = other.evaluate("errors")[0]
            assert code == "refused" and message.endswith(f"--allow-origin {origin}"), message
            expect(other.locator(".live-stale")).to_have_text(message)
        # The operator follows the advice of the message.
        allowing = Server(database, demo.public, "--allow-origin", origin)
        allowing.port = port
        with allowing:
            expect(other.locator(".live-row[data-state=shown]")).to_contain_text("Mine")
            assert other.evaluate("[client.status, client.error, errors.length]") == ["live", None, 1]
            expect(other.locator(".live-stale")).to_be_hidden()
        # A server that is down does not count as refusing.
        status, took = other.evaluate(connect, url)
        assert status == "reconnecting" and other.evaluate("errors") == [], status
        other.close()


def main():
    react = [path for path in REACT if os.path.exists(path)]
    with tempfile.TemporaryDirectory() as folder, public_with(*PAGES.iterdir(), *react) as public, chromium() as browser:
        (public / "react-example.js").write_text(shown("React", r"```js\n(.*?)```", "docs/javascript.md"))
        for file in [public / "react-example.js", public / "react-strict.js", *(public / "react").iterdir()]:
            file.write_text(with_addresses(file.read_text()))
        demo = Demo(folder, public, 2000)
        demo.start()
        page = Page(browser.new_page())
        failed = run(TESTS, lambda: None, page, demo)
        demo.stop()
    return failed > 0


def with_addresses(text):
    """A page that finds packages by their names. An import map would be an inline script, which the server's policy
    forbids."""
    modules = {"freshet": "freshet.js", "freshet/react": "react.js", "react": "react-modules.js", "react-dom/client": "react-modules.js"}
    return re.sub(r'from "([a-z][^".]*)"', lambda found: f'from "/{modules[found[1]]}"', text)


def shown(heading, pattern, file="README.md"):
    """The code that a document shows under a heading."""
    section = (ROOT / file).read_text().split(f"# {heading}\n", 1)[1]
    return re.search(pattern, section, re.S)[1]


if __name__ == "__main__":
    sys.exit(main())
