#!/usr/bin/env python3
"""Lists sentences that a reader has to read twice, and comments of more than 120 columns.

    scripts/prose.py [FILE…]            compares what is found with the list of exceptions, scripts/prose.txt
    scripts/prose.py --list [FILE…]     prints each finding: file, line, words, and what to write in their place
    scripts/prose.py --shorten          takes from the list what is mended; it never adds
    scripts/prose.py --sample N [SEED]  prints N random comments, to be read

Read are comments of Swift, C, JavaScript, Python and shell scripts, their messages (strings of several words), and pages in Markdown.
The list has a line for each file and kind, "COUNT KIND FILE", and may only shrink: a new finding is an error, and so is a count that is
too high.
"""

import collections
import io
import pathlib
import random
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / "scripts/prose.txt"
COLUMNS = 120
# What is read, by the ending of its name, and how a comment begins there.
ENDINGS = {**dict.fromkeys(["swift", "c", "h", "js", "mjs", "ts", "tsx", "css"], "//+"), "py": "#+:?", "sh": "#+", "md": None}
SKIPPED = re.compile(r"\.min\.js$|\.min\.css$|/corpora/|^Tests/Fixtures/|^docs/rules\.md$|^scripts/(?:test-)?prose\.py$")

# The start of a text, or of a sentence in it.
START = r"(?:\A|(?<=[.:;!] ))"
PATTERNS = [(re.compile(pattern), advice) for pattern, advice in [
    (r"\b(?i:told)\b|\btells? (?:of|nothing|nobody)\b", "says, reports, names, is notified"),
    (r"\b(?i:nobody|somebody|whoever)\b", "name who it is: no client, a program, the caller"),
    (r"\b(?i:beside)\b(?! the point)", "next to, with, in addition to"),
    (r"\bgaz(?:e|es|ed|ing)\b|\bin vain\b", "say what happens: spins, waits, fails"),
    (r"\bthat there (?:is|are)\b(?! (?:a|an|no|one|some|any|only|nothing|more)\b)", "existing; unknown for those that do not exist"),
    (r"\b(?:is|are|was|were|be) none\b(?! of\b)", "say what it is instead: is missing, is malformed, does not count"),
    (r"\b(?:of|for) (?:which|whose|whom)\b", "a sentence of its own: it has …, each of them …"),
    (r"\bof before\b", "former, previous, earlier"),
    (r"\banother one\b(?! of)", "name it: a new version, a different file"),
    (r"\b(?i:that which)\b", "what, the one that"),
    (r"\b[Mm]ore (?:\w+ )?than there (?:is|are)\b", "more than exist, with the subject first"),
    (START + r"Of (?!course)", "begin with the subject"),
    (START + r"(?:What|Who|Whose|That which)\b(?![^.?!]*\?)", "begin with the noun: the …, a …"),
    (START + r"(?:Ones?|Those) (?:that|which|who|of|in)\b", "name what it is"),
    (START + r"The same (?:of|for|where|once|in|as of|,)", "As above, but …"),
    (START + r"Nothing (?:of|is)\b", "name who does not do what"),
    (r", for (?:it|they|what|this|these|there|nothing|no|all|each) (?:\w+ )?(?:is|are|was|were|has|have|had|may|can|does|do)\b", "because"),
]]


def files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        if name.rpartition(".")[2] in ENDINGS and not SKIPPED.search(name) and (ROOT / name).is_file():
            yield name


class Text:
    """Words that belong together, each with the line that it is in."""

    def __init__(self, kind):
        self.kind, self.words, self.lines = kind, "", []

    def add(self, words, line):
        words = words.strip() + " "
        self.words += words
        self.lines += [line] * len(words)

    def findings(self):
        """Each pattern's places, and the advice. Code between backticks is not read."""
        prose = re.sub(r"`[^`]+`|^Parameter \w+:", lambda code: "_" * len(code[0]), self.words)
        for pattern, advice in PATTERNS:
            for found in pattern.finditer(prose):
                yield found, advice


def messages(line, number):
    """Strings of several words in a line of code."""
    for string in re.findall(r'"((?:\\.|[^"\\])*)"', line):
        if len(re.findall(r"[a-z]{2,}", string)) >= 4 and not re.match(r"\W*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|PRAGMA)\b", string):
            text = Text("message")
            text.add(string, number)
            yield text


def lines(source, opening):
    """Number, line, and its words where the whole line is a comment; None for code."""
    is_block = is_string = False
    for number, line in enumerate(source.splitlines(), 1):
        began = re.match(r"\s*/\*+", line) if opening == "//+" and not is_string else None
        if is_block or began:
            is_block = "*/" not in line
            yield number, line, re.match(r"\s*(?:/\*+|\*(?!/))?\s?(.*?)(?:\*/)?$", line)[1]
            continue
        comment = None if is_string else re.match(rf"\s*(?:{opening})\s?(.*)$", line)
        if not comment and line.count('"""') % 2:
            is_string = not is_string
        yield number, line, comment[1] if comment else None


