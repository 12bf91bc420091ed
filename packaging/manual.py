#!/usr/bin/env python3
"""manual.py PROGRAM VERSION > freshet.1: the manual page, from what the program's --help says of itself."""
import json
import re
import subprocess
import sys


def roff(text):
    """Plain text as roff: nothing in it is taken for a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return "\n".join(r"\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def name(argument):
    """How an argument is written."""
    value = argument.get("valueName", "value")
    if argument["kind"] == "positional":
        return rf"\fI{roff(value)}\fR"
    names = ", ".join(r"\fB" + roff(("--" if each["kind"] == "long" else "-") + each["name"]) + r"\fR" for each in argument["names"])
    return names if argument["kind"] == "flag" else rf"{names} \fI{roff(value)}\fR"


def paragraphs(text):
    """Examples are lines by themselves; all else is filled."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in paragraph.split("\n")]
        if all(line.startswith("freshet ") for line in lines):
            yield ".PP\n.nf\n.RS\n" + "\n".join(roff(line) for line in lines) + "\n.RE\n.fi"
        else:
            yield ".PP\n" + roff(" ".join(lines))


def command(described, path):
    title = " ".join(path)
    yield f".SS {roff(title)}"
    yield roff(described.get("abstract", ""))
    yield from paragraphs(described["discussion"]) if described.get("discussion") else ()
    for argument in described.get("arguments", []):
        if argument.get("shouldDisplay") and argument["kind"] in ("positional", "option", "flag"):
            yield f".TP\n{name(argument)}\n{roff(argument.get('abstract') or '')}"


def main():
    program, version = sys.argv[1:3]
    described = json.loads(subprocess.run([program, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout)
    root = described["command"]
    lines = [f'.TH FRESHET 1 "" "Freshet {version}"', ".SH NAME", roff("freshet - live, sectioned lists from any SQLite file"),
             ".SH SYNOPSIS", r"\fBfreshet\fR \fIcommand\fR [\fIoptions\fR]", ".SH COMMANDS"]
    for each in root["subcommands"]:
        if each.get("shouldDisplay", True) and each["commandName"] != "help":
            lines += command(each, ["freshet", each["commandName"]])
    lines += [".SH FILES", ".TP", r"\fI/etc/freshet/freshet.yaml\fR", "What the systemd service serves.",
              ".TP", r"\fI/var/lib/freshet\fR", "Its databases.",
              ".TP", r"\fI/var/lib/freshet/state\fR", "What the service knows of them, for its next start.",
              ".TP", r"\fI~/.local/state/freshet\fR", "What other servers know of theirs."]
    print("\n".join(lines))


main()
