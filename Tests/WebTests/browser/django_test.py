#!/usr/bin/env python3
"""Migrations of a Django project while a program writes through its ORM: lists over a WebSocket and the table browser
continue, or say why not.

Each test migrates once; they build on each other. Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import sys
import tempfile
import time

from playwright.sync_api import expect

from django_project import Project, Writer
from followed_lists import FollowedLists, fresh
from harness import PATIENCE, chromium, eventually, run, tests
from table_page import TablePage, WritingServer

TESTS, test = tests()

# One script reads everything, so that the values belong to the same moment.
SEEN = """() => {
  const list = document.querySelector("#tables live-list.table-list");
  if (!list) return { columns: [], isLive: false, sentence: document.querySelector(".state-page")?.textContent ?? "" };
  const isStale = "stale" in list.dataset || "outdated" in list.dataset;
  return { columns: [...list.querySelectorAll(".head-title b")].map((title) => title.textContent), isLive: list.status === "live" && !isStale,
    sentence: list.querySelector(".live-stale")?.textContent ?? "" };
}"""


class Walk:
    def __init__(self, browser, folder):
        self.project = Project(folder)
        self.project.make_migration("first")
        self.project.manage("migrate")
        self.orders, self.amount = "crm_order", "total"
        self.writer = Writer(self.project)
        self.has_written(20)
        self.server = WritingServer(self.project.database).start()
        self.lists = FollowedLists(self.server.url)
        self.lists.subscribe("customers in sections", {"from": "crm_customer", "select": ["id", "name", "city", "since"], "sectionBy": "city", "orderBy": ["name"]})
        self.follow_orders()
        self.page = TablePage(browser.new_page(viewport={"width": 1280, "height": 800}))
        # Requests that are refused because a table has gone are not errors of the page.
        self.uncaught = []
        self.page.page.on("pageerror", lambda error: self.uncaught.append(str(error)))
        self.page.open(self.server, self.orders)
        self.is_right()

    def follow_orders(self):
        self.lists.subscribe("orders", {"from": self.orders})
        self.lists.subscribe("orders with customers", self.joined)

    @property
    def joined(self):
        return {"from": f"{self.orders} o JOIN crm_customer c ON c.id = o.customer_id", "key": ["o.id"],
                "select": ["o.id", "o.number", "o.status", f"o.{self.amount}", "c.name AS customer", "c.city"], "orderBy": [f"o.{self.amount} DESC"]}

    def has_written(self, transactions):
        eventually(lambda: self.writer.committed, lambda committed: committed >= transactions, f"{transactions} transactions, but {self.writer.refused[-1:]}")

    def prepare(self):
        """Makes sure that the writer runs, also after a failed test."""
        if self.writer.process.poll() is not None:
            self.writer = Writer(self.project)

    def change_models(self, old, new):
        assert old in self.project.models, old
        self.project.models = self.project.models.replace(old, new)

    def migrate(self, *target):
        """Migrates while the old release writes, and stops it a moment later. Afterwards no program writes."""
        lines = len(self.writer.lines)
        self.project.manage("migrate", *target)
        time.sleep(0.3)
        self.writer.stop()
        assert len(self.writer.lines) > lines, "the writer was there"
        return self.writer.refused

    def is_right(self, waiting=()):
        """Compares all lists and the page while no program writes. Afterwards the models' release writes."""
        self.release_pauses()
        self.lists.are_right(self.project.database, waiting)
        cities = fresh(self.project.database, "SELECT DISTINCT city FROM crm_customer ORDER BY city")[1]
        assert [[name] for name in self.lists.section_names("customers in sections")] == cities
        self.page_is_right()
        self.writer = Writer(self.project)
        self.has_written(10)

    def release_pauses(self):
        if self.writer.process.poll() is None:
            self.writer.stop()

    def page_is_right(self):
        columns, rows = fresh(self.project.database, f"SELECT * FROM {self.orders} ORDER BY id")
        eventually(lambda: self.page.page.evaluate(SEEN), lambda seen: seen["isLive"] and seen["columns"] == columns, f"{columns} in the page")
        self.page.is_open(self.orders, len(rows))
        for name in columns:
            self.page.shows(name, ["null" if row[columns.index(name)] is None else self.as_text(row[columns.index(name)]) for row in rows[:12]])
        assert self.uncaught == [], self.uncaught

    @staticmethod
    def as_text(value):
        """A value as JavaScript writes it."""
        return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)

    def never_shows_as_live(self, gone):
        """Waits until the page has the new columns, or says that the table has gone. Until then, missing columns must
        not be shown as live."""
        deadline = time.monotonic() + PATIENCE
        while True:
            seen = self.page.page.evaluate(SEEN)
            if not gone & set(seen["columns"]):
                return
            assert not seen["isLive"] and seen["sentence"], seen
            assert time.monotonic() < deadline, seen
            self.page.page.wait_for_timeout(20)

    def close(self):
        self.release_pauses()
        self.lists.close()
        self.server.__exit__()


@test
def a_column_is_added(walk):
    walk.change_models("    note =", "    priority = models.IntegerField(null=True, default=3)\n    note =")
    walk.project.make_migration("priority")
    walk.migrate()
    walk.is_right()
    assert "priority" in walk.page.headers()


