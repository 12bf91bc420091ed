"""Puts the mutations of a list into a copy of the sources, and prints their names: `mutations.py COPY LIST`. With `--check`, only looks
whether the sources have what each of all lists takes away.

A mutation is three lines: `name file`, with the file below Sources, a piece of text that the file has once, and what stands in its
place; then an empty line. `OFF` stands for whether the mutation is on.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def mutations(listing):
    """The name, file, old text and new text of each mutation."""
    for block in listing.read_text().strip().split("\n\n"):
        head, old, new = block.split("\n")
        yield *head.split(), old, new


def mistake(sources, name, file, old):
    """What is wrong with a mutation; nothing: None."""
    path = sources / file
    count = path.read_text().count(old) if path.exists() else 0
    return None if count == 1 else f"{name}: {path} has it {count} times: {old}"


def check():
    every = [each for listing in sorted((ROOT / "scripts/mutations").glob("*.txt")) for each in mutations(listing)]
    mistakes = list(filter(None, (mistake(ROOT / "Sources", name, file, old) for name, file, old, _ in every)))
    print("\n".join(f"error: {each}" for each in mistakes) or f"{len(every)} mutations can be made")
    return 1 if mistakes or not every else 0


def mutate(copy, listing):
    sources = copy / "Sources"
    modules = set()
    for name, file, old, new in mutations(listing):
        if wrong := mistake(sources, name, file, old):
            sys.exit(wrong)
        path = sources / file
        path.write_text(path.read_text().replace(old, new.replace("OFF", f'isOff("{name}")')))
        modules.add("/".join(file.split("/")[:2]))
        print(name)
    for module in modules:
        (sources / module / "Mutation.swift").write_text(
            """import Glibc

private let mutation = getenv("MUTATION").map { String(cString: $0) } ?? ""

func isOff(_ name: String) -> Bool { mutation == name }
"""
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    mutate(*map(pathlib.Path, sys.argv[1:]))