def code(source, opening, has_messages):
    """Comments, each with the lines that follow it, and messages."""
    text = None
    for number, line, words in lines(source, opening):
        if words is not None:
            if text is None or not words.strip() or re.match(r"\s*(?:[-*|] |\d+\. |@\w)", words):
                if text:
                    yield text
                text = Text("comment")
            text.add(re.sub(r"^\s*(?:[-*|]|\d+\.) ", "", words), number)
            continue
        if text:
            yield text
            text = None
        if trailing := re.search(r"\S\s+(?://|#) (.*)$", line):
            after = Text("comment")
            after.add(trailing[1], number)
            yield after
        if has_messages:
            yield from messages(line, number)
    if text:
        yield text


def python(source):
    """Comments, documentation and messages."""
    yield from code(source, "#+:?", False)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE") and len(re.findall(r"[a-z]{2,}", token.string)) >= 4:
            text = Text("message")
            for number, line in enumerate(token.string.strip("rbfRBF").strip("\"'").splitlines(), token.start[0]):
                text.add(line, number)
            yield text


def page(source):
    """Paragraphs, items and cells, without what is fenced, and headings."""
    text, is_fenced = Text("page"), False
    for number, line in enumerate(source.splitlines(), 1):
        if re.match(r"\s*(?:```|~~~)", line):
            is_fenced = not is_fenced
            continue
        if is_fenced or re.match(r"#+ |<!--|\s*$", line):
            yield text
            text = Text("page")
            continue
        if item := re.match(r"\s*(?:[-*>]|\d+\.) (?:\*\*(?:New|Changed|Fixed)\*\*: )?(.*)", line):
            yield text
            text, line = Text("page"), item[1]
        cells = line.strip().strip("|").split(" | ") if line.lstrip().startswith("|") else [line]
        for cell in cells:
            if len(cells) > 1:
                yield text
                text = Text("page")
            text.add(cell.replace("**", ""), number)
    yield text


def texts(name, source):
    ending = name.rpartition(".")[2]
    if ending == "md":
        return page(source)
    if ending == "py":
        return python(source)
    return code(source, ENDINGS[ending], ending in ("swift", "c") and name.startswith("Sources/"))


def findings(name):
    """Kind, line, words and advice."""
    source = (ROOT / name).read_text()
    for text in texts(name, source):
        for found, advice in text.findings():
            near = text.words[max(0, found.start() - 30):found.end() + 50].strip()
            yield "words", text.lines[found.start()], near, advice
    opening = ENDINGS[name.rpartition(".")[2]]
    for number, line, words in lines(source, opening) if opening else ():
        if len(line) > COLUMNS and words is not None and not re.search(r"\S{100}", line):
            yield "long", number, line.strip()[:60], f"{COLUMNS} columns"


def listed():
    lines = map(str.split, LIST.read_text().splitlines())
    return {(kind, name): int(count) for count, kind, name in lines}


def compare(names, may_shorten):
    allowed, errors = listed(), []
    found = {name: list(findings(name)) for name in names}
    counts = collections.Counter((kind, name) for name in names for kind, *_ in found[name])
    for key in sorted(set(allowed) | set(counts), key=lambda key: key[::-1]):
        kind, name = key
        if name not in found and (ROOT / name).exists():
            continue
        count, most = counts[key], allowed.get(key, 0)
        if count > most:
            errors += [f"{name}:{line}: {kind}: …{near}… ({advice})" for each, line, near, advice in found[name] if each == kind]
            errors.append(f"{name}: {count} of kind {kind}, and {LIST.name} has {most}: mend the new ones")
        elif count < most and not may_shorten:
            errors.append(f"{name}: {count} of kind {kind}, and {LIST.name} has {most}: run scripts/prose.py --shorten")
        elif may_shorten:
            allowed[key] = count
    if may_shorten:
        lines = (f"{count} {kind} {name}\n" for (kind, name), count in sorted(allowed.items(), key=lambda each: each[0][::-1]) if count)
        LIST.write_text("".join(lines))
    print("\n".join(f"error: {error}" for error in errors) or f"prose: {sum(counts.values())} old findings in {len(names)} files, none new")
    return 1 if errors else 0


def sample(count, seed):
    chance = random.Random(seed)
    comments = [(name, text) for name in files() if not name.endswith(".md")
                for text in texts(name, (ROOT / name).read_text()) if text.kind == "comment" and len(text.words.split()) > 3]
    for name, text in chance.sample(comments, count):
        print(f"{name}:{text.lines[0]}: {text.words.strip()}")


def main(arguments):
    option = arguments.pop(0) if arguments and arguments[0].startswith("--") else None
    if option == "--sample":
        return sample(int(arguments[0]), int(arguments[1]) if arguments[1:] else None)
    names = [str(pathlib.Path(name).resolve().relative_to(ROOT)) for name in arguments] or list(files())
    if option == "--list":
        for name in names:
            for kind, line, near, advice in findings(name):
                print(f"{name}:{line}: {kind}: …{near}… ({advice})")
        return 0
    return compare(names, option == "--shorten")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
