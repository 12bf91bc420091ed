#!/usr/bin/env python3
"""write-numbers.py

Writes the measurements of docs/benchmarks/README.md and of README.md from Benchmarks/results.json, what a whole
`make bench` has measured.
"""
import datetime
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "Benchmarks/Sources/FreshetBench"
USUAL = 244_292
BEGIN, END = "<!-- numbers: scripts/write-numbers.py -->\n", "<!-- end of numbers -->\n"


def short(value: float) -> str:
    """Three significant digits, as `make bench` prints them."""
    if abs(value) >= 100:
        return f"{round(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


class Run:
    """A whole run, with what it found."""

    def __init__(self, path: pathlib.Path) -> None:
        run = json.loads(path.read_text())
        self.machine, self.findings, self.failures = run["machine"], run["findings"], run["failures"]
        self.date = datetime.datetime.fromisoformat(run["date"]).date()
        missing = [name for name, _ in benchmarks() if not any(found["benchmark"] == name for found in self.findings)]
        if missing:
            sys.exit(f"{path} lacks {', '.join(missing)}: was it a whole run?")

    def of(self, benchmark: str) -> list[dict]:
        return [found for found in self.findings if found["benchmark"] == benchmark]

    def all(self, benchmark: str, name: str) -> list[dict]:
        """Those whose names begin so; names of parts are indented."""
        fitting = [found for found in self.of(benchmark) if found["name"].strip().startswith(name)]
        return fitting or sys.exit(f"{benchmark} has no finding {name}")

    def worst(self, benchmark: str, name: str) -> dict:
        """The largest of those whose names begin so, at the usual size where there is one."""
        fitting = self.all(benchmark, name)
        usual = [found for found in fitting if found.get("rows") == USUAL]
        return max(usual or fitting, key=lambda found: found["median"])

    def median(self, benchmark: str, name: str) -> str:
        found = self.worst(benchmark, name)
        return f"{short(found['median'])} {found['unit']}"

    def sides(self, benchmark: str, name: str) -> tuple[str, str]:
        """Both sides of a comparison."""
        found = self.worst(benchmark, name)
        return tuple(f"{short(found[side])} {found['sidesUnit']}" for side in ("subject", "baseline"))


def benchmarks() -> list[tuple[str, str]]:
    """Names, and what they guard, in the order of a run."""
    listed = re.search(r"let benchmarks: .*? = \[(.*?)\n\]", (SOURCES / "main.swift").read_text(), re.DOTALL)
    return [claim(type_name) for type_name in re.findall(r"(\w+)\.self", listed[1])]


def claim(type_name: str) -> tuple[str, str]:
    """The name of a benchmark, and what its comment says that it guards."""
    source = (SOURCES / f"Benchmarks/{type_name}.swift").read_text()
    name = re.search(r'static let name = "([\w-]+)"', source)[1]
    comment = re.search(r"((?:^/// .*\n)+)enum " + type_name, source, re.MULTILINE)[1]
    return name, " ".join(line.removeprefix("/// ") for line in comment.splitlines())


def attacks(run: Run, is_burst: bool) -> list[dict]:
    """A list's delays while other clients do something: many requests at once, which may take a list longer, or slow queries."""
    return [found for found in run.of("isolation") if found["name"].endswith(": p99") and (found.get("goal") == "≤ 100") == is_burst
            and not found["name"].startswith("quiet")]


