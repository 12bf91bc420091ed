#!/usr/bin/env python3
"""Two pages on two replicas of one file, in a real browser: a broker, the server next to the file, and replicas that are killed.

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from playwright.sync_api import expect

import table_files
from demo_page import DemoPage
from harness import IN_ORDER, ROOT, SCREENSHOTS, Server, chromium, eventually, program, run, tests
from table_editing import becomes
from table_page import TablePage

TESTS, test = tests()
NATS = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")


def free_ports(count, first):
    """A range of free ports."""
    for start in range(first, 60_000, 10):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(start, start + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
                return start
            except OSError:
                continue
    sys.exit("no ports are free")


@contextlib.contextmanager
def broker(folder):
    port = free_ports(1, 24_222)
    process = subprocess.Popen(
        [NATS, "-js", "-sd", str(pathlib.Path(folder) / "broker"), "-a", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL)
    try:
        yield f"nats://127.0.0.1:{port}/shop"
    finally:
        process.kill()
        process.wait()


class Cluster:
    """The server next to the file, and two replicas of it."""

    def __init__(self, folder, url):
        public = ROOT / "public"
        self.writer = Server(table_files.northwind(folder), public, "--allow-writes", "--publish", url)
        self.replicas = [
            Server(str(pathlib.Path(folder) / f"replica{number}.sqlite"), public, "--allow-writes", "--replicate", url)
            for number in (1, 2)]

    def wait(self):
        for replica in self.replicas:
            health = [program(), "health", f"{replica.url}readyz"]
            eventually(lambda: subprocess.run(health, capture_output=True), lambda answer: answer.returncode == 0, "the replica")


@contextlib.contextmanager
def pages(browser, cluster, address):
    """A page on each replica, which is never loaded again."""
    size = {"width": 900, "height": 600}
    opened = [TablePage(browser.new_page(viewport=size)).open(server, address) for server in cluster.replicas]
    for page in opened:
        page.page.evaluate("document.documentElement.unreloaded = true")
    try:
        yield opened
        assert all(page.page.evaluate("document.documentElement.unreloaded") for page in opened)
    finally:
        for page in opened:
            page.page.close()


def name_of(cluster, key):
    return cluster.writer.sql(f"SELECT CompanyName FROM Customers WHERE CustomerID = '{key}'")


@test
def an_edit_on_one_replica_appears_on_the_other_and_in_the_file(browser, cluster):
    with pages(browser, cluster, "Customers") as (one, two):
        for page in (one, two):
            page.is_open("Customers", 91)
        for page, other, row in ((one, two, 0), (two, one, 1)):
            key, text = f"CU00{row + 1}", f"Edited at {'first' if page is one else 'second'}"
            page.edit(row, "CompanyName", text).press("Enter")
            expect(other.cell(row, "CompanyName")).to_have_text(text)
            # The page that wrote has the text from its own replica, which replied only after it had the change.
            expect(page.cell(row, "CompanyName")).to_have_text(text)
            assert name_of(cluster, key) == text
        for number, page in enumerate((one, two), 1):
            page.page.screenshot(path=SCREENSHOTS / f"cluster-{number}.png")
            assert page.errors == [], page.errors


@test
def a_write_that_the_file_refuses_is_refused_at_a_replica(browser, cluster):
    with pages(browser, cluster, "Products") as (one, two):
        before = cluster.writer.sql("SELECT UnitPrice FROM Products WHERE ProductID = 2")
        one.is_open("Products", 77).edit(1, "UnitPrice", "-1").press("Enter")
        expect(one.page.locator(".refusal:popover-open")).to_contain_text("CHECK constraint failed")
        assert cluster.writer.sql("SELECT UnitPrice FROM Products WHERE ProductID = 2") == before
        two.is_open("Products", 77)


@test
def a_replica_that_is_killed_comes_back_with_what_changed_meanwhile(browser, cluster):
    with pages(browser, cluster, "Customers") as (one, two):
        for page in (one, two):
            page.is_open("Customers", 91)
        cluster.replicas[0].kill()
        before = one.cell(2, "CompanyName").text_content()
        # Two writers: a program that does not use a server, and the page on the other replica.
        cluster.writer.sql("UPDATE Customers SET CompanyName = 'Changed meanwhile' WHERE CustomerID = 'CU003'")
        expect(two.cell(2, "CompanyName")).to_have_text("Changed meanwhile")
        two.edit(3, "CompanyName", "Edited meanwhile").press("Enter")
        becomes(cluster.writer, "SELECT CompanyName FROM Customers WHERE CustomerID = 'CU004'", "Edited meanwhile")
        cluster.writer.sql("DELETE FROM Customers WHERE CustomerID = 'CU091'")
        expect(one.cell(2, "CompanyName")).to_have_text(before)
        cluster.replicas[0].start()
        expect(one.cell(2, "CompanyName")).to_have_text("Changed meanwhile")
        expect(one.cell(3, "CompanyName")).to_have_text("Edited meanwhile")
        expect(one.count).to_contain_text("90 row")
        one.page.screenshot(path=SCREENSHOTS / "cluster-recovered.png")
        one.edit(4, "CompanyName", "Edited after that").press("Enter")
        expect(two.cell(4, "CompanyName")).to_have_text("Edited after that")
        assert name_of(cluster, "CU005") == "Edited after that"


@test
def the_writers_server_is_killed_and_edits_go_on_after_its_start(browser, cluster):
    with pages(browser, cluster, "Suppliers") as (one, two):
        for page in (one, two):
            expect(page.title).to_have_text("Suppliers")
        cluster.writer.kill()
        # Replicas still serve their copies.
        two.page.reload()
        two.page.evaluate("document.documentElement.unreloaded = true")
        expect(two.title).to_have_text("Suppliers")
        cluster.writer.sql("UPDATE Suppliers SET CompanyName = 'Written without a server' WHERE SupplierID = 1")
        cluster.writer.start()
        for page in (one, two):
            expect(page.cell(0, "CompanyName")).to_have_text("Written without a server")
        one.edit(0, "CompanyName", "And with one").press("Enter")
        expect(two.cell(0, "CompanyName")).to_have_text("And with one")


class Script:
    """Runs `make cluster`; yields its output as it comes."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        settings = {"PORT": free_ports(4, 23_080), "BROKER_PORT": free_ports(3, 25_222), "ROWS": 3000}
        environment = {**os.environ, "FRESHET_BIN": program(), "TMPDIR": folder}
        environment.update({name: str(value) for name, value in settings.items()})
        with open(self.folder / "output", "w") as output:
            self.process = subprocess.Popen(
                [ROOT / "scripts/cluster.sh"], env=environment, stdout=output, stderr=subprocess.STDOUT,
                # A shell that runs these tests in the background has them ignore Ctrl-C, and cannot undo that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    @property
    def output(self):
        return (self.folder / "output").read_text()

    def printed(self, pattern, timeout=90):
        eventually(lambda: self.output, lambda output: re.search(pattern, output) or self.process.poll() is not None, pattern, timeout)
        found = re.search(pattern, self.output)
        assert found, self.output
        return found

    def sql(self, text):
        return table_files.sql(str(next(self.folder.glob("freshet-cluster.*/wells-3000.sqlite"))), text)

    def processes(self):
        """Ids of all processes that work in the folder or were started for it."""
        found = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True).stdout.split()
        return [int(number) for number in found if int(number) != os.getpid()]


