#!/usr/bin/env python3
"""The demo page in a real browser against a real server and a real database (see harness.py).

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import sys
import tempfile

import demo_views
import demo_wells
from demo_page import DemoPage
from harness import Demo, chromium, run


def main():
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        demo = Demo(folder)
        demo.start()
        page = DemoPage(browser.new_page(viewport={"width": 1280, "height": 800})).open(demo)
        failed = run(demo_wells.TESTS + demo_views.TESTS, page.top, page, demo)
        demo.stop()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
