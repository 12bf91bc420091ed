#!/usr/bin/env python3
"""Writes docs/rules.md: each rule whose loss scripts/mutate.sh tries, its source, and the tests that guard it.

    scripts/rules.py            writes the page
    scripts/rules.py --check    an error where the page is old, a test names an unknown rule, or a page names a missing test

scripts/mutations has the rules. A test says which ones it guards in a comment above it, `// Rules of capture: went-back, padding`. The
suites that mutate.sh runs for a list guard all of its rules.
"""

import collections
import pathlib
import re
import sys

import mutations

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/rules.md"
TITLES = {
    "access": "Rights of roles", "aggregates": "Aggregates, subqueries and windows", "capture": "Change capture",
    "feed": "The feed of changes", "journal": "State for the next process", "lists": "Lists and totals",
    "machine": "States of a list, and requests",
    "records": "Rows read from pages", "self-check": "The self-check",
}
# Pages that name tests in code: each name must be that of a suite, a module of tests, or a file.
NAMING = ["docs/architecture.md", "docs/queries.md", "docs/reliability.md", "docs/threat-model.md"]


def lists():
    """Rules by list: name and file."""
    for listing in sorted((ROOT / "scripts/mutations").glob("*.txt")):
        yield listing.stem, [(name, file) for name, file, _, _ in mutations.mutations(listing)]


def suites():
    """The suites that mutate.sh runs for each list: those of each round."""
    text = (ROOT / "scripts/mutate.sh").read_text()
    for name, quick, long in re.findall(r"^([\w-]+)\)\n  quick='?([\w|]+)'?\n  long='?([\w|]+)'?$", text, re.M):
        yield name, (quick.split("|"), long.split("|"))


def tags():
    """List, rule, and the test that guards it, with its file."""
    for file in sorted(ROOT.glob("Tests/**/*.swift")):
        lines = file.read_text().splitlines()
        for number, line in enumerate(lines):
            if not (found := re.match(r" *// Rules of ([\w-]+): (.*)$", line)):
                continue
            names, place = found[2], number + 1
            while re.match(r" *// \S", lines[place]) and names.rstrip().endswith(","):
                names += " " + lines[place].strip().lstrip("/ ")
                place += 1
            test = next(filter(None, (re.search(r"\bfunc (`[^`]+`|\w+)", each) for each in lines[place:])))[1]
            for rule in names.split(","):
                yield found[1], rule.strip(), test.strip("`"), file


def page():
    guards = collections.defaultdict(list)
    for listing, rule, test, file in tags():
        guards[listing, rule].append(f"{file.stem}: {test}")
    rounds = dict(suites())
    lines = [
        "# Rules and their tests", "",
        "`scripts/rules.py` writes this page. Each rule is a line of code that must not be lost; `scripts/mutate.sh LIST` drops the rules of a",
        "list one at a time and shows which test notices. A test that guards a rule in particular says so in a comment.",
        "[Architecture](architecture.md#what-proves-it) has the claims that these rules add up to.", ""]
    for listing, rules in lists():
        quick, long = rounds[listing]
        lines += [
            f"## {TITLES[listing]}", "",
            f"`scripts/mutate.sh {listing}`: {len(rules)} rules. Guarded by {', '.join(quick)}; at length by {', '.join(long)}.", "",
            "| rule | in | tests of its own |", "|---|---|---|"]
        for name, file in rules:
            link = f"[{pathlib.Path(file).stem}](../Sources/{file})"
            lines.append(f"| {name} | {link} | {'; '.join(guards[listing, name]) or '–'} |")
        lines.append("")
    return "\n".join(lines)


def mistakes(text):
    known = {(listing, name) for listing, rules in lists() for name, _ in rules}
    for listing, rule, test, file in tags():
        if (listing, rule) not in known:
            yield f"{file.relative_to(ROOT)}: {test}: there is no rule {rule} in scripts/mutations/{listing}.txt"
    if PAGE.read_text() != text:
        yield "docs/rules.md is old: run scripts/rules.py"
    files = {file.stem for pattern in ["Tests/**/*.swift", "Tests/WebTests/**/*.*js"] for file in ROOT.glob(pattern)}
    tests = files | {folder.name for folder in ROOT.glob("Tests/**/*Tests")}
    for name, both in suites():
        for suite in sum(both, []):
            if suite not in tests:
                yield f"scripts/mutate.sh: {name} runs {suite}, which does not exist"
    for name in NAMING:
        for test in set(re.findall(r"`(\w+Tests)`", (ROOT / name).read_text())):
            if test not in tests:
                yield f"{name}: there are no tests {test}"


def main():
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
    found = list(mistakes(text))
    print("\n".join(f"error: {mistake}" for mistake in found) or f"{sum(len(rules) for _, rules in lists())} rules have their tests")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
