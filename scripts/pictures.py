#!/usr/bin/env python3
"""Makes the pictures that README.md shows, docs/demo.png and docs/browser.png, of the demo while its writer writes: `make pictures`."""

import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
os.environ.setdefault("FRESHET_BIN", str(ROOT / ".build/release/freshet"))
sys.path.insert(0, str(ROOT / "Tests/WebTests/browser"))

from harness import Demo  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

PICTURES = {"demo.png": "#wells", "browser.png": "#/well?sort=-depth&section=operator"}

with tempfile.TemporaryDirectory(prefix="freshet-pictures-") as folder, sync_playwright() as playwright:
    demo = Demo(folder, rows=244_292)
    address = demo.start(writes_per_second=20)
    browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
    try:
        for name, view in PICTURES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address + view)
            page.wait_for_selector("live-list:visible [role=row] [role=gridcell]:visible")
            page.wait_for_timeout(8_000)
            if view == "#wells":
                # Changes have their colours for a moment.
                page.locator("#burst").click()
                page.wait_for_timeout(200)
                demo.sql("UPDATE well SET name = 'Aardvark, moved here' WHERE id = (SELECT id FROM well ORDER BY county, name, id LIMIT 1 OFFSET 7)")
                page.wait_for_timeout(350)
            page.screenshot(path=ROOT / "docs" / name)
            page.close()
            print(ROOT / "docs" / name)
    finally:
        browser.close()
        demo.stop()
