#!/usr/bin/env python3
"""Tests of prose.py: which sentences it finds and where, and that its list only shrinks."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import prose

FOUND = [
    "Nobody reads it.", "The client is told why.", "Of directories above nothing is known.", "What a cell has on either side.",
    "A read that fails is none.", "One that a client had a part in.", "The same of these groups.", "Nothing is said of closed sessions.",
    "The row beside it.", "Rows, of which two changed.", "More frames than there are.", "Waits in vain.", "The versions of before.",
    "It waits, for it has no lock.",
]
FINE = [
    "What is a commit?", "Rows freed since the last run.", "The row next to it.", "It is none of these.", "Of course it waits.",
    "Says why, for each row.",
]


class Prose(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, value in {"ROOT": root, "LIST": root / "prose.txt"}.items():
            self.addCleanup(setattr, prose, name, getattr(prose, name))
            setattr(prose, name, value)
        prose.LIST.write_text("")

    def lines(self, name, source):
        (prose.ROOT / name).write_text(source)
        return [(kind, line) for kind, line, *_ in prose.findings(name)]

    def compare(self, may_shorten=False):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            status = prose.compare(["a.swift"], may_shorten)
        return status, output.getvalue()

    def test_sentences(self):
        for sentence in FOUND:
            self.assertTrue(self.lines("a.swift", f"/// {sentence}\n"), sentence)
        for sentence in FINE:
            self.assertFalse(self.lines("a.swift", f"/// {sentence}\n"), sentence)

    def test_a_sentence_over_two_lines_is_one(self):
        self.assertEqual(self.lines("a.swift", "/// Rows that are\n/// none at all.\nlet a = 1\n"), [("words", 1)])

    def test_code_is_not_read(self):
        self.assertEqual(self.lines("a.swift", 'let nobody = told\nlet text = """\n  // nobody\n  """\n'), [])
        self.assertEqual(self.lines("a.c", "  *nobody = told;\n/* A comment.\n   nobody */\n"), [("words", 3)])

    def test_messages_and_documentation_are(self):
        self.assertEqual(self.lines("a.py", 'def f():\n    """Adds.\n\n    nobody reads the lines here"""\n'), [("words", 4)])
        (prose.ROOT / "Sources").mkdir()
        self.assertEqual(self.lines("Sources/a.swift", 'fail("the client is told so")\n'), [("words", 1)])

    def test_pages_without_what_is_fenced(self):
        self.assertEqual(self.lines("a.md", "# What it is\n\n```sh\nnobody\n```\n\n- nobody\n"), [("words", 7)])

    def test_columns_of_comments(self):
        self.assertEqual(self.lines("a.swift", f"// {'a word ' * 20}\n{'let a = 1; ' * 20}\n"), [("long", 1)])

    def test_the_list_only_shrinks(self):
        self.lines("a.swift", "// nobody\n// nobody\n")
        prose.LIST.write_text("1 words a.swift\n")
        status, output = self.compare()
        self.assertEqual(status, 1)
        self.assertIn("mend the new ones", output)
        self.assertEqual(self.compare(may_shorten=True)[0], 1)
        self.assertEqual(prose.LIST.read_text(), "1 words a.swift\n")

        self.lines("a.swift", "// no client\n")
        status, output = self.compare()
        self.assertEqual(status, 1)
        self.assertIn("--shorten", output)
        self.assertEqual(self.compare(may_shorten=True)[0], 0)
        self.assertEqual(prose.LIST.read_text(), "")
        self.assertEqual(self.compare()[0], 0)


if __name__ == "__main__":
    unittest.main()
