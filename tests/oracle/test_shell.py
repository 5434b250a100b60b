# SPDX-License-Identifier: BSD-3-Clause
"""The doctor's reader of shell sees the commands, words and lines that shfmt sees, in jobs.txt, in the table of
tests/cli/doctor, in the shell of this repository and its documents, and in what hypothesis makes of them."""
import glob
import json
import os
import re
import subprocess
import sys

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path += [os.path.join(TOP, "cli", "doctor", "python"), os.path.join(TOP, "tests", "cli", "doctor")]
# pylint: disable=wrong-import-position
import table
from shell import Reader

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "200"))
HEADS = ("for", "select", "case")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sections(text):
    """(name, script) for each part of a file that `== NAME` begins."""
    return [part.partition("\n")[::2] for part in ("\n" + text).split("\n== ")[1:]]


def scripts():
    """(name, text) of all that is compared."""
    yield from sections(read(os.path.join(HERE, "jobs.txt")))
    for row in table.read_rows():
        for number, case in enumerate([row.wrong] + row.right):
            for name, text in case.files.items():
                if name.endswith(".sh"):
                    yield "%s: %s, %d, %s" % (row.expected, row.title, number, name), text
    for pattern in ("tests/*", "tests/*/*.bash", "contrib/*/*", "docs/*.md", "*.md", "autogen.sh"):
        for path in sorted(glob.glob(os.path.join(TOP, pattern))):
            if path.endswith(".md"):
                blocks = re.findall(r"```(?:bash|sh)?\n(.*?)```", read(path), re.S) + \
                    re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", read(path), re.M)
                for number, block in enumerate(blocks):
                    yield "%s, %d" % (path, number), re.sub(r"(?m)^    |^\$ ", "", block)
            elif os.path.isfile(path) and re.match(r"#!.*sh\n|# SPDX.*\n# \w+\.bash", read(path)):
                yield path, read(path)


class Oracle:
    """What shfmt sees: (line, words as they are written, words without quotes) of each command."""

    def __init__(self, text):
        self.data = text.encode()
        self.commands = []
        done = subprocess.run(["shfmt", "-ln", "bash", "-tojson"], input=self.data, capture_output=True, check=False)
        self.refused = done.stderr.decode() if done.returncode else ""
        if not self.refused:
            self.walk(json.loads(done.stdout))

    def written(self, node):
        return self.data[node["Pos"]["Offset"]:node["End"]["Offset"]].decode()

    def plain(self, parts, in_text=False):
        """Without quotes. What is not expanded keeps its backslash, as the reader has it."""
        marks = r'\\(\n|["\\])' if in_text else r"\\(\n|[^$`])"
        text = ""
        for part in parts:
            if part["Type"] == "Lit":
                text += re.sub(marks, lambda found: found.group(1).strip("\n"), part["Value"], flags=re.S)
            elif part["Type"] == "SglQuoted":
                text += part.get("Value", "")
            elif part["Type"] == "DblQuoted":
                text += self.plain(part.get("Parts", []), True)
            else:
                text += self.written(part)
        return text

    def walk(self, node):
        if isinstance(node, list):
            for part in node:
                self.walk(part)
        if not isinstance(node, dict):
            return
        kind, plain = node.get("Type"), []
        words = node.get("Assigns", []) + node.get("Args", []) + node.get("Exprs", [])
        raw = [self.written(word) for word in words]
        if kind in ("DeclClause", "LetClause"):
            raw.insert(0, node["Variant"]["Value"] if kind == "DeclClause" else "let")
        elif kind == "CallExpr":
            plain = [self.plain(word["Parts"]) for word in node.get("Args", [])]
        elif kind == "TestClause":
            raw = [self.written(node)]
        elif kind in ("ForClause", "CaseClause"):
            raw = []
        if raw:
            self.commands.append((node["Pos"]["Line"], raw, plain))
        for name, part in node.items():
            if name != "Hdoc":  # what a here-document would run is not looked at
                self.walk(part)


