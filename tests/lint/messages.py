# SPDX-License-Identifier: BSD-3-Clause
"""messages.py - whether the examples in lib/base/messages.def and cli/findings.def are what the code prints.

    messages.py TOP

Every clause of an example (what stands between two "; ") has to be a clause of some text in the
sources, with values for its conversions; or, of one that is put together, its begin or its end.
Prints those that are not, one a line: they show what the code said once, or never.
"""

import ast
import glob
import re
import sys

LEAST = 10  # letters of a text's own, beside its values
ALL_VALUES = ("RC609",)  # "NCCL_ALGO is unset for tasks 0-1 on n1, 'Ring' for task 2 on n2": no words of its own

STRING = r'"(?:[^"\\\n]|\\.)*"'
MACRO = r"\b[A-Z][A-Z_]+\b"
CONVERSION = re.compile(r"%(?:p[SQ]|[-+ 0#]*[0-9*]*(?:\.[0-9*]+)?(?:hh|h|ll|l|z)?[a-zA-Z])")
ROW = re.compile(r"^ROLLCALL_(?:MESSAGE|FINDING)\((\w+)(?:, \w+)+,\s+%s,\s+%s,\s+(%s)\)$" % (STRING, STRING, STRING), re.M)
# what stands before the code's own text: "rollcall: error RC101: ", or the place of a finding
BEFORE = re.compile(r"^(?:rollcall[^:]*: (?:[a-z]+ )?RC\d+: |(?:command line|[\w/.-]+\.\w+|/[\w/]+)(?::\d+)?: )")


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def literals(top):
    """All texts of the sources. Strings behind each other are one, with the macros between them."""
    sources = [read(n) for n in glob.glob(top + "/*/**/*.[ch]", recursive=True) if not n.startswith(top + "/tests/")]
    macros = {}
    for source in sources:
        macros.update(re.findall(r"^#define (\w+) +(%s)$" % STRING, source, re.M))
    for source in sources:
        for chain in re.findall(r"(?:%s|%s)(?:\s*(?:%s|%s))*" % (STRING, MACRO, STRING, MACRO), source):
            pieces = (macros.get(piece, piece) for piece in re.findall(STRING + "|" + MACRO, chain))
            yield "".join(ast.literal_eval(piece) for piece in pieces if piece[0] == '"')
    for name in glob.glob(top + "/shim/watch/*.py") + glob.glob(top + "/cli/doctor/python/*.py"):
        for node in ast.walk(ast.parse(read(name))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def clauses(text):
    return [clause for clause in text.split("; ") if clause]


class Sources:
    def __init__(self, top):
        self.whole = set()
        self.patterns = []
        for text in set(literals(top)):
            for clause in clauses(text):
                pieces = CONVERSION.split(clause)
                if len(pieces) == 1:
                    self.whole.add(clause)
                elif sum(map(len, pieces)) >= LEAST:
                    self.patterns.append(re.compile(".*".join(map(re.escape, pieces))))
        # of two words at least: names of variables begin many a clause
        self.piece = tuple(clause for clause in self.whole if len(clause) >= LEAST and " " in clause.strip())

    def has(self, clause):
        if clause.endswith("...") and any(text.startswith(clause[:-3]) for text in self.whole):
            return True
        return (
            clause in self.whole
            or clause.startswith(self.piece)
            or clause.endswith(self.piece)
            or any(pattern.fullmatch(clause) for pattern in self.patterns)
        )


def main(top):
    sources = Sources(top)
    for name in ("lib/base/messages.def", "cli/findings.def"):
        catalogue = read(top + "/" + name)
        rows = ROW.findall(catalogue)
        if len(rows) != len(re.findall(r"^ROLLCALL_", catalogue, re.M)):
            print(f"{name}: not all rows can be read")
        for message, text in rows:
            for clause in clauses(BEFORE.sub("", ast.literal_eval(text), count=1)):
                if not sources.has(clause) and message not in ALL_VALUES:
                    print(f"{message}: {clause}")


main(sys.argv[1])
