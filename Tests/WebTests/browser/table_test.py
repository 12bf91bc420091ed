#!/usr/bin/env python3
"""The table browser in a real browser, over files of several kinds (see table_files.py, table_chinook.py, table_forms.py, table_sql.py, table_wide.py, table_truth.py and table_million.py).

Arguments pick tests: words of their names. The last line is "N passed, N failed".
"""
import sys
import tempfile

import table_access
import table_activity
import table_chinook
import table_deleting
import table_editing
import table_files
import table_focus
import table_forms
import table_looks
import table_million
import table_selection
import table_sql
import table_states
import table_summary
import table_truth
import table_views
import table_wide
from harness import chromium, run
from table_page import TablePage, WritingServer


def main():
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        northwind = table_files.northwind(folder)
        with WritingServer(northwind, "--allow-writes") as server:
            page = TablePage(browser.new_page(viewport={"width": 1280, "height": 800}))
            failed = run(table_views.TESTS, lambda: None, page, server)
            failed += run(table_access.TESTS + table_focus.TESTS + table_summary.TESTS, lambda: None, browser, server)
            failed += run(table_editing.TESTS, lambda: None, page, server)
        failed += run(table_activity.TESTS, lambda: None, browser, northwind)
        for module in (table_chinook, table_deleting, table_selection, table_forms, table_sql, table_wide, table_truth, table_million):
            with module.serve(folder) as server:
                failed += run(module.TESTS, lambda: None, browser, server)
        failed += run(table_looks.TESTS, lambda: None, browser, folder)
        failed += run(table_states.TESTS, lambda: None, browser, folder, northwind)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
