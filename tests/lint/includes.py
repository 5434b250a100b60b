# SPDX-License-Identifier: BSD-3-Clause
"""includes.py TOP FILE... - who may include whom: the table in HACKING.md against the files' #include lines.

Prints one line for each include that the table does not allow, for each row of the table that nothing needs,
and for each circle: of folders, of headers, and of sources. A source uses another one if it includes the header of
that one's name, or names a function that the other one defines: several sources may share one header, which the
includes do not show. A header without a source is data that all may share.
"""
import graphlib
import os
import re
import sys

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
FUNCTION = re.compile(r"^(?!static|typedef|extern)[A-Za-z_][\w *]*?\b(\w+)\([^;{]*\)\n\{", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def source_of(header):
    return f"{os.path.splitext(header)[0]}.c"


def allowed_by(hacking):
    """{folder: [folders that it may include]}, from rows such as "| `lib/roll` | what it is | base launcher |"."""
    rows = re.findall(r"^\| `([a-z/]+)` \|[^|]*\|([^|]*)\|$", hacking, re.M)
    short = {folder.removeprefix("lib/"): folder for folder, _ in rows}
    return {folder: [short[word] for word in words.split()] for folder, words in rows}


def find_circle(graph):
    """Files each of which includes the next one, and the last one the first; nothing where there are none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1][1:]
    return []


def users_by_name(texts):
    """{source: sources whose functions it names}, of {source: its text}."""
    code = {name: COMMENT_OR_STRING.sub(" ", text) for name, text in texts.items()}
    homes = {}
    for name, text in code.items():
        for function in FUNCTION.findall(text):
            homes.setdefault(function, []).append(name)
    # main is in several
    home = {function: where[0] for function, where in homes.items() if len(where) == 1}
    return {name: {home[word] for word in set(re.findall(r"\w+", text)) if home.get(word, name) != name}
            for name, text in code.items()}


def main(top, names):
    with open(f"{top}/HACKING.md", encoding="utf-8") as file:
        allowed = allowed_by(file.read())
    headers, files, folders, used, sources, texts = {}, {}, {}, set(), set(names), {}
    for name in names:
        folder = os.path.dirname(name)
        if folder not in allowed:
            print(f"{name}: HACKING.md's table has no row for {folder}")
            continue
        with open(f"{top}/{name}", encoding="utf-8") as file:
            text = file.read()
        if name.endswith(".c"):
            texts[name] = text
        for include in INCLUDE.findall(text):
            paths = (os.path.join(folder, include), f"lib/{include}", include)
            path = next((p for p in paths if os.path.exists(f"{top}/{p}")), None)
            if path is None:
                continue  # config.h, which configure makes
            other = os.path.dirname(path)
            if other != folder:
                used.add((folder, other))
                folders.setdefault(folder, set()).add(other)
                if other not in allowed[folder]:
                    print(f"{name}: may not include {path}")
            if name.endswith(".h"):
                headers.setdefault(name, set()).add(path)
            elif source_of(path) in sources and source_of(path) != name:
                files.setdefault(name, set()).add(source_of(path))
    for folder, others in allowed.items():
        for other in others:
            if (folder, other) not in used:
                print(f"HACKING.md: {folder} does not include {other}")
    graphs = headers, files, folders, users_by_name(texts)
    for circle in filter(None, map(find_circle, graphs)):
        print("a circle: " + " ".join(circle))


main(sys.argv[1], sys.argv[2:])
