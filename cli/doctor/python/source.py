# SPDX-License-Identifier: BSD-3-Clause
"""source.py - one Python file, read as text and parsed: what it imports, sets, reads and calls.

Nothing of it is imported or run. Works with Python 3.6 and later, whose trees differ a little.
"""
import ast
import collections
import os
import re

LARGEST = 2 << 20  # bytes of a file
LONGEST = 1024  # bits of a number

# A value that only a run of the program could tell.
UNKNOWN = object()


class Unreadable(Exception):
    """The file is not there, too large, or not Python that this interpreter can parse.

    `line` is where its syntax is wrong, 0 where that is not known."""

    def __init__(self, reason, line=0):
        super().__init__(reason)
        self.line = line


def bytes_of(path):
    try:
        if os.path.getsize(path) > LARGEST:
            raise Unreadable("larger than %d bytes" % LARGEST)
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__) from None


def text_of(path):
    """The text of a file."""
    return bytes_of(path).decode("utf-8", "replace")


def reason_of(error):
    """Why Python does not take a file, in one line."""
    text = getattr(error, "msg", "") or ""
    if re.search(r"Missing parentheses in call|multiple exception types|leading zeros in decimal", text):
        return "it is Python 2 (%s)" % text.split(".")[0]
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


def short(value):
    """UNKNOWN for a number of more digits than str() writes: it is no rank, size or port."""
    return UNKNOWN if isinstance(value, int) and value.bit_length() > LONGEST else value


def constant(node):
    """The value of a literal, else UNKNOWN."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant(node.operand)
        return -value if isinstance(value, (int, float)) else UNKNOWN
    kind = type(node).__name__
    if kind in ("Constant", "NameConstant"):
        return short(node.value)
    if kind == "Str":
        return node.s
    if kind == "Num":
        return short(node.n)
    return UNKNOWN


def literal(node):
    """As constant(), also through str(...), int(...) and f"..."."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        value = literal(node.args[0])
        if value is not UNKNOWN and node.func.id == "str":
            return str(value)
        if node.func.id == "int" and isinstance(value, (int, str)):
            try:
                return int(value)
            except ValueError:
                return UNKNOWN
    if isinstance(node, ast.JoinedStr):
        parts = [literal(part) for part in node.values]
        return "".join(map(str, parts)) if UNKNOWN not in parts else UNKNOWN
    if isinstance(node, ast.FormattedValue):
        return literal(node.value)
    return constant(node)


class Call:
    """A call, with its function's whole dotted name as far as imports tell it."""

    def __init__(self, name, node, stack):
        self.name = name
        self.last = getattr(node.func, "attr", name.split(".")[-1])  # "cuda" of f(x).cuda()
        self.node = node
        self.line = node.lineno
        self.stack = stack
        self.keywords = {word.arg: word.value for word in node.keywords if word.arg}
        self.open = any(word.arg is None for word in node.keywords) or any(
            isinstance(argument, ast.Starred) for argument in node.args)

    def argument(self, position, *names):
        """The argument at a position or by one of its names, or None."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        if position is not None and position < len(self.node.args):
            return self.node.args[position]
        return None


class Import(collections.namedtuple("Import", "module item level line stack")):
    """One imported name: "pytorch_lightning", or "pytorch_lightning" with item "Trainer"."""

    def files(self, folder):
        """The files that it can mean, from a folder on: the importing file's own where it begins with dots."""
        for _ in range(self.level - 1):
            folder = os.path.dirname(folder)
        words = self.module.split(".") if self.module else []
        for names in (words, words + [self.item] if self.item else words):
            stem = os.path.join(folder, *names)
            for file in (stem + ".py", os.path.join(stem, "__init__.py")):
                if names and os.path.isfile(file):
                    yield file


Setting = collections.namedtuple("Setting", "name value line stack")  # os.environ[name] = value