@test
def the_script_starts_a_cluster_and_leaves_nothing(browser, _):
    with tempfile.TemporaryDirectory(prefix="freshet-cluster-test-") as folder:
        script = Script(folder)
        try:
            script.printed("Ctrl-C ends everything")
            replicas = [script.printed(rf"(http://\S+)\s+replica{number}, process (\d+)") for number in (1, 2)]
            balanced = re.search(r"(http://\S+) leads to either", script.output)
            addresses = [found[1] for found in (*replicas, *filter(None, [balanced]))]
            shown = [DemoPage(browser.new_page(viewport={"width": 1000, "height": 600})) for _ in addresses]
            for page, address in zip(shown, addresses):
                page.page.goto(f"{address}#wells")
                page.is_live()
            brokers = re.search(r"a broker \((\d+), (\d+), (\d+)\)", script.output)
            for victim, name in ((int(brokers[1]), "broker1"), (int(replicas[0][2]), "replica1")):
                os.kill(victim, signal.SIGKILL)
                script.printed(rf"{name} ended \(status 137\) and was started again")
            script.sql("UPDATE well SET name = '0 Written in the end' WHERE id = (SELECT id " + IN_ORDER + " LIMIT 1)")
            for page in shown:
                expect(page.row("0 Written in the end")).to_be_visible()
                page.is_live()
            shown[-1].page.screenshot(path=SCREENSHOTS / "cluster-script.png")
            for page in shown:
                page.page.close()
            assert len(script.processes()) >= 7, script.processes()
        finally:
            script.process.send_signal(signal.SIGINT)
            status = script.process.wait(timeout=60)
        assert status == 0, script.output
        assert script.processes() == []
        assert list(script.folder.glob("freshet-cluster.*")) == []


def main():
    if not NATS:
        print("skipped: nats-server is not installed")
        return False
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, broker(folder) as url, chromium() as browser:
        cluster = Cluster(folder, url)
        with cluster.writer, cluster.replicas[0], cluster.replicas[1]:
            cluster.wait()
            failed = run(TESTS, lambda: None, browser, cluster)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
