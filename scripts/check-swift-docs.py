#!/usr/bin/env python3
"""Compiles every Swift block of the libraries' articles and of README.md against the modules of the debug build.

Each block is the body of a function that knows `database`, `controller` and a few types, so that articles need not repeat them.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBUG = ROOT / ".build/debug"
KNOWN = """
struct Bank: Decodable, Sendable { var id: Int, name: String, state: String }
struct Player: Codable, FetchableRecord, MutablePersistableRecord, Sendable { var id: Int64?, name: String, score: Int, team: String }
struct Session: Sendable { func token() async throws -> String { "" } }
let session = Session()
struct ClosedBank: Decodable, Sendable { var id: Int, name: String, state: String, closed: String }
extension ClosedBank: FetchableRecord {}
final class TableViewUpdates: FetchedResultsControllerDelegate { typealias Element = ClosedBank }
let tableViewUpdates = TableViewUpdates()
@MainActor func show(_ sections: [(state: String, banks: [ClosedBank])]) {}
"""


def blocks(path):
    """The line and text of each Swift block."""
    lines = path.read_text().split("\n")
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and line == "```swift":
            start = number
        elif start is not None and line == "```":
            yield start, "\n".join(lines[start:number - 1])
            start = None


def source(path, text):
    isRemote = "RemoteDatabase" in text and "LiveDatabase" not in text
    imports = ["Foundation", "Observation", "FreshetClient" if isRemote else "Freshet"] + ([] if isRemote else ["GRDB"])
    known = KNOWN if not isRemote else "\n".join(line for line in KNOWN.split("\n") if "FetchableRecord" not in line)
    kind = "RemoteDatabase" if isRemote else "LiveDatabase"
    return ("".join(f"import {name}\n" for name in imports) + known
            + f"@MainActor func snippet(database: {kind}, controller: FetchedResultsController<ResultRow>) async throws {{\n{text}\n}}\n")


def flags():
    """Where modules are; those in C by their maps."""
    maps = [*ROOT.glob("Sources/**/module.modulemap"), *(ROOT / ".build/checkouts").glob("*/Sources/**/module.modulemap"),
            *DEBUG.glob("*.build/module.modulemap")]
    return [f"-I{DEBUG / 'Modules'}"] + [flag for path in maps for flag in ("-Xcc", f"-fmodule-map-file={path}")]


def main():
    articles = sorted(ROOT.glob("Sources/*/*/*.docc/*.md")) + [ROOT / "README.md", ROOT / "docs/side-by-side.md"]
    found = [(path, line, text) for path in articles for line, text in blocks(path)]
    arguments = ["swiftc", "-typecheck", "-swift-version", "6", "-suppress-warnings", *flags()]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path, line, text in found:
            file = pathlib.Path(folder) / "snippet.swift"
            file.write_text(source(path, text))
            result = subprocess.run([*arguments, str(file)], capture_output=True, text=True)
            if result.returncode:
                failed += 1
                errors = [re.sub(r"^.*?snippet\.swift:", "snippet:", row) for row in result.stderr.split("\n") if "error:" in row]
                print(f"failed  {path.relative_to(ROOT)}:{line}\n        " + "\n        ".join(errors[:8]))
    print(f"{len(found) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not found else 0)


main()