class Source(ast.NodeVisitor):
    """A parsed file."""

    def __init__(self, path):
        self.path = path
        self.imports = []
        self.calls = []
        self.settings = []
        self.reads = {}  # variable of the environment: the first line
        self.assigned = {}  # name, or "self.x": [(value, function)]
        self.options = {}  # of argparse, click: dest: (option strings, default node, line)
        self.strings = []
        self.words = set()  # names, attributes, keywords
        self.kinds = {}  # class of a node: nodes
        self.around = {}  # what an assigned value is in, by its id()
        self.aliases = {}
        self.stack = []
        try:
            self.visit(ast.parse(bytes_of(path), path))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unreadable(reason_of(error), getattr(error, "lineno", None) or 0) from None

    def nodes(self, kind):
        """The nodes of a class of ast's."""
        return self.kinds.get(kind, [])

    def generic_visit(self, node):
        self.kinds.setdefault(type(node), []).append(node)
        self.stack.append(node)
        super().generic_visit(node)
        self.stack.pop()

    def here(self):
        return tuple(self.stack)

    def dotted(self, node):
        """"torch.distributed.init_process_group" for dist.init_process_group; "" for an expression without a name."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.aliases.get(node.id, node.id))
        return ".".join(reversed(parts))

    def visit_Import(self, node):
        for alias in node.names:
            self.imports.append(Import(alias.name, None, 0, node.lineno, self.here()))
            if alias.asname:
                self.aliases[alias.asname] = alias.name
            else:
                self.aliases[alias.name.split(".")[0]] = alias.name.split(".")[0]

    def visit_ImportFrom(self, node):
        for alias in node.names:
            self.imports.append(Import(node.module or "", alias.name, node.level, node.lineno, self.here()))
            if not node.level:
                self.aliases[alias.asname or alias.name] = "%s.%s" % (node.module, alias.name)

    def variable(self, node):
        """X of os.environ["X"], os.getenv("X") and os.environ.get("X"); UNKNOWN for a name that is computed, else
        None."""
        if isinstance(node, ast.Call) and node.args and self.dotted(node.func) in (
                "os.getenv", "os.environ.get", "os.environ.pop"):
            return constant(node.args[0])
        return self.environment_name(node)

    def environment_name(self, node):
        """X of os.environ["X"], else None."""
        if isinstance(node, ast.Subscript) and self.dotted(node.value) == "os.environ":
            index = node.slice
            if type(index).__name__ == "Index":
                index = index.value
            name = constant(index)
            return name if isinstance(name, str) else None
        return None

    def visit_Subscript(self, node):
        name = self.environment_name(node)
        if name and isinstance(node.ctx, ast.Load):
            self.reads.setdefault(name, node.lineno)
        self.generic_visit(node)

    def assign(self, target, value, line):
        name = self.environment_name(target)
        if name:
            self.settings.append(Setting(name, value, line, self.here()))
        elif isinstance(target, (ast.Name, ast.Attribute)):
            self.assigned.setdefault(self.dotted(target) or "?", []).append((value, function_around(self.stack)))
            self.around[id(value)] = self.here()
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            for position, element in enumerate(target.elts):
                known = len(values) == len(target.elts)
                self.assign(element, values[position] if known else value, line)

    def visit_Assign(self, node):
        for target in node.targets:
            self.assign(target, node.value, node.lineno)
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, node.value, node.lineno)
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.assign(node.target, node, node.lineno)
        self.generic_visit(node)

    def visit_Name(self, node):
        self.words.add(node.id)

    def visit_Attribute(self, node):
        self.words.add(node.attr)
        self.generic_visit(node)

    def visit_keyword(self, node):
        if node.arg:
            self.words.add(node.arg)
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(constant(node), str):
            self.strings.append(constant(node))

    visit_Str = visit_Constant  # of Python 3.7

    def visit_Call(self, node):
        call = Call(self.dotted(node.func), node, self.here())
        self.calls.append(call)
        name = self.variable(node)
        if isinstance(name, str):
            self.reads.setdefault(name, node.lineno)
        elif call.name == "os.environ.update":
            self.update(call)
        elif call.name.endswith(".add_argument"):
            self.option(call)
        self.generic_visit(node)

    def update(self, call):
        for name, value in call.keywords.items():
            self.settings.append(Setting(name, value, call.line, self.here()))
        for argument in call.node.args:
            if isinstance(argument, ast.Dict):
                for key, value in zip(argument.keys, argument.values):
                    if isinstance(constant(key), str):
                        self.settings.append(Setting(constant(key), value, value.lineno, self.here()))

    def option(self, call):
        names = [name for name in map(constant, call.node.args) if isinstance(name, str)]
        longest = [name for name in names if name.startswith("--")] or names
        if not longest:
            return
        given = constant(call.keywords.get("dest"))
        dest = given if isinstance(given, str) else longest[0].lstrip("-").replace("-", "_")
        self.options[dest] = (names, call.keywords.get("default"), call.line)


def within(stack, *kinds):
    return any(isinstance(node, kinds) for node in stack)


def function_around(stack):
    """The innermost function that a place is in, or None."""
    return next((node for node in reversed(stack) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None)


def is_main_guard(node):
    """Whether it is if __name__ == "__main__"."""
    return isinstance(node, ast.If) and any(getattr(part, "id", "") == "__name__" for part in ast.walk(node.test))


def mentions(node, text):
    """Whether an expression contains this text as a literal or a name."""
    return any(text in (constant(part), getattr(part, "id", None), getattr(part, "attr", None))
               for part in ast.walk(node))


def guarded(stack, *texts):
    """Whether an `if` around it tests one of these first, or it is in an exception handler."""
    return any(isinstance(node, ast.ExceptHandler) or isinstance(node, (ast.If, ast.IfExp, ast.While)) and any(
        mentions(node.test, text) for text in texts) for node in stack)
