# SPDX-License-Identifier: BSD-3-Clause
"""shell.py - the commands of a shell script, as bash reads them: tests/oracle compares them and their words with shfmt.

Nothing is expanded, and nothing is run. What could not be read is said.
"""
import collections
import re

from quoting import Document, Text, Unended, without

OPERATOR = re.compile(r";;&|;&|;;|&&|\|\||\|&|&(?!>)|[;|)\n]")
RESERVED = re.compile(r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|time(?:[ \t]+-p)?"
                      r"|coproc(?:[ \t]+\w+(?=[ \t]*[{(]))?|[{}!]|\[\[)(?=[\s;&|()<>]|$)|\(")
REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-?|<>|<&|>>|>&|>\||<(?!\()|>(?!\())|(&>>?)")
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*(?:\[[^]\n]*\])?)(\+?)=")
DO = re.compile(r"do(?=\s)")
END_OF_TEST = re.compile(r"\]\](?=[\s;&|)]|$)")
FUNCTION = re.compile(r"\([ \t]*\)")
NAMED = re.compile(r"[ \t]*([^\s(){}]*)[ \t]*(?:\([ \t]*\))?")
DECLARES = ("export", "declare", "local", "readonly", "typeset")
TESTS = ("[", "test")
HEADS = ("for", "select", "case")

# NAME=value or NAME+=value: the value as it is written, or the words of an array.
Assignment = collections.namedtuple("Assignment", "name adds value elements")


class Command:
    """A command without its redirections. `words` have no quotes, `raw` are the same as they are written."""

    def __init__(self, reader, start):
        self.start, self.comments = start, len(reader.comments)
        self.line = reader.line_of(start)
        self.words, self.raw, self.assigned = [], [], []
        self.document = None                # the here-document that it reads
        self.output = None                  # the file that it writes
        self.text = ""                      # without comments
        self.around = tuple(reader.around)  # conditions and loops
        self.test = reader.test             # [ ... ] in the same list of && and ||
        self.function = reader.function     # that it is in
        self.within = reader.depth > 0      # a substitution

    def assigns(self):
        return len(self.assigned) == len(self.words) or self.words[0] in DECLARES

    def runs(self):
        """Whether it starts something: it is no assignment, test or head of a loop."""
        return not self.assigns() and self.words[0] not in TESTS + HEADS and not self.words[0].startswith("[[")