def felt(run: Run) -> str:
    """The table of what a user feels: texts, values, and values to compare them with."""
    latency, fast = run.sides("latency", "p50"), run.sides("latency", "p99")
    window = run.sides("open", "window of 50 of an open list")
    cold, whole = run.sides("open", "cold"), run.sides("open", "whole result of an open list")
    paced = run.all("paced", "a commit, one ")
    sustained = run.sides("sustained", "one-row commits, synchronous=NORMAL")
    rates = [found for found in run.of("throughput") if "sidesUnit" in found]
    slowest = min(rates, key=lambda found: found["subject"])
    queries, bursts = (max(attacks(run, is_burst), key=lambda found: found["median"]) for is_burst in (False, True))
    rows = [
        ("COMMIT in another process to the patch in a client's hands, p50 / p99", f"{latency[0]} / {fast[0]}",
         f"{latency[1]} / {fast[1]}: 200 bytes from a server in C that does nothing else"),
        (f"a list of {USUAL:,} rows is opened the first time", cold[0], f"{cold[1]}: SQLite stepping through keys and sort values"),
        ("the next client sees its first 50 rows", window[0], f"{window[1]}: SQLite's `LIMIT 50` along an index"),
        ("the next client receives all of it", whole[0], f"{whole[1]}: SQLite stepping through all columns"),
        *((f"a list's delay meanwhile, p99, in the worst case: {found['name'].removesuffix(': p99')}", f"{short(found['median'])} ms",
           f"{run.median('isolation', 'quiet: p99')}: no other client") for found in (queries, bursts)),
        ("a writer's commit, one every " + " / ".join(re.search("every (.*):", found["name"])[1] for found in paced),
         " / ".join(short(found["subject"]) for found in paced) + " µs",
         " / ".join(short(found["baseline"]) for found in paced) + " µs: the file is not watched"),
        ("commits of a writer at full speed that does not wait for its disk", sustained[0], f"{sustained[1]}: the file is not watched"),
        (f"commits that reach 100 clients within 100 ms ({slowest['name'].split(':')[0]}, the slowest profile)",
         f"{short(slowest['subject'])} {slowest['sidesUnit']}", f"{short(slowest['baseline'])} {slowest['sidesUnit']}: the writer alone"),
        ("10,000 changes a second for 1,000 clients: age of a change when it arrives, p99",
         run.median("overload", "from a change to the client, p99"), ""),
        ("memory of an open list", run.median("memory", "an open list"),
         run.sides("memory", "against an array of structs")[1] + ": an array of Swift structs"),
        ("memory of a further subscriber / of a connection with a list of its own",
         f"{run.median('memory', 'one more subscriber')} / {run.median('idle', 'memory for each')}", ""),
        ("after a restart, 1,000,000 rows: the kept state is read / the first tick, if whole tables are compared",
         f"{run.median('restart', 'reading and checking')} / {run.median('restart', 'first tick where tables are compared')}",
         f"{run.median('restart', 'SQLite stepping')}: SQLite stepping through the table"),
    ]
    return "| | measured | to compare with |\n|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def cell(found: dict, unit: str = "") -> str:
    return short(found["median"]) + unit + (" ({}–{})".format(*map(short, found["quartiles"])) if found["rounds"] > 1 else "")


def sides(found: dict) -> str:
    return f"{short(found['subject'])} against {short(found['baseline'])} {found['sidesUnit']}" if "sidesUnit" in found else ""


def verdict(findings: list[dict]) -> str:
    """The goal, and whether all reached it."""
    judged = [found for found in findings if "goal" in found]
    if not judged:
        return ""
    met = [found for found in judged if found["isMet"]]
    counted = f"{len(judged) - len(met)} of {len(judged)} **missed**" if 0 < len(met) < len(judged) else ""
    return f"{judged[0]['goal']} {counted or ('met' if met else '**missed**')}"


def table(findings: list[dict]) -> str:
    """A line for each finding; those of several sizes are one line."""
    lines: dict[tuple[str, str], list[dict]] = {}
    whole = ""
    for found in findings:
        if not found["name"].startswith(" "):
            whole = found["name"]
        lines.setdefault((whole, found["name"]), []).append(found)
    sizes = sorted({found["rows"] for found in findings if "rows" in found})
    if max(map(len, lines.values())) == 1:
        head = "| | measured | both sides | goal |\n|---|---|---|---|\n"
        return head + "".join(single(name, found, len(sizes) > 1) for (_, name), [found] in lines.items())
    head = f"| rows | {' | '.join(f'{size:,}' for size in sizes)} | goal |\n|---|{'---|' * len(sizes)}---|\n"
    return head + "".join(of_sizes(name, found, sizes) for (_, name), found in lines.items())


