"""A typical small Django project: customers, their orders, and a program that constantly writes both through the ORM.
"""
import pathlib
import re
import signal
import subprocess
import sys
import threading

SETTINGS = """
SECRET_KEY = "for a test"
INSTALLED_APPS = ["crm"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3",
  "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode = WAL"}}}
"""

MODELS = """from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=100)
    city = models.CharField(max_length=60)
    since = models.DateField()


class Order(models.Model):
    class Status(models.TextChoices):
        NEW = "new"
        PAID = "paid"
        SHIPPED = "shipped"

    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    number = models.CharField(max_length=20)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.NEW)
    total = models.DecimalField(max_digits=9, decimal_places=2)
    placed = models.DateTimeField()
    note = models.TextField(default="", blank=True)
"""

MANAGE = """
import os, sys
from django.core.management import execute_from_command_line
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
execute_from_command_line(sys.argv)
"""

# Names of models and fields are those that are found when it starts: it is the release that goes with its migrations.
# An old release reports refused writes, and continues.
WRITER = """
import datetime, os, random, signal, sys, time
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
import django
django.setup()
from django.apps import apps
from django.db import DatabaseError, transaction
from django.utils import timezone

Customer = apps.get_model("crm", "Customer")
Order = next(model for model in apps.get_app_config("crm").get_models() if model is not Customer)
amount = next(field.name for field in Order._meta.fields if field.get_internal_type() == "DecimalField")
cities = ["Berlin", "Denver", "Lagos", "Osaka"]
draw = random.Random(int(sys.argv[1]))
is_over = False

def end(*_):
    global is_over
    is_over = True

signal.signal(signal.SIGTERM, end)

def turn():
    with transaction.atomic():
        if Customer.objects.count() < 40:
            Customer.objects.create(name=f"Customer {draw.randrange(1000)}", city=draw.choice(cities), since=datetime.date(2020, 1, draw.randrange(1, 28)))
        customer = draw.choice(list(Customer.objects.all()))
        Order.objects.create(customer=customer, number=f"{draw.randrange(10_000):05}", placed=timezone.now(), **{amount: draw.randrange(100_000) / 100})
        for order in Order.objects.order_by("?")[:3]:
            order.status = draw.choice(["new", "paid", "shipped"])
            setattr(order, amount, draw.randrange(100_000) / 100)
            order.save()
        if Order.objects.count() > 250:
            Order.objects.order_by("?").first().delete()
        customer.city = draw.choice(cities)
        customer.save()

while not is_over:
    try:
        turn()
        print("committed", flush=True)
    except DatabaseError as error:
        print(f"refused: {error}", flush=True)
    time.sleep(0.01)
"""


class Project:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.database = str(self.folder / "db.sqlite3")
        (self.folder / "crm").mkdir()
        files = {"settings.py": SETTINGS, "manage.py": MANAGE, "writer.py": WRITER, "crm/__init__.py": "", "crm/models.py": MODELS}
        for name, text in files.items():
            (self.folder / name).write_text(text.lstrip())

    @property
    def models(self):
        return (self.folder / "crm" / "models.py").read_text()

    @models.setter
    def models(self, text):
        (self.folder / "crm" / "models.py").write_text(text)

    def manage(self, *arguments, answers=""):
        """`manage.py`, which may ask questions."""
        done = subprocess.run([sys.executable, "manage.py", *arguments], cwd=self.folder, input=answers, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def make_migration(self, name, *options, answers=""):
        """The migration's number and name."""
        output = self.manage("makemigrations", "crm", "--name", name, *options, answers=answers)
        made = re.search(rf"(\d{{4}}_{name})\.py", output)
        assert made, output
        return made[1]

    def migration_file(self, name):
        return self.folder / "crm" / "migrations" / f"{name}.py"


class Writer:
    """The writing program, of the same release as the present models."""

    releases = 0

    def __init__(self, project):
        Writer.releases += 1
        self.lines = []
        self.process = subprocess.Popen(
            [sys.executable, "writer.py", str(Writer.releases)], cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()

    @property
    def committed(self):
        return self.lines.count("committed\n")

    @property
    def refused(self):
        return [line.strip() for line in self.lines if line.startswith("refused")]

    def stop(self):
        """Stops the program after its present transaction."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        self.reader.join(timeout=10)
        others = [line for line in self.lines if line != "committed\n" and not line.startswith("refused")]
        assert not others and self.process.returncode == 0, "".join(others)