def unmarked(words):
    return [word.replace("\\", "") for word in words]


def differences(text):
    """What differs, and the numbers of commands and words; None where shfmt does not take the text."""
    oracle, reader = Oracle(text), Reader(text)
    if oracle.refused:
        return None
    found = [(command.line, command.raw, command.words) for command in reader.read() if command.words[0] not in HEADS]
    expected = oracle.commands
    # in backquotes shfmt's places count the backslashes, its texts do not
    if re.search(r"`[^`]*\\", text):
        expected, found = [[(line, unmarked(raw), unmarked(plain)) for line, raw, plain in rows]
                           for rows in (expected, found)]
    different = [reader.lost] if reader.lost else []
    for (line, raw, plain), mine in zip(sorted(expected), sorted(found)):
        if (line, raw) != mine[:2] or mine[2][len(raw) - len(plain):] != plain and plain:
            different.append(((line, raw, plain), mine))
    if len(expected) != len(found):
        different.append((len(expected), len(found)))
    return different, len(expected), sum(len(raw) for _, raw, _ in expected)


def test_scripts():
    files = commands = words = refused = 0
    for name, text in scripts():
        answer = differences(text)
        refused += answer is None
        if answer:
            assert not answer[0], name
            files, commands, words = files + 1, commands + answer[1], words + answer[2]
    print("%d scripts, %d commands, %d words; shfmt refuses %d" % (files, commands, words, refused))
    assert files > 300 and commands > 2000 and refused < files // 10


WORDS = st.sampled_from([
    "a", "--n=2", "$X", "${X:-a b}", "\"$X  b\"", "'a # b'", "a\\ b", "`echo a`", "$((1 << (2)))", "\"a\\\"b\"",
    "a#b", "{a,b}", "$'a\\'b'", "${X%%'}'*}", "@(a|b)c", "\"${X:-\"y\"}\"", "2>&1", "> out", "<<< word", "a\\\nb",
    "\\\n", "\"$(a \"b)\")\"", "${#X}", "$#", "~/x", "*.py", "[a-c]", "x=y", "!", "if", "{fd}>x", "&> all", "a''b",
    "${A[@]}", "$(a # b)\n)", "%", "é"])
SHAPES = st.sampled_from([
    "{0}", "if {0}; then\n{1}\nelif {1}; then {0}; else {1}; fi", "for i in a b; do {0}; done > f", "{0} && {1}",
    "({0})", "while {0}\ndo {1}; done", "case $X in a|b) {0} ;; (*) {1}\nesac", "{{ {0}; }} 2> f", "f() {{ {0}; }}",
    "{0} |& {1}", "function g {{\n{0}\n}}", "{0} || {1}", "{0} | {1}", "! {0}", "time {0}",
    "cat <<E <<-'F'; {0}\n\"$(\nE\n' `\n	F\n{1}", "[[ a =~ ^(a|b )$ && ! -f x ]] && {0}", "((i++ << 2)) || {0}",
    "for ((;;)); do {0}; done", "X=1 Y+=b {0}", "{0} # {1}", "A=({0} # it's\n  b)", "export X=$({0}) Y",
    "echo \"$({0})\" $({1})", "a <({0}) > >({1})", "{0}\n{1}", "{0} & {1}"])
COMMANDS = st.recursive(
    st.lists(WORDS, min_size=1, max_size=5).map(lambda words: " ".join(["x"] + words)),
    lambda inner: st.tuples(SHAPES, inner, inner).map(lambda drawn: drawn[0].format(*drawn[1:])), max_leaves=8)


@given(commands=st.lists(COMMANDS, min_size=1, max_size=6))
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
          suppress_health_check=list(HealthCheck))
def test_made(commands):
    text = "\n".join(commands) + "\n"
    assume(not re.search(r"#.*\\\n", text))  # shfmt 3.6 goes on with a comment, bash does not
    answer = differences(text)
    assume(answer is not None)
    assert not answer[0]
