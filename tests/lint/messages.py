"""messages.py - whether the examples in lib/messages.def are what the code prints.

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
PIECE = 8

STRING = r'"(?:[^"\\\n]|\\.)*"'
MACRO = r"\b[A-Z][A-Z_]+\b"
CONVERSION = re.compile(r"%[-+ 0#]*[0-9*]*(?:\.[0-9*]+)?(?:hh|h|ll|l|z)?[a-zA-Z]")
ROW = re.compile(r"^ROLLCALL_MESSAGE\((RC\d+), \w+,\s+%s,\s+%s,\s+(%s)\)$" % (STRING, STRING, STRING), re.M)


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
    for name in glob.glob(top + "/watch/*.py"):
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
        self.piece = tuple(clause for clause in self.whole if len(clause) >= PIECE)

    def has(self, clause):
        if clause.endswith("..."):
            return any(text.startswith(clause[:-3]) for text in self.whole)
        return (
            clause in self.whole
            or clause.startswith(self.piece)
            or clause.endswith(self.piece)
            or any(pattern.fullmatch(clause) for pattern in self.patterns)
        )


def main(top):
    sources = Sources(top)
    catalogue = read(top + "/lib/messages.def")
    rows = ROW.findall(catalogue)
    if len(rows) != catalogue.count("\nROLLCALL_MESSAGE("):
        print("not all rows can be read")
    for message, text in rows:
        for clause in clauses(ast.literal_eval(text).split(message + ": ", 1)[1]):
            if not sources.has(clause):
                print(f"{message}: {clause}")


main(sys.argv[1])
