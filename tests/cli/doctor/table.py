# SPDX-License-Identifier: BSD-3-Clause
"""table.py - `python3 table.py FOLDER [WORD]`: jobs that go wrong, each beside the nearest one that does not.

FOLDER has the doctor's main.py. Each row of rows.txt is

    == ID PLACE: what is wrong      (or "nothing", where all of the row is right; "ID PLACE and ID PLACE": two)
    $ ARGUMENT...                   (the command line; else it is job.sh)
    % SERIES                        (of Slurm; else it is 24.05)
    & absent                        (its srun has no --ddp)
    = TEXT                          (a part of what the finding says, or would change)
    LINE...                         (the first argument's file; a job script without its #!/bin/bash)
    -- NAME                         (another file; train.py and other.py are there, empty, where the row has none)
    LINE...
    ~ LINE                          (in the right one this is in place of the line above; "~" alone: nothing is)
    -- right                        (another right one; of what is not given it has the wrong one's)

The wrong one must have exactly these findings, and each right one none. Prints what differs; with WORD looks at the rows
with that word alone.
"""
import contextlib
import importlib
import io
import os
import resource
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


class Case:
    """A command line and the files that it finds."""

    def __init__(self, lines, wrong=None):
        self.arguments = wrong.arguments if wrong else ["job.sh"]
        self.files = dict(wrong.files) if wrong else {"train.py": "", "other.py": ""}
        self.series = wrong.series if wrong else "24.05"
        self.plugin = wrong.plugin if wrong else "-"
        self.text = ""
        self.name = None  # of the file that is read
        for line in lines:
            self.read(line)

    def read(self, line):
        if line.startswith("-- "):
            self.name = line[3:]
            self.files[self.name] = ""
        elif self.name:
            self.files[self.name] += line + "\n"
        elif line.startswith("$ "):
            self.arguments = line[2:].split()
        elif line.startswith("% "):
            self.series = line[2:]
        elif line.startswith("& "):
            self.plugin = line[2:]
        elif line.startswith("= "):
            self.text = line[2:]
        elif line:
            self.name = self.arguments[0]
            self.files[self.name] = ("#!/bin/bash\n" if self.name.endswith(".sh") else "") + line + "\n"

    def write(self):
        for name, text in self.files.items():
            with open(name, "w", encoding="utf-8", newline="") as file:
                file.write(text.rstrip("\n") + "\n" if text.strip() else "")

    def look(self, doctor):
        """The findings: (id and place, what and change)."""
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        first = self.arguments[0]
        line = self.arguments[self.arguments.index("--") + 1:] if "--" in self.arguments else []
        given = ["job", self.arguments[1]] if first == "--script" else ["job", "-"]
        script = self.arguments[2] if first == "--script" else first if first != "--" else "-"
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(output):
            os.chdir(folder)
            self.write()
            doctor.main([self.series, "plugin", self.plugin, "script", script] + given + ["step", "-"] + line)
            os.chdir("/")
        output.seek(0)
        rows = [row.split("\t") for row in output.read().split("\n")]
        return [("%s %s:%s" % tuple(row[1:4]), "; ".join(row[4:])) for row in rows if row[0] == "finding"]


class Row:
    def __init__(self, text):
        first, *others = text.split("\n-- right\n")
        head, *lines = first.split("\n")
        self.expected, _, self.title = head.partition(": ")
        right = []
        for before, line in zip([head] + lines, lines):
            if not line.startswith("~"):
                right.append(line)
                continue
            if not before.startswith("~"):
                right.pop()
            if line != "~":
                right.append(line[2:])
        wrong = [line for line in lines if not line.startswith("~")]
        self.wrong = Case(wrong)
        self.right = [Case(right)] if right != wrong else []
        self.right += [Case(other.split("\n"), self.wrong) for other in others]

    def differences(self, doctor):
        found = self.wrong.look(doctor)
        expected = [] if self.expected == "nothing" else self.expected.split(" and ")
        if [place for place, _ in found] != expected or found and not any(self.wrong.text in text for _, text in found):
            yield "wrong: expected %s %s, found %s" % (self.expected, self.wrong.text, found)
        for number, case in enumerate(self.right, 1):
            found = case.look(doctor)
            if found:
                yield "right %d: found %s" % (number, found)


def read_rows():
    with open(os.path.join(HERE, "rows.txt"), encoding="utf-8") as table:
        return [Row(text) for text in ("\n" + table.read()).split("\n== ")[1:]]


def main(folder, word=""):
    sys.path.insert(0, folder)
    resource.setrlimit = lambda *_: None
    sys.setrecursionlimit = lambda _: None
    sys.argv = ["main.py", "24.05", "plugin", "-", "script", "-", "job", "-", "step", "task"]
    sys.dont_write_bytecode = True
    doctor = importlib.import_module("main")
    rows = read_rows()
    for row in rows:
        if word in row.expected + row.title:
            for text in row.differences(doctor):
                print("%s: %s\n    %s" % (row.expected, row.title, text))
    print("%d rows" % len(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