class Reader(Text):
    def __init__(self, text, line=1, depth=0):
        super().__init__(text, line, depth)
        self.around, self.test, self.function = [], "", None
        self.lost = None  # (what was not read, why, line)
        self.has_background = False  # a command that the next one does not wait for

    def lose(self, why, position):
        self.lost = self.lost or ("what follows", why, self.line_of(position))

    def read(self):
        """The commands, up to where the text cannot be read."""
        try:
            self.list_of()
            self.newline()
        except Unended as error:
            self.lose("no %s ends" % error.args[0], error.args[1])
        except RecursionError:
            self.lose("is too deep", self.at)
        return self.commands

    def list_of(self, *ends):
        """Reads commands up to one of the ends, and returns it."""
        start = self.at
        while True:
            self.test = "" if self.starts("\n") else self.test
            self.skip()
            if self.at >= len(self.text):
                if ends:
                    raise Unended(ends[-1], start)
                return ""
            operator = OPERATOR.match(self.text, self.at)
            found = operator or RESERVED.match(self.text, self.at)
            mark = found.group() if found else ""
            if mark in ends:
                self.at = found.end()
                return mark
            if not operator:
                self.command(mark)
                continue
            if mark.startswith((")", ";;", ";&")):
                self.lose("%s has no beginning" % mark, self.at)
            self.at = found.end()
            self.has_background = self.has_background or mark == "&"
            self.test = self.test if mark in ("&&", "||") else ""

    def command(self, mark):
        """Reads a simple or compound command; a compound one's redirections are read next."""
        start = self.at
        self.at += len(mark)
        if mark in ("if", "while", "until") or mark in HEADS:
            self.around.append(mark)
            {"if": self.branches, "case": self.cases}.get(mark, self.loop)(mark)
            self.around.pop()
        elif mark == "{":
            self.list_of("}")
        elif mark == "(":
            self.at = start
            if not self.is_expression(0):
                self.at += 1
                self.list_of(")")
        elif mark == "[[":
            self.condition(start)
        elif mark == "function":
            found = NAMED.match(self.text, self.at)
            self.at = found.end()
            self.body(found.group(1))
        elif not mark:
            self.simple()
        elif mark != "!" and not mark.startswith(("time", "coproc")):
            self.lose("%s has no beginning" % mark, start)

    def branches(self, _):
        end = "elif"
        while end == "elif":
            self.head("then")
            end = self.list_of("elif", "else", "fi")
        if end == "else":
            self.list_of("fi")

    def head(self, end):
        """Reads what is asked, and keeps its text."""
        start = self.at
        self.list_of(end)
        self.around[-1] += self.slice(start)

    def loop(self, mark):
        if mark in HEADS:
            self.around[-1] += self.simple(mark)
        self.head("do")
        self.list_of("done")

    def cases(self, mark):
        self.around[-1] += self.simple(mark)
        end = ""
        while end != "esac":
            self.skip()
            start = self.at
            if re.match(r"esac\b", self.text[start:start + 5]):
                self.at += len("esac")
                return
            self.at += self.starts("(")
            while self.until(")", start):
                self.word(")|")
                self.at += self.starts("|")
            self.at += 1
            end = self.list_of(";;", ";&", ";;&", "esac")

    def body(self, name):
        """Reads a function's body."""
        outer, self.function = self.function, name
        self.skip()
        found = RESERVED.match(self.text, self.at)
        self.command(found.group() if found else "")
        self.function = outer

    def condition(self, start):
        """Reads [[ ... ]], as one word."""
        command = Command(self, start)
        self.skip()
        while not END_OF_TEST.match(self.text, self.at):
            if self.until("=~", start):
                before = self.at
                self.word(" \t\n()")
                self.at += self.at == before
            else:
                self.at += 2
                self.skip()
                self.word(" \t\n")
            self.skip()
        self.at += 2
        command.words = command.raw = [self.slice(start)]
        self.test = self.keep(command)

    def simple(self, head=""):
        """Reads a simple command, or what is between `for` or `case` and its body. Returns its text."""
        self.skip(False)
        command = Command(self, self.at)
        if head:
            command.words, command.raw = [head], [head]
            self.is_expression(0)
        while True:
            self.skip(False)
            letter = self.text[self.at:self.at + 1]
            redirect = REDIRECT.match(self.text, self.at)
            function = len(command.words) == 1 and FUNCTION.match(self.text, self.at)
            if redirect:
                self.redirect(command, redirect)
            elif function:
                self.at = function.end()
                self.body(command.words[0])
                return ""
            elif not letter or letter in "\n;&|)" or head and DO.match(self.text, self.at):
                return self.keep(command)
            elif letter == "(":
                self.lose("( is no word", self.at)
                self.at += 1
            else:
                self.argument(command)
                if head == "case" and command.words[-1] == "in":
                    return self.keep(command)

    def argument(self, command):
        """Reads a word of a command, or an assignment."""
        start = self.at
        found = ASSIGNMENT.match(self.text, start) if command.assigns() else None
        elements = None
        self.at = found.end() if found else start
        if found and self.starts("("):
            self.at += 1
            elements = self.elements(start)
            word = self.slice(start)
        else:
            word = self.text[start:self.at] + self.word()
        command.words.append(word)
        command.raw.append(self.slice(start))
        if found:
            command.assigned.append(Assignment(*found.groups(), self.text[found.end():self.at], elements))

    def elements(self, start):
        """Reads an array's parentheses, and returns its words."""
        words = []
        self.skip()
        while self.until(")", start):
            words.append(self.word(" \t\n)"))
            self.skip()
        self.at += 1
        return words

    def redirect(self, command, found):
        self.at = found.end()
        self.skip(False)
        start, mark = self.at, found.group(1)
        target = self.word()
        if mark in ("<<", "<<-"):
            command.document = Document(mark == "<<-", target, self.slice(start) != target)
            self.documents.append(command.document)
        elif mark in (">", ">|", ">>"):
            command.output = target

    def keep(self, command):
        if not command.words:
            return ""
        comments = [span for span in self.comments[command.comments:] if span[1] <= self.at]
        command.text = without(self.slice(command.start), comments, command.start).replace("\\\n", " ").strip()
        self.commands.append(command)
        if command.words[0] in TESTS:
            self.test = command.text
        return command.text


def unquoted(line):
    """The line without comments and single-quoted text, which the shell does not expand."""
    reader = Reader(line)
    reader.read()
    return without(reader.text, reader.literal + reader.comments)


def split(text):
    """The words of a text, without quotes."""
    reader, words = Reader(text), []
    try:
        reader.skip()
        while reader.at < len(reader.text):
            words.append(reader.word(" \t\n"))
            reader.skip()
    except (Unended, RecursionError):
        words.append(text)
    return words
