"""Applications that know nothing of Freshet write with Django's ORM and with SQLAlchemy, in processes of their own."""

import subprocess
import sys

import pytest
from support import database, needs_binary, run

import freshet

pytestmark = needs_binary()

DJANGO_MODELS = """from django.db import models

class Customer(models.Model):
    name = models.CharField(max_length=50)

class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    status = models.CharField(max_length=10, default="new")
    total = models.IntegerField()
    receipt = models.BinaryField(null=True)
"""

DJANGO = """
import os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import django
from django.conf import settings
settings.configure(
    INSTALLED_APPS=["shop"], DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}})
django.setup()
from django.db import connection, models, transaction
from shop.models import Customer, Order

class Undone(Exception): pass

def create():
    with connection.schema_editor() as editor:
        editor.create_model(Customer)
        editor.create_model(Order)

def insert():
    ann, ben = Customer.objects.bulk_create([Customer(name="Ann"), Customer(name="Ben")])
    Order.objects.create(customer=ann, total=10, receipt=b"\\x00\\xff")
    Order.objects.bulk_create(Order(customer=ben, total=total) for total in (30, 20))

def update():
    with transaction.atomic():
        Order.objects.filter(total__gte=20).update(status="paid", total=models.F("total") + 1)
        try:
            with transaction.atomic():
                Order.objects.all().delete()
                raise Undone
        except Undone: pass
    order = Order.objects.get(total=10)
    order.total = 2**60
    order.save()

def delete():
    Customer.objects.get(name="Ben").delete()

def alter():
    note = models.TextField(null=True)
    note.set_attributes_from_name("note")
    with connection.schema_editor() as editor:
        editor.add_field(Order, note)
    Order.objects.update(status="shipped")

for line in sys.stdin:
    globals()[line.strip()]()
    print("done", flush=True)
"""

SQLALCHEMY = """
import sys
from sqlalchemy import ForeignKey, String, create_engine, delete as deleting, select, update as updating, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

class Base(DeclarativeBase): pass

class Customer(Base):
    __tablename__ = "shop_customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50))
    orders: Mapped[list["Order"]] = relationship(back_populates="customer", cascade="all, delete-orphan")

class Order(Base):
    __tablename__ = "shop_order"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("shop_customer.id"))
    status: Mapped[str] = mapped_column(String(10), default="new")
    total: Mapped[int]
    receipt: Mapped[bytes | None]
    customer: Mapped[Customer] = relationship(back_populates="orders")

engine = create_engine("sqlite:///" + sys.argv[1])

def create():
    Base.metadata.create_all(engine)

def insert():
    with Session(engine) as session:
        session.add(Customer(name="Ann", orders=[Order(total=10, receipt=b"\\x00\\xff")]))
        session.add(Customer(name="Ben", orders=[Order(total=30), Order(total=20)]))
        session.commit()

def update():
    with Session(engine) as session:
        session.execute(updating(Order).where(Order.total >= 20).values(status="paid", total=Order.total + 1))
        nested = session.begin_nested()
        session.execute(deleting(Order))
        nested.rollback()
        session.scalars(select(Order).where(Order.total == 10)).one().total = 2**60
        session.commit()

def delete():
    with Session(engine) as session:
        session.delete(session.scalars(select(Customer).where(Customer.name == "Ben")).one())
        session.commit()

def alter():
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE shop_order ADD COLUMN note TEXT"))
        connection.execute(updating(Order).values(status="shipped"))

for line in sys.stdin:
    globals()[line.strip()]()
    print("done", flush=True)
"""


class Application:
    """A program that does what it is told to, one step after the other."""

    def __init__(self, program, path):
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def step(self, name):
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n", self._process.communicate()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.communicate(timeout=10)


@pytest.mark.parametrize(("framework", "program"), [("django", DJANGO), ("sqlalchemy", SQLALCHEMY)])
def test_what_an_application_writes_is_followed(tmp_path, framework, program):
    pytest.importorskip(framework)
    path = tmp_path / "shop.sqlite"
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "models.py").write_text(DJANGO_MODELS)
    db = database(path, "")
    columns = "shop_order.id, name, status, total, receipt"
    select = f"SELECT {columns} FROM shop_order JOIN shop_customer ON shop_customer.id = customer_id ORDER BY status, total DESC"

    async def test():
        with Application(program, path) as application:
            application.step("create")
            with freshet.serve(path) as url:
                async with freshet.connect(url) as client:
                    orders = await client.subscribe(
                        "shop_order JOIN shop_customer ON shop_customer.id = shop_order.customer_id",
                        select=columns.split(", "), section_by="status", order_by="total DESC", totals={"sum": "sum(total)"},
                    )  # fmt: skip
                    for step, total, sections in (
                        ("insert", 60, ["new"]),
                        ("update", 2**60 + 52, ["new", "paid"]),
                        ("delete", 2**60, ["new"]),
                        ("alter", 2**60, ["shipped"]),
                    ):
                        application.step(step)
                        await orders.caught_up()
                        assert list(orders.rows) == db.execute(select).fetchall()
                        assert (orders.totals["sum"], [section.name for section in orders.sections]) == (total, sections)

    run(test(), 60)
