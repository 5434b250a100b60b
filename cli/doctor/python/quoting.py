# SPDX-License-Identifier: BSD-3-Clause
"""quoting.py - the words of a shell script, as bash reads them: quotes, substitutions, expressions, patterns, comments
and here-documents.
"""
import bisect
import re

BLANKS = re.compile(r"(?:[ \t\r]|\\\n)*")
PLAIN = re.compile(r"[^\s'\"\\$`;&|<>(){}\[\]]+|.", re.S)
PARAMETER = re.compile(r"[#!]?(?:\w+|[-@*#?$!])?(?:\[[^]\n]*\])?([-:+=?]*)")
ANSI = re.compile(r"(?:[^'\\]|\\.)*", re.S)
BACKQUOTED = re.compile(r"(?:[^`\\]|\\.)*", re.S)
LONGEST = 4096  # letters of an expression


class Unended(Exception):
    """(what does not come, where the thing begins that it ends)"""


class Document:
    """A here-document. Its text is known when its last line was read."""

    def __init__(self, indented, end, is_quoted):
        self.indented = indented
        self.end = end
        self.is_quoted = is_quoted
        self.text = ""
        self.line = 0  # of its first line


class Text:
    """A text that is read from its beginning on. shell.Reader adds read() and list_of(), for substitutions."""

    def __init__(self, text, line, depth):
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.first, self.depth = line, depth
        self.commands = []
        self.newlines = [found.start() for found in re.finditer("\n", self.text)]
        self.comments = []           # (start, end)
        self.literal = []            # (start, end) of what is in single quotes
        self.documents = []          # those whose lines have not come yet
        self.no_expressions = set()  # places

    def line_of(self, position):
        return self.first + bisect.bisect_left(self.newlines, position)

    def starts(self, text):
        return self.text.startswith(text, self.at)

    def until(self, end, start):
        """Whether the end has not come."""
        if self.at >= len(self.text):
            raise Unended(end, start)
        return not self.starts(end)

    def slice(self, start):
        return self.text[start:self.at]

    def skip(self, newlines=True):
        """Reads blanks and comments; newlines with the here-documents behind them."""
        while True:
            self.at = BLANKS.match(self.text, self.at).end()
            if self.starts("#"):
                start = self.at
                self.at = self.end_of_line(start)
                self.comments.append((start, self.at))
            elif newlines and self.starts("\n"):
                self.newline()
            else:
                return

    def end_of_line(self, position):
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def newline(self):
        waiting, self.documents = self.documents, []
        begun = self.at
        self.at += 1
        for document in waiting:
            start = end = self.at
            document.line = self.line_of(start)
            line = None
            while line != document.end:
                if self.at >= len(self.text):
                    raise Unended("line " + document.end, begun)
                end, self.at = self.at, self.end_of_line(self.at) + 1
                line = self.text[end:self.at - 1]
                line = line.lstrip("\t") if document.indented else line
            document.text = self.text[start:end]

    def word(self, stop=" \t\n;&|<>()"):
        """Reads a word, and returns it without quotes. A substitution is a part of it, and stays as it is written."""
        start, parts = self.at, []
        while self.at < len(self.text):
            letter = self.text[self.at]
            before = self.text[self.at - 1] if self.at > start else " "
            if letter in "<>" and self.text.startswith("(", self.at + 1):
                parts.append(self.substitution())
            elif letter == "(" and (letter not in stop or before in "?*+@!"):
                parts.append(self.pattern("()", 1))
            elif letter in stop:
                break
            else:
                parts.append(self.piece())
        return "".join(parts)

    def pattern(self, pair, length):
        """Reads (...) of a pattern, or $[...]."""
        start = self.at
        self.at += length
        while self.until(pair[1], start):
            if self.starts(pair[0]):
                self.pattern(pair, 1)
            else:
                self.piece()
        self.at += 1
        return self.slice(start)

    def piece(self, in_text=False):
        """Reads a part of a word: letters, what is in quotes, a substitution. in_text: in double quotes."""
        start, letter, following = self.at, self.text[self.at], self.text[self.at + 1:self.at + 2]
        if letter == "\\":
            self.at += 1 + len(following)
            if following == "\n":
                return ""
            # what is not expanded keeps its mark
            is_plain = following in ("\\", '"') or not in_text and following not in ("", "$", "`")
            return following if is_plain else letter + following
        if letter == "'" and not in_text:
            return self.quoted(self.text.find("'", start + 1))
        if letter == '"':
            parts = []
            self.at += 1
            while self.until('"', start):
                parts.append(self.piece(True))
            self.at += 1
            return "".join(parts)
        if letter == "$":
            return self.dollar(following, in_text)
        if letter == "`":
            return self.backquoted()
        self.at = PLAIN.match(self.text, start).end()
        return self.slice(start)

    def quoted(self, end):
        """What is in single quotes from here to an end."""
        start = self.at
        if not start < end < len(self.text):
            raise Unended("'", start)
        self.at = end + 1
        self.literal.append((start, self.at))
        return self.text[start + 1:end]

    def dollar(self, following, in_text):
        start = self.at
        if following in ("'", '"') and not in_text:
            self.at += 1
            return self.piece() if following == '"' else self.quoted(ANSI.match(self.text, start + 2).end())
        if following == "{":
            return self.parameter(in_text)
        if following == "[":
            return self.pattern("[]", 2)
        if following == "(":
            return self.slice(start) if self.is_expression(1) else self.substitution()
        self.at += 1
        return "$"

    def substitution(self):
        start = self.at
        self.at += 2
        self.depth += 1
        self.list_of(")")
        self.depth -= 1
        return self.slice(start)

    def backquoted(self):
        start = self.at
        found = BACKQUOTED.match(self.text, start + 1)
        self.at = found.end()
        self.until("`", start)
        self.at += 1
        inner = type(self)(re.sub(r"\\([`$\\])", r"\1", found.group()), self.line_of(start), self.depth + 1)
        self.commands += inner.read()
        self.literal += [(start + 1 + begin, start + 1 + end) for begin, end in inner.literal]
        return self.slice(start)

    def parameter(self, in_text):
        """Reads ${...}. In double quotes a single one is a letter, but for where a pattern is expected."""
        start = self.at
        found = PARAMETER.match(self.text, start + 2)
        self.at = found.end()
        is_pattern = not found.group(1) and self.text[self.at:self.at + 1] in tuple("#%/^,")
        while self.until("}", start):
            self.piece(in_text and not is_pattern)
        self.at += 1
        return self.slice(start)

    def is_expression(self, before):
        """Reads ((...)) behind some letters. False, with nothing read, where it is none, but (...) in (...)."""
        start, count, outer, depth = self.at, len(self.commands), self.depth, 0
        if start in self.no_expressions or not self.text.startswith("((", start + before):
            return False
        self.at += before + 2
        try:
            while (depth or not self.starts(")")) and self.at < min(len(self.text), start + LONGEST):
                letter = self.text[self.at]
                depth += (letter == "(") - (letter == ")")
                if letter in "()":
                    self.at += 1
                else:
                    self.piece(True)
        except Unended:
            pass
        if not depth and self.starts("))"):
            self.at += 2
            return True
        self.at, self.depth = start, outer
        self.no_expressions.add(start)
        del self.commands[count:]
        return False


def without(text, spans, offset=0):
    """A text without some of its parts."""
    parts, at = [], 0
    for begin, end in sorted(set(spans)):
        parts.append(text[at:max(begin - offset, at)])
        at = max(end - offset, at)
    return "".join(parts) + text[at:]
