# SPDX-License-Identifier: BSD-3-Clause
"""table.py - `python3 table.py FOLDER [WORD]`: jobs that go wrong, each beside the nearest one that does not.

FOLDER has the doctor's main.py. Each row of rows.txt is

    == ID PLACE: what is wrong      (or "nothing", where all of the row is right)
    $ ARGUMENT...                   (the command line; else it is job.sh)
    = TEXT                          (a part of what the finding says, or would change)
    LINE...                         (the first argument's file; a job script without its #!/bin/bash)
    -- NAME                         (another file; train.py and other.py are there, empty, where the row has none)
    LINE...
    -- right                        (the same with a change; what is not given stays as it is)
    < LINE                          (this line of a file is
    > LINE                          another one, or is left out)

The wrong one must have exactly this finding, and each right one none. Prints what differs; with WORD looks at the rows
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
    """A command line and the files that it finds. One that is right begins as the wrong one before it."""

    def __init__(self, wrong=None):
        self.arguments = wrong.arguments if wrong else ["job.sh"]
        self.files = dict(wrong.files) if wrong else {"train.py": "", "other.py": ""}
        self.text = ""
        self.name = None   # of the file that is read
        self.place = None  # of the line that was left out: file, number

    def read(self, line):
        if line.startswith("-- "):
            self.name = line[3:]
            self.files[self.name] = ""
        elif self.name:
            self.files[self.name] += line + "\n"
        elif line.startswith("$ "):
            self.arguments = line[2:].split()
        elif line.startswith("= "):
            self.text = line[2:]
        elif line.startswith("< "):
            self.place = self.remove(line[2:])
        elif line.startswith("> "):
            name, at = self.place
            lines = self.files[name].split("\n")
            self.files[name] = "\n".join(lines[:at] + [line[2:]] + lines[at:])
        elif line:
            self.name = self.arguments[0]
            self.files[self.name] = ("#!/bin/bash\n" if self.name.endswith(".sh") else "") + line + "\n"

    def remove(self, line):
        """Leaves a line out. Returns where it was."""
        name = next(name for name, text in self.files.items() if line in text.split("\n"))
        lines = self.files[name].split("\n")
        at = lines.index(line)
        self.files[name] = "\n".join(lines[:at] + lines[at + 1:])
        return name, at

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
            doctor.main([os.environ.get("SERIES", "24.05"), "plugin", "-", "script", script] + given + line)
            os.chdir("/")
        output.seek(0)
        rows = [row.split("\t") for row in output.read().split("\n")]
        return [("%s %s:%s" % tuple(row[1:4]), "; ".join(row[4:])) for row in rows if row[0] == "finding"]


class Row:
    def __init__(self, line):
        self.expected, _, self.title = line[3:].partition(": ")
        self.wrong = Case()
        self.right = []

    def differences(self, doctor):
        found = self.wrong.look(doctor)
        expected = [] if self.expected == "nothing" else [self.expected]
        if [place for place, _ in found] != expected or not all(self.wrong.text in text for _, text in found):
            yield "wrong: expected %s %s, found %s" % (self.expected, self.wrong.text, found)
        for number, case in enumerate(self.right, 1):
            found = case.look(doctor)
            if found:
                yield "right %d: found %s" % (number, found)


def read_rows():
    rows, case = [], None
    with open(os.path.join(HERE, "rows.txt"), encoding="utf-8") as table:
        for line in table.read().split("\n"):
            if line.startswith("== "):
                rows.append(Row(line))
                case = rows[-1].wrong
            elif line == "-- right":
                case = Case(rows[-1].wrong)
                rows[-1].right.append(case)
            else:
                case.read(line)
    return rows


def main(folder, word=""):
    sys.path.insert(0, folder)
    resource.setrlimit = lambda *_: None
    sys.setrecursionlimit = lambda _: None
    sys.argv = ["main.py", "24.05", "plugin", "-", "script", "-", "job", "-"]
    sys.dont_write_bytecode = True
    doctor = importlib.import_module("main")
    rows = read_rows()
    for row in rows:
        if word in row.expected + row.title:
            for text in row.differences(doctor):
                print("%s: %s\n    %s" % (row.expected, row.title, text))
    print("%d rows" % len(rows))


main(*sys.argv[1:])
