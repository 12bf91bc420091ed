#!/usr/bin/env python3
"""Compiles every Swift block of the libraries' articles, of README.md and of docs against the modules of the debug build.

- A block is the body of a function that knows `database`, `controller` and a few types, so that articles need not repeat them.
- A block that imports UIKit or SwiftUI is a whole file. It is compiled against the stand-ins in Tests/Support/AppleStubs.
- A block that begins with `// swift-tools-version` is a Package.swift. It must name this package, its products and its platforms as
  the project's own Package.swift does.
"""
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBUG = ROOT / ".build/debug"
STUBS = ROOT / "Tests/Support/AppleStubs"
IS_WHOLE = re.compile(r"^import (UIKit|SwiftUI)$", re.MULTILINE)
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


def source(text):
    """A file around the body of a function."""
    isRemote = "RemoteDatabase" in text and "LiveDatabase" not in text
    imports = ["Foundation", "Observation", "FreshetClient" if isRemote else "Freshet"] + ([] if isRemote else ["GRDB"])
    known = KNOWN if not isRemote else "\n".join(line for line in KNOWN.split("\n") if "FetchableRecord" not in line)
    kind = "RemoteDatabase" if isRemote else "LiveDatabase"
    return ("".join(f"import {name}\n" for name in imports) + known
            + f"@MainActor func snippet(database: {kind}, controller: FetchedResultsController<ResultRow>) async throws {{\n{text}\n}}\n")


def flags():
    """The options with which the compiler finds modules; C modules are found by their maps."""
    maps = [*ROOT.glob("Sources/**/module.modulemap"), *(ROOT / ".build/checkouts").glob("*/Sources/**/module.modulemap"),
            *DEBUG.glob("*.build/module.modulemap")]
    return [f"-I{DEBUG / 'Modules'}"] + [flag for path in maps for flag in ("-Xcc", f"-fmodule-map-file={path}")]


def make_stubs(folder):
    """Makes the modules UIKit and SwiftUI in a folder."""
    for module in sorted(path for path in STUBS.iterdir() if path.is_dir()):
        files = [str(path) for path in sorted(module.glob("*.swift"))]
        to = str(folder / f"{module.name}.swiftmodule")
        subprocess.run(["swiftc", "-emit-module", "-parse-as-library", "-swift-version", "6", "-module-name", module.name,
                        "-emit-module-path", to, *files], check=True)


def compiler_errors(text, folder):
    """The compiler's errors for a block."""
    file = folder / "snippet.swift"
    is_whole = IS_WHOLE.search(text) is not None
    file.write_text(text if is_whole else source(text))
    arguments = ["swiftc", "-typecheck", "-swift-version", "6", "-suppress-warnings", f"-I{folder}", *flags()]
    result = subprocess.run([*arguments, *(["-parse-as-library"] if is_whole else []), str(file)], capture_output=True, text=True)
    if result.returncode == 0:
        return []
    rows = [row for row in result.stderr.split("\n") if "error:" in row]
    return [re.sub(r"^.*?snippet\.swift:", "snippet:", row) for row in rows] or result.stderr.split("\n")


def manifest(folder):
    """A Package.swift as data."""
    result = subprocess.run(["swift", "package", "--package-path", str(folder), "dump-package"], capture_output=True, text=True)
    if result.returncode:
        raise ValueError(result.stderr)
    return json.loads(result.stdout)


@functools.cache
def own_manifest():
    return manifest(ROOT)


def package_errors(text, folder):
    """The mistakes in a Package.swift of a program that uses this package."""
    own = own_manifest()
    place = folder / "program"
    place.mkdir(exist_ok=True)
    (place / "Package.swift").write_text(text)
    try:
        package = manifest(place)
    except ValueError as error:
        return str(error).split("\n")
    errors = []
    paths = [pathlib.Path(each["path"]).name for item in package["dependencies"] for each in item.get("fileSystem", [])]
    if own["name"] not in paths:
        errors.append(f"depends on {paths}, and not on a folder {own['name']}")
    libraries = {product["name"] for product in own["products"] if "library" in product["type"]}
    wanted = [item["product"][:2] for target in package["targets"] for item in target["dependencies"] if "product" in item]
    errors += [f"{name} of {owner} is none of {sorted(libraries)}" for name, owner in wanted if owner == own["name"] and name not in libraries]
    if not any(owner == own["name"] for _, owner in wanted):
        errors.append("no target uses a product")
    least = {each["platformName"]: float(each["version"]) for each in own["platforms"]}
    for each in package["platforms"]:
        if float(each["version"]) < least.get(each["platformName"], float("inf")):
            errors.append(f"{each['platformName']} {each['version']}: the libraries need {least}")
    if not package["platforms"]:
        errors.append(f"says no platforms: the libraries need {least}")
    return errors


def main():
    articles = sorted(ROOT.glob("Sources/*/*/*.docc/*.md")) + [ROOT / "README.md"] + sorted(ROOT.glob("docs/**/*.md"))
    found = [(path, line, text) for path in articles for line, text in blocks(path)]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_stubs(folder)
        for path, line, text in found:
            check = package_errors if text.startswith("// swift-tools-version") else compiler_errors
            if errors := check(text, folder):
                failed += 1
                print(f"failed  {path.relative_to(ROOT)}:{line}\n        " + "\n        ".join(errors[:8]))
    print(f"{len(found) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not found else 0)


main()
