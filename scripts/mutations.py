"""Puts the mutations of a list into a copy of the sources, and prints their names.

A mutation is three lines: `name file`, with the file below Sources, a piece of text that the file has once, and what stands in its
place; then an empty line. `OFF` stands for whether the mutation is on.
"""

import pathlib
import sys

copy, listing = map(pathlib.Path, sys.argv[1:])
sources = copy / "Sources"
modules = set()
for block in listing.read_text().strip().split("\n\n"):
    head, old, new = block.split("\n")
    name, file = head.split()
    path = sources / file
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"{name}: {path} has it {text.count(old)} times: {old}")
    path.write_text(text.replace(old, new.replace("OFF", f'isOff("{name}")')))
    modules.add("/".join(file.split("/")[:2]))
    print(name)
for module in modules:
    (sources / module / "Mutation.swift").write_text(
        """import Glibc

private let mutation = getenv("MUTATION").map { String(cString: $0) } ?? ""

func isOff(_ name: String) -> Bool { mutation == name }
"""
    )
