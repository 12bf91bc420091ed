#!/usr/bin/env python3
"""Checks which way the sources point.

- A module imports modules of its own floor (Package.swift, `Floor`) and of the floors under it, none of them in a circle.
- Of two folders of a module at most one names types of the other.
- Files of CGateway include what stands above them in gateway.h, and of `struct gateway` touch what files above them, or they themselves, own.
- The functions of docs/architecture.md, of a change and of a subscription, are there; forty and twenty at most.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMPORT = re.compile(r"^(?:@\w+ )*(?:public |package |internal )?import (?:struct |class |enum |func )?(\w+)", re.M)
TYPE = re.compile(
    r"^(?:(?:public|package|private|fileprivate|internal|final|indirect) )*"
    r"(?:struct|class|enum|actor|protocol|typealias) ([A-Z]\w*)", re.M)
IGNORED = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')


def circle(imports):
    """The modules that import each other in a circle; None if there is no circle."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module):]
        if module in done:
            return None
        path.append(module)
        found = next(filter(None, map(visit, sorted(imports.get(module, ())))), None)
        path.pop()
        done.add(module)
        return found

    return next(filter(None, map(visit, sorted(imports))), None)


def walk():
    """The errors in the walks of a change and of a subscription through their functions."""
    text = (ROOT / "docs/architecture.md").read_text()
    named = []
    for title, most in [("### By its functions", 40), ("### A subscription, by its functions", 20)]:
        functions = re.findall(r"`(\w+)\.(\w+)`", re.split(r"\n##", text.partition(title)[2])[0])
        if not 0 < len(functions) <= most:
            yield f"{title}: there are {len(functions)} functions"
        named += functions
    bodies = collections.defaultdict(str)
    for file in ROOT.glob("Sources/**/*.swift"):
        text = file.read_text()
        for name in set(TYPE.findall(text)) | set(re.findall(r"^(?:package |public )?extension (\w+)", text, re.M)):
            bodies[name] += text
    for owner, name in named:
        if not re.search(rf"\b(?:func|var) {name}\b", bodies[owner]):
            yield f"docs/architecture.md names {owner}.{name}, which is not there"


def gateway():
    """The errors in the order of CGateway's files."""
    folder = ROOT / "Sources/Network/CGateway"
    text = (folder / "gateway.h").read_text()
    order = re.findall(r"^ \*   (\w+)\.c +\S", text, re.M)
    place = {name: number for number, name in enumerate(order)}
    if missing := {file.stem for file in folder.glob("*.c")} ^ place.keys():
        yield f"CGateway/gateway.h lists the files in their order: {', '.join(sorted(missing))}"
        return
    fields = re.search(r"^struct gateway \{$(.*?)^\};$", text, re.M | re.S)[1]
    owned = set(re.findall(r"^  \} (\w+);", fields, re.M))
    owners = {name: {"exchanges": "exchange", "channels": "channel", "connections": "connection", "streams": "stream",
                     "life": "context"}.get(name, name) for name in owned}
    for name in order:
        source = (folder / f"{name}.c").read_text()
        for included in re.findall(r'^#include "(\w+)\.h"', source, re.M):
            if place.get(included, -1) > place[name]:
                yield f"CGateway/{name}.c includes {included}.h, which is below it"
        for group in set(re.findall(r"gateway->(\w+)\.", IGNORED.sub("", source))) & owned:
            if place.get(owners[group], -1) > place[name]:
                yield f"CGateway/{name}.c touches gateway->{group}, which {owners[group]}.c below it owns"


def main():
    floors = re.findall(r'^  case \w+ = "(\w+)"', (ROOT / "Package.swift").read_text(), re.M)
    place = {folder.name: floors.index(folder.parent.name) for folder in ROOT.glob("Sources/*/*/")}
    if not floors or not place:
        sys.exit("no floors in Package.swift, or no modules in Sources")
    mistakes = []
    imports = collections.defaultdict(set)
    for module in place:
        base = ROOT / "Sources" / floors[place[module]] / module
        types, words = {}, collections.defaultdict(set)
        for file in sorted(base.rglob("*.swift")):
            text = IGNORED.sub("", file.read_text())
            for name in IMPORT.findall(text):
                if name == module or name not in place:
                    continue
                imports[module].add(name)
                if place[name] > place[module]:
                    mistakes.append(f"{file.relative_to(ROOT)} imports {name}, which is of a higher floor")
            folder = file.relative_to(base).parts[0] if file.parent != base else None
            if folder:
                types.update((name, folder) for name in TYPE.findall(text))
                words[folder].update(re.findall(r"\b[A-Z]\w*", text))
        uses = {(one, types[word]) for one in words for word in words[one] if types.get(word, one) != one}
        pairs = {(one, other) for one, other in uses if one < other and (other, one) in uses}
        mistakes += [f"{module}: {one} and {other} point at each other" for one, other in sorted(pairs)]
    if found := circle(imports):
        mistakes.append(f"modules in a circle: {' -> '.join(found)}")
    mistakes += walk()
    mistakes += gateway()
    print("\n".join(f"error: {mistake}" for mistake in mistakes) or f"{len(place)} modules point one way")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
