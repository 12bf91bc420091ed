#!/usr/bin/env python3
"""`<live-list>` in a real browser against a real server and a real database (see harness.py).

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import sys
import tempfile

import element_cases
from element_page import ListPage
from harness import ROOT, Demo, chromium, public_with, run

PAGES = ROOT / "Tests" / "WebTests" / "pages"


def main():
    with tempfile.TemporaryDirectory() as folder, public_with(*PAGES.iterdir()) as public, \
            Demo(folder, public) as demo, chromium() as browser:
        page = ListPage(browser.new_page(viewport={"width": 1000, "height": 700})).open(demo)
        return run(element_cases.TESTS, lambda: page.scroll(0), page, demo) > 0


if __name__ == "__main__":
    sys.exit(main())
