# SPDX-License-Identifier: BSD-3-Clause
"""program.py - a training script with the modules of its own folder that it imports; the programs that a job starts."""
import ast
import os

from source import UNKNOWN, Source, Unreadable, function_around, literal
from words import find_file

MOST_FILES = 200
MOST_PROGRAMS = 20


class Program:
    """The script, and then the modules of its folder that it imports."""

    def __init__(self, path):
        self.main = Source(path)
        self.sources = [self.main]
        self.unreadable = []  # (path, Unreadable) of modules
        self.top = os.path.dirname(os.path.abspath(path))
        self.known = known = {os.path.realpath(path)}
        queue = [self.main]
        while queue and len(self.sources) < MOST_FILES:
            for found in self.imported(queue.pop(0)):
                real = os.path.realpath(found)
                if real in known or len(self.sources) >= MOST_FILES:
                    continue
                known.add(real)
                shown = os.path.normpath(os.path.join(os.path.dirname(path), os.path.relpath(found, self.top)))
                try:
                    source = Source(found)
                except Unreadable as error:
                    self.unreadable.append((shown, error))
                    continue
                source.path = shown
                self.sources.append(source)
                queue.append(source)

    def imported(self, source):
        """The files of the program's folder that one of its files imports."""
        for entry in source.imports:
            folder = self.top
            if entry.level:
                path = os.path.relpath(source.path, os.path.dirname(self.main.path) or ".")
                folder = os.path.dirname(os.path.join(self.top, path))
            yield from entry.files(folder)

    def is_test(self):
        """Whether the script is run by a test runner, which starts it on one machine."""
        return any(entry.module.split(".")[0] in ("pytest", "unittest")
                   for entry in self.main.imports if not entry.level) or \
            any(self.main.dotted(base).endswith("TestCase")
                for node in self.main.nodes(ast.ClassDef) for base in node.bases)

    def calls(self, *names):
        """(source, call) for each call, or for each of these functions, which are given by their whole names."""
        for source in self.sources:
            for call in source.calls:
                if not names or call.name in names:
                    yield source, call

    def calls_to(self, function):
        """The calls of a function of the program's own, as far as its name tells."""
        return [call for _, call in self.calls()
                if call.last == function.name and not call.name.startswith(("torch.", "numpy."))]

    def is_reached(self, stack, is_open, depth=4):
        """Whether a place is reached through open places alone: it, and some call of the function that it is in."""
        function = function_around(stack)
        return is_open(stack) and (function is None or depth > 0 and any(
            self.is_reached(call.stack, is_open, depth - 1) for call in self.calls_to(function)
            if function not in call.stack))

    def settings(self, *names):
        for source in self.sources:
            for setting in source.settings:
                if setting.name in names:
                    yield source, setting

    def imports_any(self, *packages):
        return any(entry.module.split(".")[0] in packages
                   for source in self.sources for entry in source.imports if not entry.level)

    def reads(self, *names):
        return any(name in source.reads for source in self.sources for name in names)

    def says(self, *texts):
        """Whether one of the files contains any of these as a name, an attribute or part of a string."""
        return any(text in source.words or any(text in string for string in source.strings)
                   for source in self.sources for text in texts)

    def values(self, source, node, depth=4):
        """The expressions that a value may come from, followed through names assigned in its file."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "int") and \
                len(node.args) == 1 and isinstance(node.args[0], (ast.Name, ast.Attribute)):
            node = node.args[0]
        name = source.dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if depth == 0 or not name or name not in source.assigned:
            return [node]
        found = []
        for value, _ in source.assigned[name]:
            found.extend([value] if value is node else self.values(source, value, depth - 1))
        return found

    def option(self, source, node):
        """The row of argparse that args.NAME comes from, as Source.options has it, or None."""
        if not isinstance(node, ast.Attribute):
            return None
        return next((other.options[node.attr] for other in [source] + self.sources if node.attr in other.options), None)

    def number(self, source, node, arguments=None):
        """The integer value of an expression with this command line; None where it is not certain."""
        found = set()
        for value in self.values(source, node):
            known = literal(value)
            row = self.option(source, value)
            if row:
                known = self.given(row, arguments)
            if isinstance(known, str) and known.lstrip("-").isdigit():
                known = int(known)
            found.add(known if isinstance(known, int) and not isinstance(known, bool) else None)
        return found.pop() if len(found) == 1 else None

    @staticmethod
    def given(row, arguments):
        """The value of an option on the command line, else its default; None where the command line is not known."""
        names, default, _ = row
        if arguments is None:
            return None
        for position, word in enumerate(arguments):
            name, sign, value = word.partition("=")
            if name in names:
                return value if sign else arguments[position + 1] if position + 1 < len(arguments) else None
            if any(name.replace("_", "-") == known.replace("_", "-") for known in names):
                return None
        value = literal(default)
        return None if value is UNKNOWN else value


class Programs:
    """The programs that a job's commands start, each read once."""

    def __init__(self, folder, report):
        self.folder = folder
        self.report = report
        self.given = None  # the one that the user named
        self.known = {}

    def of(self, launch, job):
        """The program of a launch, or None."""
        if not launch.script:
            return None
        # by its name alone: its folder may be another one in the job
        if self.given and ("$" in launch.script or
                           os.path.basename(launch.script) == os.path.basename(self.given.main.path)):
            return self.given
        path = self.find(launch)
        if path is None:
            job.lose(launch.script, launch.line)
            return None
        return self.read(path)

    def read(self, path):
        """The program of a file, or None."""
        if path not in self.known and len(self.known) < MOST_PROGRAMS:
            self.known[path] = None
            try:
                self.known[path] = Program(path)
            except Unreadable as error:
                self.report.unreadable(path, error)
        return self.known.get(path)

    def find(self, launch):
        """The file of a launch's script, from where the job changed to, from here, and in the job script's folder."""
        name = launch.script
        names = [name]
        if launch.module:
            stem = name.split(" ")[0].replace(".", os.sep)
            names = [stem + ".py", os.path.join(stem, "__main__.py")]
        return find_file(names, (launch.folder, None, self.folder))

    def all(self):
        return [program for program in self.known.values() if program]