@test
def a_column_is_renamed_back_and_again(walk):
    walk.change_models("    total =", "    amount =")
    name = walk.project.make_migration("amount", answers="y\n")
    assert "RenameField" in walk.project.migration_file(name).read_text()
    assert any("no column named total" in line or "no such column" in line for line in walk.migrate()), "the old release is refused"
    walk.lists.said("orders with customers", "no such column: o.total")
    walk.never_shows_as_live({"total"})
    walk.lists.are_right(walk.project.database, {"orders with customers"})
    # Back again: lists that waited continue by themselves.
    walk.project.manage("migrate", "crm", before(name))
    walk.lists.are_right(walk.project.database)
    walk.page_is_right()
    walk.project.manage("migrate")
    walk.lists.said("orders with customers", "no such column: o.total")
    walk.amount = "amount"
    walk.lists.subscribe("orders with customers", walk.joined)
    walk.is_right()


@test
def an_index_is_added(walk):
    walk.change_models("    class Status", '    class Meta:\n        indexes = [models.Index(fields=["status", "placed"], name="by_status")]\n\n    class Status')
    walk.project.make_migration("by_status")
    assert walk.migrate() == []
    walk.is_right()


@test
def a_data_migration_changes_every_row(walk):
    name = walk.project.make_migration("notes", "--empty")
    model = "Order" if walk.orders == "crm_order" else "Purchase"
    text = walk.project.migration_file(name).read_text()
    text = text.replace("class Migration", f"""def write_notes(apps, schema_editor):
    for order in apps.get_model("crm", "{model}").objects.select_related("customer"):
        order.note = f"for {{order.customer.name}}"
        order.save()
    apps.get_model("crm", "Customer").objects.filter(city="Osaka").update(city="Kyoto")


class Migration""").replace("operations = [", "operations = [migrations.RunPython(write_notes, migrations.RunPython.noop)")
    walk.project.migration_file(name).write_text(text)
    assert walk.migrate() == []
    assert fresh(walk.project.database, f"SELECT count(*) > 9 FROM {walk.orders} WHERE note LIKE 'for Customer %'")[1] == [[1]]
    walk.is_right()


@test
def a_field_is_altered_in_a_table_that_others_refer_to(walk):
    """Django makes a new table, copies, drops and renames."""
    walk.change_models("    number = models.CharField(max_length=20)", "    number = models.CharField(max_length=40, null=True)")
    walk.change_models("    city = models.CharField(max_length=60)", "    city = models.CharField(max_length=80, null=True, db_index=True)")
    name = walk.project.make_migration("longer")
    statements = walk.project.manage("sqlmigrate", "crm", name)
    assert all(f'RENAME TO "{table}"' in statements for table in (walk.orders, "crm_customer")), statements
    assert walk.migrate() == []
    walk.is_right()


@test
def the_table_is_renamed(walk):
    walk.change_models("class Order(", "class Purchase(")
    name = walk.project.make_migration("purchase", answers="y\n")
    assert "RenameModel" in walk.project.migration_file(name).read_text()
    assert any("no such table: crm_order" in line for line in walk.migrate()), "the old release is refused"
    for list in ("orders", "orders with customers"):
        walk.lists.said(list, "no such table: crm_order")
    walk.lists.are_right(walk.project.database, {"orders", "orders with customers"})
    walk.never_shows_as_live(set(walk.page.headers()))
    expect(walk.page.page.locator(".state-page")).to_contain_text("crm_order")
    walk.orders = "crm_purchase"
    walk.follow_orders()
    walk.page.page.locator("#sidebar a[data-table=crm_purchase]").click()
    walk.is_right()


@test
def a_column_is_dropped(walk):
    walk.change_models('    note = models.TextField(default="", blank=True)\n', "")
    walk.project.make_migration("without_notes")
    assert walk.migrate() != [], "the old release is refused"
    walk.never_shows_as_live({"note"})
    walk.is_right()
    assert "note" not in walk.page.headers()


@test
def rows_of_the_orm_arrive_in_the_page(walk):
    walk.page.go(f"{walk.orders}?sort=-id")
    model = "Order" if walk.orders == "crm_order" else "Purchase"
    walk.project.manage("shell", "-c", f"""from crm.models import Customer, {model} as Order
from django.utils import timezone
customer = Customer.objects.create(name="The last one", city="Lima", since="2026-01-01")
Order.objects.create(customer=customer, number="LAST", placed=timezone.now(), {walk.amount}=1)""")
    expect(walk.page.page.locator(".live-row", has_text="LAST")).to_be_visible()
    walk.page.go("crm_customer?section=city&where=name='The last one'")
    expect(walk.page.page.locator(".live-row", has_text="The last one")).to_be_visible()
    walk.page.go(walk.orders)
    walk.is_right()


def before(name):
    """The number of the previous migration."""
    return f"{int(name[:4]) - 1:04}"


def main():
    try:
        import django
    except ImportError:
        django = None
    # Django is missing if PyPI cannot be reached. Older versions have no `transaction_mode`, without which SQLite
    # refuses two writers.
    if not django or django.VERSION < (5, 1):
        print("skipped: there is no Django 5.1 or newer")
        return 0
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        walk = Walk(browser, folder)
        try:
            return run(TESTS, walk.prepare, walk) > 0
        finally:
            walk.close()


if __name__ == "__main__":
    sys.exit(main())
