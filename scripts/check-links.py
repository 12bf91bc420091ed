#!/usr/bin/env python3
"""Whether every link from one page of the project to another leads to a file, and to a heading where it names one."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def anchors(page):
    """The anchors that GitHub gives a page's headings."""
    for heading in re.findall(r"^#+ (.*)$", page.read_text(), re.M):
        yield re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def mistakes():
    pages = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    for page in map(ROOT.joinpath, pages):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, anchor = target.partition("#")
            if re.match(r"\w+:", target) or ".docc/" in str(page):
                continue
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield f"{page.relative_to(ROOT)}: there is no {target}"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield f"{page.relative_to(ROOT)}: there is no heading {target}"


def main():
    found = list(mistakes())
    print("\n".join(f"error: {mistake}" for mistake in found) or "all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
