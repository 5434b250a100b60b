# SPDX-License-Identifier: BSD-3-Clause
"""mixed.py - lightning.pytorch and pytorch_lightning in one program: two libraries of the same classes.

Looks at the script, its own modules, and the files of installed packages that it names, which are found as
Python finds them, but read as text. `try: import a / except ImportError: import b` counts as what is installed.
"""
import ast
import importlib.machinery
import os
import re
import site
import sys

from source import Source, Unreadable, text_of, within

NEW, OLD = "lightning.pytorch", "pytorch_lightning"
OWN = os.path.dirname(os.__file__) + os.sep
MOST_FILES = 150  # of one import
MOST_OF_ALL = 600

# These are the same in both, or know nothing of Trainer and modules.
HARMLESS = {"rank_zero_only", "rank_zero_info", "rank_zero_warn", "rank_zero_debug", "rank_zero_deprecation",
            "seed_everything", "LightningEnum", "AttributeDict", "__version__", "utilities", "loggers"}
HARMLESS_MODULES = ("utilities", "loggers", "cli", "_graveyard", "core.saving", "profilers")
# Files of these packages are not searched: they mix nothing, and are large.
SKIPPED = {"lightning", "pytorch_lightning", "lightning_fabric", "lightning_utilities", "torch", "torchvision",
           "numpy", "torchmetrics", "transformers", "jax", "tensorflow", "pandas", "scipy", "matplotlib"}


def side(entry):
    """Which of the two libraries an import belongs to. None for parts that have no counterpart to mix with."""
    if entry.level:
        return None
    words = entry.module.split(".")
    if words[0] == OLD:
        found, inner = OLD, words[1:]
    elif words[:2] == ["lightning", "pytorch"] or words == ["lightning"] and entry.item != "fabric":
        found, inner = NEW, words[2:]
    else:
        return None
    return None if entry.item in HARMLESS or ".".join(inner).startswith(HARMLESS_MODULES) else found


class Installed:
    """The folders of packages: those of this Python, and the script's."""

    def __init__(self, program):
        paths = [program.top] + os.environ.get("PYTHONPATH", "").split(os.pathsep) + sys.path
        try:
            paths.append(site.getusersitepackages())
        except (AttributeError, OSError):
            pass
        self.paths = [path for path in paths if path and os.path.isdir(path)]
        self.specs = {}
        self.read = set()  # files of packages that have been searched: the result is the same for every import

    def package(self, name):
        if name not in self.specs:
            try:
                self.specs[name] = importlib.machinery.PathFinder.find_spec(name, self.paths)
            except (ImportError, ValueError, AttributeError, OSError):
                self.specs[name] = None
        return self.specs[name]

    def files(self, dotted):
        """The existing files that `import dotted` would run, packages only."""
        words = dotted.split(".")
        spec = self.package(words[0])
        if not spec or not spec.origin or not spec.origin.endswith(".py"):
            return
        if spec.origin.startswith(OWN) and not re.search(r"/(site|dist)-packages/", spec.origin):
            return  # Python's own library imports no other package
        yield spec.origin
        folder = os.path.dirname(spec.origin)
        for word in words[1:]:
            folder = os.path.join(folder, word)
            for file in (os.path.join(folder, "__init__.py"), folder + ".py"):
                if os.path.isfile(file):
                    yield file


def effective(source, installed):
    """The imports that always take place: none under `if`, for type checkers, or as an alternative."""
    skipped = set()
    for node in source.nodes(ast.Try):
        names = [name for part in node.body for name in imported_names(part)]
        if names and (not installed or all(installed.package(name.split(".")[0]) for name in names)
                      or not any(imported_names(part) for handler in node.handlers for part in handler.body)):
            skipped.update(id(handler) for handler in node.handlers)
        elif names:
            skipped.update(id(part) for part in node.body)
    for entry in source.imports:
        if not within(entry.stack, ast.If) and not any(id(node) in skipped for node in entry.stack):
            yield entry


def imported_names(node):
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            for alias in part.names:
                yield alias.name
        elif isinstance(part, ast.ImportFrom) and not part.level:
            yield part.module


def bases(source, entry):
    """The first class of a file that has an imported class as its base."""
    for node in source.nodes(ast.ClassDef):
        for base in node.bases:
            if source.dotted(base).startswith(entry.module + "."):
                return node.name
    return None


def dependency(first, wanted, installed):
    """(path, line, class) of the first file of an import's whose classes derive from `wanted`."""
    package = first.module.split(".")[0]
    queue = [file for name in (first.module, "%s.%s" % (first.module, first.item)) for file in installed.files(name)]
    most = min(len(installed.read) + MOST_FILES, MOST_OF_ALL)
    while queue and len(installed.read) < most:
        path = queue.pop(0)
        if path in installed.read:
            continue
        installed.read.add(path)
        try:
            source = Source(path)
        except Unreadable:
            continue
        for entry in effective(source, installed):
            name = bases(source, entry) if side(entry) == wanted else None
            if name:
                return path, entry.line, name
            queue.extend(followed(path, entry, package, installed))
    return None


def followed(path, entry, package, installed):
    """Further files of the same package."""
    if entry.level:
        yield from entry.files(os.path.dirname(path))
    elif entry.module.split(".")[0] == package:
        yield from installed.files(entry.module)


def check(program, report):
    installed = Installed(program)
    known = installed if installed.package("lightning") or installed.package(OLD) else None
    seen = {}
    for source in program.sources:
        for entry in effective(source, known):
            found = side(entry)
            if found and found not in seen:
                seen[found] = (source, entry)
    if len(seen) == 2:
        source, entry = seen[OLD]
        other, line = seen[NEW][0].path, seen[NEW][1].line
        text = "%s is imported here, %s in %s:%d" % (OLD, NEW, os.path.basename(other), line)
        report("D401", source.path, entry.line, text, change(source, entry))
    elif len(seen) == 1:
        foreign(program, installed, seen, report)


def change(source, entry):
    """The line as it should be, where that is one line."""
    text = text_of(source.path).split("\n")[entry.line - 1].strip()
    if text == "import " + OLD:
        return "import lightning.pytorch as pytorch_lightning"
    if OLD in text and "(" not in text:
        return text.replace(OLD, NEW)
    return ""


def foreign(program, installed, seen, report):
    (own, (source, entry)), = seen.items()
    wanted = OLD if own == NEW else NEW
    if not installed.package(wanted.split(".")[0]):
        return
    for where in program.sources:
        for other in effective(where, installed):
            package = other.module.split(".")[0]
            if other.level or package in SKIPPED:
                continue
            found = dependency(other, wanted, installed)
            if found and os.path.realpath(found[0]) not in program.known:
                text = "%s:%d imports %s, whose class %s is %s's; %s:%d imports %s" % (
                    os.path.basename(where.path), other.line, other.module, found[2], wanted,
                    os.path.basename(source.path), entry.line, own)
                report("D402", found[0], found[1], text, "")
                return
