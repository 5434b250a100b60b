# SPDX-License-Identifier: BSD-3-Clause
"""table.py - `python3 table.py FOLDER [WORD]`: jobs that go wrong, each beside the nearest one that does not.

FOLDER has the doctor's main.py. Each row of rows.txt is

    == ID PLACE: what is wrong
    -- job.sh           (a file; train.py is there, empty, where the row has none)
    -- right
    -- job.sh           (the same with the change; files that are not written again stay as they are)

A line `$ ARGUMENT...` before the files is the command line, else it is `job.sh`. The wrong one must have exactly this
finding, and the right one none. Prints what differs; with WORD looks at the rows with that word alone.
"""
import contextlib
import importlib
import io
import os
import resource
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def read_rows():
    rows, files, name = [], None, None
    with open(os.path.join(HERE, "rows.txt"), encoding="utf-8") as table:
        for line in table.read().split("\n"):
            if line.startswith("== "):
                expected, _, title = line[3:].partition(": ")
                files, name = {}, None
                rows.append([expected, title, files, {}, ["job.sh"], None])
            elif line == "-- right":
                files, name = rows[-1][3], None
            elif line.startswith("-- "):
                name = line[3:]
                files[name] = ""
            elif line.startswith("$ ") and name is None:
                rows[-1][5 if files is rows[-1][3] else 4] = line[2:].split()
            elif name:
                files[name] += line + "\n"
    return rows


def look(doctor, arguments):
    """The findings: (id, place, what, change)."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    script = arguments[0] if arguments[0] != "--" else "-"
    line = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    with contextlib.redirect_stdout(output):
        doctor.main([os.environ.get("SERIES", "24.05"), "script", script, "job", "-"] + line)
    output.seek(0)
    rows = [row.split("\t") for row in output.read().split("\n")]
    return [(row[1], "%s:%s" % (row[2], row[3]), row[4]) for row in rows if row[0] == "finding"]


def write(files):
    for name, text in files.items():
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(text.rstrip("\n") + "\n" if text.strip() else "")


def differences(doctor, row):
    expected, _, wrong, right, arguments, changed = row
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write(dict({"train.py": ""}, **wrong))
        found = look(doctor, arguments)
        if [" ".join(one[:2]) for one in found] != [expected]:
            yield "wrong: expected %s, found %s" % (expected, found)
        write(right)
        found = look(doctor, changed or arguments)
        if found:
            yield "right: found %s" % found
        os.chdir("/")


def main(folder, word=""):
    sys.path.insert(0, folder)
    resource.setrlimit = lambda *_: None
    sys.setrecursionlimit = lambda _: None
    sys.argv = ["main.py", "24.05", "script", "-", "job", "-"]
    sys.dont_write_bytecode = True
    doctor = importlib.import_module("main")
    rows = read_rows()
    for row in rows:
        if word in row[0] + row[1]:
            for text in differences(doctor, row):
                print("%s: %s\n    %s" % (row[0], row[1], text))
    print("%d rows" % len(rows))


main(*sys.argv[1:])