def single(name: str, found: dict, has_rows: bool) -> str:
    place = f", {found['rows']:,} rows" if has_rows and "rows" in found else ""
    return f"| {titled(name)}{place} | {cell(found, ' ' + found['unit'])} | {sides(found)} | {verdict([found])} |\n"


def of_sizes(name: str, found: list[dict], sizes: list[int]) -> str:
    """A finding without a size stands below the largest."""
    by_size = {each.get("rows", sizes[-1]): each for each in found}
    cells = [", ".join(filter(None, [cell(each), sides(each)])) if (each := by_size.get(size)) else "" for size in sizes]
    return f"| {titled(name)}, {found[0]['unit']} | {' | '.join(cells)} | {verdict(found)} |\n"


def titled(name: str) -> str:
    """The name of a finding; a part of another is set off."""
    return f"– {name.strip()}" if name.startswith(" ") else name


def page(run: Run) -> str:
    judged = [found for found in run.findings if "isMet" in found]
    met = sum(found["isMet"] for found in judged)
    parts = [
        f"One run of `make bench` on {run.date:%d %B %Y}, on a virtual machine ({run.machine}): {met} of {len(judged)} goals met.\n",
        *(f"`{name}` ended early, and lacks what it would have measured then: {reason}.\n" for name, reason in run.failures.items()),
        f"## What a user feels\n\nLists have {USUAL:,} rows unless said.\n\n{felt(run)}",
        "## What an engine engineer asks\n\nEach benchmark by its name for `ONLY=`; its text and its goals are those of its source.\n",
    ]
    parts += [f"### {name}\n\n{text}\n\n{table(run.of(name))}" for name, text in benchmarks()]
    return "\n".join(parts)


def summary(run: Run) -> str:
    """The numbers of README.md."""
    growth = max(found["median"] for found in run.all("change", "growth of"))
    kinds = [run.worst("change", f"{kind}, p50") for kind in ("content", "sort", "section", "insert", "delete")]
    latency, late = run.worst("latency", "p50"), run.worst("latency", "p99")
    delays = [found["median"] for found in attacks(run, is_burst=False)]
    paced = [found["median"] for found in run.all("paced", "a commit, one ")]
    memory = [found["median"] for found in run.all("memory", "an open list")]
    lines = [
        f"**A change costs the same in a list of 1,000 and of 1,000,000 rows** ({short(growth)} times at most): in one of {USUAL:,},\n"
        f"  at most {short(max(found['median'] for found in kinds))} µs from its commit to the patch; in a client's hands after {short(latency['subject'])} µs (p50), {short(late['subject'])} µs (p99).",
        f"**No list waits for another**: while others run recursive queries, cross joins or open 2,000,000 rows whole, the 99th percentile of\n"
        f"  a list's delay is {short(max(delays))} ms at worst, {run.median('isolation', 'quiet: p99')} alone.",
        f"**Writers do not notice**: a commit takes {short(min(paced))} to {short(max(paced))} times as long as on a file that is not watched.",
        f"An open list takes {round(min(memory))} to {round(max(memory))} bytes a row, a further subscriber of it {run.median('memory', 'one more subscriber')}, and an idle\n"
        f"  connection with a list of its own {run.median('idle', 'memory for each')}.",
    ]
    return "".join(f"- {line}\n" for line in lines)


def write(path: str, text: str) -> None:
    before = (ROOT / path).read_text()
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{path} has no place for numbers: {BEGIN.strip()} … {END.strip()}")
    (ROOT / path).write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")


def main() -> None:
    run = Run(ROOT / "Benchmarks/results.json")
    write("docs/benchmarks/README.md", page(run))
    write("README.md", summary(run))


if __name__ == "__main__":
    main()
